/** Reads of the chain that a flow needs; each with the form of its parameters. Nothing else is read for a frame. */
const hash = /^0x[0-9a-f]{64}$/i
const address = /^0x[0-9a-f]{40}$/i
const block = /^(latest|pending)$/
const id = /^[\w:.-]{1,300}$/

const forms: Readonly<Record<string, readonly RegExp[]>> = {
  eth_accounts: [],
  eth_chainId: [],
  eth_gasPrice: [],
  eth_getCode: [address, block],
  eth_getTransactionCount: [address, block],
  eth_getTransactionByHash: [hash],
  eth_getTransactionReceipt: [hash],
  wallet_getCallsStatus: [id],
}

/** A read with its parameters written anew; undefined for everything else. */
export function readRead(method: unknown, given: unknown): { method: string; params: readonly unknown[] } | undefined {
  if (typeof method !== 'string') return undefined
  const params: readonly unknown[] = Array.isArray(given) ? given : []
  const [first, second] = params
  if (method === 'eth_call') {
    const { to, data } = (first ?? {}) as { to?: unknown; data?: unknown }
    const isForm = is(address, to) && is(/^0x([0-9a-f]{2}){4,20000}$/i, data) && second === 'latest'
    return isForm ? { method, params: [{ to, data }, 'latest'] } : undefined
  }
  if (method === 'eth_getBlockByNumber') return second === false ? { method, params: ['latest', false] } : undefined
  if (method === 'wallet_getCapabilities') {
    const [chain] = Array.isArray(second) ? second : []
    return is(address, first) && is(/^0x[0-9a-f]{1,16}$/, chain) ? { method, params: [first, [chain]] } : undefined
  }
  const form = Object.hasOwn(forms, method) ? forms[method] : undefined
  if (!form || params.length < form.length || !form.every((each, at) => is(each, params[at]))) return undefined
  return { method, params: params.slice(0, form.length) }
}

const is = (form: RegExp, value: unknown): boolean => typeof value === 'string' && form.test(value)
