import type { Rpc } from '../src/rpc/rpc.js'

/** A network of one node that answers each request so. */
export function rpcOf(request: Rpc['request']): Rpc {
  const rpc: Rpc = {
    request,
    batch: (requests) => Promise.all(requests.map(request)),
    as: () => rpc,
    secondary: () => undefined,
    markUnreliable: () => undefined,
  }
  return rpc
}
