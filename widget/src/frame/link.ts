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
  return new Promise((resolve) => {
    const hear = ({ source, origin, data, ports }: MessageEvent<unknown>) => {
      if (source !== parent) return
      const said = (data ?? {}) as { openearn?: unknown; nonce?: unknown; settings?: Link['settings'] }
      if (said.openearn === 'nonce') parent.postMessage({ openearn: 'nonce', nonce: said.nonce }, origin)
      const [port] = ports
      if (said.openearn !== 'port' || !port || !said.settings) return
      removeEventListener('message', hear)
      resolve(use(port, said.settings))
    }
    addEventListener('message', hear)
    // It tells nothing, so any page around this one may hear it.
    parent.postMessage({ openearn: 'hello' }, '*')
  })
}

function use(port: MessagePort, settings: Link['settings']): Link {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const listeners: ((account: `0x${string}` | undefined) => void)[] = []
  let account: `0x${string}` | undefined
  let last = 0
  port.onmessage = ({ data }: MessageEvent<Answer>) => {
    const { id, result, error, accounts } = data
    if (Array.isArray(accounts)) {
      account = accounts[0]
      for (const listener of listeners) listener(account)
    }
    const asked = id === undefined ? undefined : waiting.get(id)
    if (id === undefined || !asked) return
    waiting.delete(id)
    if (error) asked.reject(Object.assign(new Error(error.message), { code: error.code }))
    else asked.resolve(result)
  }
  const send = (message: object) =>
    new Promise<unknown>((resolve, reject) => {
      last++
      waiting.set(last, { resolve, reject })
      port.postMessage({ id: last, ...message })
    })
  const provider: Provider = {
    request: async (call) => {
      const { method, params } = call as { method: string; params?: readonly unknown[] }
      return send({ method, params: JSON.parse(JSON.stringify(params ?? [])) })
    },
    handOn: (handed: Handed) => send({ handed: JSON.parse(JSON.stringify(handed)) }),
  }
  return {
    ...{ settings, provider },
    connect: () => {
      const told = (accounts: unknown) => port.dispatchEvent(new MessageEvent('message', { data: { accounts } }))
      send({ method: 'eth_requestAccounts' }).then(told, () => undefined)
    },
    onAccount: (listener) => {
      listeners.push(listener)
      listener(account)
    },
    tell: (message) => port.postMessage(message),
  }
}
