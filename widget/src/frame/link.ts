import type { Trust } from '@openearn/sdk'
import type { Handed, Provider } from '@openearn/sdk/wallet'
import type { HostSettings } from '../host/options.js'

/** The wallet of the page around this one, and what that page set. */
export type Link = {
  settings: HostSettings & { url: string; trust: Trust }
  provider: Provider
  connect(): void
  /** Calls the listener with the first account, now and whenever it is another one. */
  onAccount(listener: (account: `0x${string}` | undefined) => void): void
  tell(message: { height: number } | { event: object }): void
}

type Answer = { id?: number; result?: unknown; error?: { code: number; message: string }; accounts?: unknown }

/** Waits until the page around this one let it in. The browser shows this page within the origins of its key alone. */
export function openLink(): Promise<Link> {
  const { parent } = window
  let wire: Wire | undefined
  return new Promise((resolve) => {
    addEventListener('message', ({ source, origin, data, ports }: MessageEvent<unknown>) => {
      if (source !== parent) return
      const { openearn, nonce, settings } = (data ?? {}) as { openearn?: unknown; nonce?: unknown; settings?: Settings }
      if (openearn === 'nonce' || openearn === 'here') parent.postMessage({ openearn, nonce }, origin)
      const [port] = ports
      if (openearn !== 'port' || !port || !settings) return
      // The page around this one may open the frame again.
      if (wire) return wire.use(port)
      wire = openWire(settings)
      wire.use(port)
      resolve(wire.link)
    })
    // It tells nothing, so any page around this one may hear it.
    parent.postMessage({ openearn: 'hello' }, '*')
  })
}

type Settings = Link['settings']
type Wire = { link: Link; use(port: MessagePort): void }

/** Asks the page around this one, by the port that it gave last. */
function openWire(settings: Settings): Wire {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const listeners: ((account: `0x${string}` | undefined) => void)[] = []
  let port: MessagePort | undefined
  let account: `0x${string}` | undefined
  let last = 0
  const hear = ({ id, result, error, accounts }: Answer) => {
    if (Array.isArray(accounts)) {
      account = accounts[0]
      for (const listener of listeners) listener(account)
    }
    const asked = id === undefined ? undefined : waiting.get(id)
    if (id === undefined || !asked) return
    waiting.delete(id)
    if (error) asked.reject(failure(error.code, error.message))
    else asked.resolve(result)
  }
  const use = (next: MessagePort) => {
    for (const { reject } of waiting.values()) reject(failure(4900, 'the page opened its frame again'))
    waiting.clear()
    port = next
    port.onmessage = ({ data }: MessageEvent<Answer>) => hear(data)
  }
  const send = (message: object) =>
    new Promise<unknown>((resolve, reject) => {
      last++
      waiting.set(last, { resolve, reject })
      port?.postMessage({ id: last, ...message })
    })
  const provider: Provider = {
    request: async (call) => {
      const { method, params } = call as { method: string; params?: readonly unknown[] }
      return send({ method, params: JSON.parse(JSON.stringify(params ?? [])) })
    },
    handOn: (handed: Handed) => send({ handed: JSON.parse(JSON.stringify(handed)) }),
  }
  const link: Link = {
    ...{ settings, provider },
    connect: () => {
      send({ method: 'eth_requestAccounts' }).then(
        (accounts) => hear({ accounts }),
        () => undefined,
      )
    },
    onAccount: (listener) => {
      listeners.push(listener)
      listener(account)
    },
    tell: (message) => port?.postMessage(message),
  }
  return { link, use }
}

const failure = (code: number, message: string) => Object.assign(new Error(message), { code })
