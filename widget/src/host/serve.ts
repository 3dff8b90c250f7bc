import type { Trust } from '@openearn/sdk'
import type { Handed } from '@openearn/sdk/wallet'
import { type HostOptions, urlOf } from './options.js'
import { readRead } from './reads.js'

type Serving = HostOptions & {
  frame: HTMLIFrameElement
  isThere(): boolean
  /** Comes to its end once the page that was let in answers from the frame; never where it left. */
  look(): Promise<void>
}

/** Wallets that tell of changes. */
type Telling = {
  on?(name: string, listener: (value: unknown) => void): void
  removeListener?(name: string, listener: (value: unknown) => void): void
}

const refusal = (code: number, message: string) => Object.assign(new Error(message), { code })

/** Most reads of a frame that are under way, and the longest request in characters. */
const readsMax = 64
const lengthMax = 300_000
const heightMax = 20_000

/** Serves a frame by one end of the channel, until the channel is closed. */
export function serve(port: MessagePort, options: Serving): { port: MessagePort; close(): void } {
  const { provider, onEvent, frame } = options
  const telling = provider as Telling
  let isOpen = true
  let reads = 0
  let isAsking = false
  const places = new Set<string>()
  const close = () => {
    isOpen = false
    telling.removeListener?.('accountsChanged', tell)
    port.close()
  }
  const send = (message: object) => {
    if (isOpen) port.postMessage(message)
  }
  const tell = (accounts: unknown) => send({ accounts: listAccounts(accounts) })
  const request = (method: string, params: readonly unknown[] = []) => provider.request({ method, params } as never)

  const wanted = async (handed: unknown): Promise<unknown> => {
    if (isAsking) throw refusal(-32_002, 'the wallet is asked for something else of this frame')
    isAsking = true
    try {
      if (JSON.stringify(handed).length > lengthMax) throw refusal(4100, 'the request is too long')
      const { askFor } = await import('@openearn/sdk/wallet')
      const { trust, distributorId, vaults, review, slippageBpsMax = 100 } = options
      const mayAsk = { request: guard }
      // No url and no key: a fact that the file of trust lacks is asked of nobody.
      const world = { earn: { baseUrl: '', trust }, provider: mayAsk }
      const limits = { distributorId, vaults, review, slippageBpsMax, places, url: urlOf(options) }
      return await askFor(world, limits, handed as Handed)
    } finally {
      isAsking = false
    }
  }
  /** A frame that went away in the middle of the checks gets nothing of it. */
  const guard = async (call: never): Promise<unknown> => {
    if (/send|sign/i.test((call as { method: string }).method)) await options.look()
    if (isOpen && options.isThere()) return provider.request(call)
    throw refusal(4900, 'the frame shows another page')
  }
  const answer = async ({ method, params, handed }: Asked): Promise<unknown> => {
    if (handed !== undefined) return wanted(handed)
    if (method === 'eth_requestAccounts') {
      if (!options.onConnect) return listAccounts(await request(method))
      options.onConnect()
      return listAccounts(await request('eth_accounts'))
    }
    if (method === 'wallet_switchEthereumChain') return request(method, [knownChain(options.trust, params)])
    const read = readRead(method, params)
    if (!read) throw refusal(4200, `${String(method).slice(0, 60)} is not handed on to the wallet`)
    if (reads >= readsMax) throw refusal(-32_005, 'too many reads are under way')
    reads++
    try {
      return await request(read.method, read.params)
    } finally {
      reads--
    }
  }
  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!options.isThere()) return close()
    const said = (data ?? {}) as Asked & { id?: unknown; height?: unknown; event?: unknown }
    if (typeof said.height === 'number') return grow(options, frame, said.height)
    if (said.event !== undefined) return onEvent?.(readEvent(said.event))
    const { id } = said
    if (typeof id !== 'number') return
    answer(said).then(
      (result) => send({ id, result: result ?? null }),
      (error: unknown) => {
        const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
        send({ id, error: { code: typeof code === 'number' ? code : 4100, message: String(message).slice(0, 500) } })
      },
    )
  }
  telling.on?.('accountsChanged', tell)
  request('eth_accounts').then(tell, () => tell([]))
  return { port, close }
}

type Asked = { method?: unknown; params?: unknown; handed?: unknown }

const listAccounts = (accounts: unknown): string[] =>
  Array.isArray(accounts) ? accounts.filter((each) => typeof each === 'string' && /^0x[0-9a-f]{40}$/i.test(each)) : []

/** A switch to a chain of the file of trust, of which the wallet is told its number alone. */
function knownChain(trust: Trust, params: unknown): { chainId: string } {
  const [first] = Array.isArray(params) ? params : []
  const { chainId } = (first ?? {}) as { chainId?: unknown }
  const known = trust.chains.find((chain) => `0x${chain.chainId.toString(16)}` === chainId)
  if (!known || typeof chainId !== 'string') throw refusal(4902, 'the chain is not in the file of trust of this page')
  return { chainId }
}

function grow({ onHeight }: HostOptions, frame: HTMLIFrameElement, height: number): void {
  if (!(height >= 0 && height <= heightMax)) return
  if (onHeight) onHeight(height)
  else frame.style.height = `${Math.ceil(height)}px`
}

function readEvent(event: unknown) {
  const { kind, status, txHash } = (event ?? {}) as Record<string, unknown>
  const hash = typeof txHash === 'string' && /^0x[0-9a-f]{64}$/i.test(txHash) ? { txHash } : {}
  return { kind: String(kind).slice(0, 40), status: String(status).slice(0, 40), ...hash }
}
