import { type Outbound, OutboundError } from '../kernel/outbound.js'

/** A JSON-RPC error object a node answered with: the node works, the call was refused. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message)
  }
}

export type RpcRequest = { method: string; params?: unknown }

/** JSON-RPC to one chain over several urls. */
export type Rpc = { request(request: RpcRequest): Promise<unknown> }

/**
 * JSON-RPC over HTTP. Urls are tried in turn: a url that fails is passed over for the next one; the error of the last
 * is thrown when none answers. A node's own refusal (RpcError) is an answer and is not tried elsewhere.
 */
export function createRpc(outbound: Outbound, urls: readonly string[]): Rpc {
  let preferred = 0
  let nextId = 1
  const call = async (url: string, { method, params }: RpcRequest): Promise<unknown> => {
    const id = nextId++
    const text = await outbound.fetchText({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: params ?? [] }),
      retries: urls.length > 1 ? 0 : 2,
    })
    return parseAnswer(text, id, url)
  }
  return {
    request: async (request) => {
      let last: unknown = new OutboundError('network', 'the chain has no RPC url')
      for (let turn = 0; turn < urls.length; turn++) {
        const index = (preferred + turn) % urls.length
        const url = urls[index]
        if (url === undefined) break
        try {
          const result = await call(url, request)
          preferred = index
          return result
        } catch (error) {
          if (!(error instanceof OutboundError)) throw error
          last = error
        }
      }
      throw last
    },
  }
}

function parseAnswer(text: string, id: number, url: string): unknown {
  const answer = parseObject(text, url)
  if (answer.id !== id) throw new OutboundError('malformed', `${new URL(url).host} answered another request`)
  const { error } = answer
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as Record<string, unknown>
    throw new RpcError(typeof code === 'number' ? code : -32603, String(message ?? 'unknown RPC error'), data)
  }
  if (!('result' in answer)) throw new OutboundError('malformed', `${new URL(url).host} answered without a result`)
  return answer.result
}

function parseObject(text: string, url: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new OutboundError('malformed', `${new URL(url).host} did not answer JSON`, undefined, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OutboundError('malformed', `${new URL(url).host} did not answer a JSON object`)
  return value as Record<string, unknown>
}
