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
export type Rpc = {
  request(request: RpcRequest): Promise<unknown>
  /** Results in the order of the requests, from one node, in one call where it allows that. Fails as a whole. */
  batch(requests: readonly RpcRequest[]): Promise<unknown[]>
}

/**
 * JSON-RPC over HTTP. Urls are tried in turn: a url that fails is passed over for the next one; the error of the last
 * is thrown when none answers. A node's own refusal (RpcError) is an answer and is not tried elsewhere.
 */
export function createRpc(outbound: Outbound, urls: readonly string[]): Rpc {
  let preferred = 0
  let nextId = 1
  const post = (url: string, body: unknown): Promise<string> =>
    outbound.fetchText({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      retries: urls.length > 1 ? 0 : 2,
    })
  const envelope = ({ method, params }: RpcRequest) => ({ jsonrpc: '2.0', id: nextId++, method, params: params ?? [] })
  const callOne = async (url: string, request: RpcRequest): Promise<unknown> => {
    const body = envelope(request)
    return readAnswer(parseJson(await post(url, body), url), body.id, url)
  }
  const unbatched = new Set<string>()
  const callMany = async (url: string, requests: readonly RpcRequest[]): Promise<unknown[]> => {
    if (unbatched.has(url) || requests.length === 1)
      return Promise.all(requests.map((request) => callOne(url, request)))
    const bodies = requests.map(envelope)
    const answers = parseJson(await post(url, bodies), url)
    if (!Array.isArray(answers)) {
      unbatched.add(url)
      return callMany(url, requests)
    }
    const byId = new Map(answers.map((answer: unknown) => [readId(answer), answer]))
    return bodies.map(({ id }) => readAnswer(byId.get(id), id, url))
  }
  const onSomeUrl = async <T>(call: (url: string) => Promise<T>): Promise<T> => {
    let last: unknown = new OutboundError('network', 'the chain has no RPC url')
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (preferred + turn) % urls.length
      const url = urls[index]
      if (url === undefined) break
      try {
        const result = await call(url)
        preferred = index
        return result
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        last = error
      }
    }
    throw last
  }
  return {
    request: (request) => onSomeUrl((url) => callOne(url, request)),
    batch: (requests) => (requests.length === 0 ? Promise.resolve([]) : onSomeUrl((url) => callMany(url, requests))),
  }
}

function readId(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
}

function readAnswer(value: unknown, id: number, url: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OutboundError('malformed', `${new URL(url).host} did not answer a JSON object`)
  const answer = value as Record<string, unknown>
  if (answer.id !== id) throw new OutboundError('malformed', `${new URL(url).host} answered another request`)
  const { error } = answer
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as Record<string, unknown>
    throw new RpcError(typeof code === 'number' ? code : -32603, String(message ?? 'unknown RPC error'), data)
  }
  if (!('result' in answer)) throw new OutboundError('malformed', `${new URL(url).host} answered without a result`)
  return answer.result
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new OutboundError('malformed', `${new URL(url).host} did not answer JSON`, undefined, { cause: error })
  }
}
