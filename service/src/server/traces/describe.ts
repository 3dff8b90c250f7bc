import type { OutboundRequest } from '../../kernel/outbound.js'

/** A call to another system, by its host alone: paths and queries of nodes and providers hold keys. */
export function describeCall({ url, body, method = 'GET' }: OutboundRequest) {
  const { host } = new URL(url)
  // Of a node: the method of the only call, or of the first of several.
  const rpc = body?.slice(0, 1_000)
  const [, called] = /"method":"(\w{1,50})"/.exec(rpc ?? '') ?? []
  const attributes = { 'server.address': host, 'http.request.method': method }
  return called === undefined
    ? { name: `provider ${method}`, attributes }
    : { name: `node ${called}`, attributes: { ...attributes, 'rpc.system': 'jsonrpc', 'rpc.method': called } }
}
