import { type HostOptions, urlOf } from './options.js'
import { serve } from './serve.js'

export type OpenFrame = { close(): void }

const open = new WeakMap<HTMLIFrameElement, OpenFrame>()

const newNonce = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-')

/**
 * Lets the page of a service in a frame use the wallet of this page. One channel is open at a time: it is closed when the frame
 * shows another page, and when the frame is opened again.
 * @throws TypeError if the frame has no page of its own, or there is no file of trust.
 */
export function openFrame(frame: HTMLIFrameElement, options: HostOptions): OpenFrame {
  if (!URL.canParse(frame.src)) throw new TypeError('give the frame its page (src) first')
  if (!options.trust?.chains)
    throw new TypeError('give the file of trust: nothing is compared with a word of the service')
  const { origin } = new URL(frame.src)
  if (!/^https?:/.test(origin) || origin === location.origin)
    throw new TypeError('the frame is of another origin than this page')
  open.get(frame)?.close()
  let channel: { port: MessagePort; close(): void } | undefined
  let nonce: string | undefined
  let looked: { nonce: string; found(): void } | undefined
  const shut = () => {
    channel?.close()
    channel = undefined
    nonce = undefined
    looked = undefined
  }
  /** Its window may have another page by now: only a page of the origin can read the nonce, and send it back. */
  const greet = () => {
    shut()
    nonce = newNonce()
    frame.contentWindow?.postMessage({ openearn: 'nonce', nonce }, origin)
  }
  /** A page that left the frame may have given its end of the channel to another window: who is in the frame now says so. */
  const look = () =>
    new Promise<void>((found) => {
      looked = { nonce: newNonce(), found }
      frame.contentWindow?.postMessage({ openearn: 'here', nonce: looked.nonce }, origin)
    })
  const hear = (event: MessageEvent<unknown>) => {
    if (event.source === null || event.source !== frame.contentWindow) return
    if (event.origin !== origin) return shut()
    const said = (event.data ?? {}) as { openearn?: unknown; nonce?: unknown }
    if (said.openearn === 'here' && looked?.nonce === said.nonce) return looked?.found()
    if (said.openearn === 'hello') return greet()
    if (said.openearn !== 'nonce' || nonce === undefined || said.nonce !== nonce) return
    // Each nonce is good for one channel.
    nonce = undefined
    const { port1, port2 } = new MessageChannel()
    const isThere = () => frame.isConnected && frame.contentWindow === event.source
    channel = serve(port1, { ...options, frame, isThere, look })
    frame.contentWindow?.postMessage({ openearn: 'port', settings: settingsOf(options) }, origin, [port2])
  }
  addEventListener('message', hear)
  frame.addEventListener('load', greet)
  greet()
  const opened = {
    close: () => {
      shut()
      removeEventListener('message', hear)
      frame.removeEventListener('load', greet)
      if (open.get(frame) === opened) open.delete(frame)
    },
  }
  open.set(frame, opened)
  return opened
}

/** Members by their names: nothing else of the options leaves this page. */
function settingsOf(options: HostOptions) {
  const { trust, distributorId, vaults, theme, dir, locale, texts } = options
  return { trust, distributorId, vaults, theme, dir, locale, texts, url: urlOf(options) }
}
