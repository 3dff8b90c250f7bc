import { type Circuit, createCircuit } from '../kernel/circuit.js'
import { type Clock, systemClock } from '../kernel/clock.js'
import { type Outbound, OutboundError } from '../kernel/outbound.js'
import { readGasDefault } from './gasCaps.js'
import { createRoom, type Room, type RoomSize } from './room.js'
import { answers } from './wire.js'

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
  /** The same urls, their calls counted for a job. */
  as(job: string): Rpc
  /** All urls but the one that answered last, for a second opinion; undefined when there is no other that is trusted. */
  secondary(): Rpc | undefined
  /** The last url contradicted itself: it is used again only if no other responds. */
  markUnreliable(): void
}

/** Told of every call, for counting: `ok`, `refused` by the node itself, or `failed` on the way. */
export type RpcObserver = (call: {
  chainId: number
  method: string
  outcome: 'ok' | 'refused' | 'failed'
  /** The caller: a job's name, `watch`, or `api`. */
  job: string
}) => void

export type RpcOptions = {
  /** Refuse a url that serves another chain; asked before its first use, every minute, and after it failed or was left. */
  chainId?: number
  clock?: Pick<Clock, 'monotonicMs'>
  onCall?: RpcObserver
  /** The most one url is waited for, tries included, in milliseconds. Default: as long as its tries take. */
  deadlineMs?: number
  /** The longest answer that is read. Default: that of every way out. */
  maxBytes?: number
  /** How many HTTP calls of one url may be under way, and so how many connections. Default: any number. */
  room?: RoomSize
  /** Most gas of an `eth_call` that names none. */
  readGas?: number
  /** Callers of ours choose what calls run: that code is slow says nothing against a node. */
  runsForOthers?: boolean
  /** The caller, unless `as` names another. Default `api`. */
  job?: string
}

/** How a url has behaved. */
type UrlHealth = {
  circuit: Circuit
  room: Room
  benchedUntilMs: number
  /** A response does not end this: the url responds in time, but wrongly. */
  unreliableUntilMs: number
  checkedMs: number | undefined
}

const bench = { firstMs: 1_000, longestMs: 60_000, wrongChainMs: 600_000, unreliableMs: 300_000 }
const chainCheckMs = 60_000

/** Methods that run code of contracts, for as long as it takes. */
const runsCode = new Set(['eth_call', 'eth_estimateGas', 'eth_simulateV1'])

/**
 * JSON-RPC over HTTP. A url that fails is benched, longer each time, and the next url is called at once. If all are benched,
 * the one whose time ends first is tried, except urls that failed 5 times in a row within the last 5 s. If no url responds,
 * the last error is thrown. A refusal by the node itself (RpcError) is a response and is not tried elsewhere.
 *
 * Each call of this function has its own benches, circuits and rooms, so that one purpose cannot affect another.
 */
export function createRpc(outbound: Outbound, urls: readonly string[], options: RpcOptions = {}): Rpc {
  const clock = options.clock ?? systemClock
  const health = new Map<string, UrlHealth>(
    urls.map((url) => {
      const circuit = createCircuit(new URL(url).host, clock)
      const room = createRoom(options.room ?? { inFlight: Number.POSITIVE_INFINITY })
      return [url, { circuit, room, benchedUntilMs: 0, unreliableUntilMs: 0, checkedMs: undefined }]
    }),
  )
  const { callOne, callMany } = createCalls(outbound, urls, { ...options, roomOf: (url) => health.get(url)?.room })
  const assertChain = async (url: string, state: UrlHealth): Promise<void> => {
    const now = clock.monotonicMs()
    if (options.chainId === undefined || (state.checkedMs !== undefined && now - state.checkedMs < chainCheckMs)) return
    const found = Number(answers.quantity.find(await callOne(url, { method: 'eth_chainId' })) ?? Number.NaN)
    if (found !== options.chainId) {
      state.benchedUntilMs = now + bench.wrongChainMs
      throw new WrongChain(`${new URL(url).host} serves chain ${found}, not ${options.chainId}: correct the url`)
    }
    state.checkedMs = now
  }
  /** Slowness of code the caller chose is the caller's doing. */
  const isForgiven = (methods: readonly string[], error: OutboundError): boolean =>
    options.runsForOthers === true && error.kind === 'timeout' && methods.some((method) => runsCode.has(method))
  const onSomeUrl = async <T>(
    asked: { methods: readonly string[]; job: string; avoid: string | undefined; onAnswer: (url: string) => void },
    call: (url: string) => Promise<T>,
  ): Promise<T> => {
    const { methods, job, avoid, onAnswer } = asked
    const count = (outcome: 'ok' | 'refused' | 'failed') => {
      for (const method of methods) options.onCall?.({ chainId: options.chainId ?? 0, method, outcome, job })
    }
    let last: unknown
    const now = clock.monotonicMs()
    const waits = ([, state]: [string, UrlHealth]) =>
      Math.max(0, state.benchedUntilMs - now, state.unreliableUntilMs - now)
    const candidates = [...health].filter(([url]) => url !== avoid).sort((a, b) => waits(a) - waits(b))
    for (const [url, state] of candidates) {
      const refusal = state.circuit.findRefusal()
      if (refusal) {
        last = refusal
        continue
      }
      let isChecked = false
      try {
        await assertChain(url, state)
        isChecked = true
        const result = await call(url)
        state.circuit.onAnswer()
        state.benchedUntilMs = 0
        onAnswer(url)
        count('ok')
        return result
      } catch (error) {
        if (error instanceof RpcError) {
          state.circuit.onAnswer()
          onAnswer(url)
          count('refused')
          throw error
        }
        if (!(error instanceof OutboundError)) throw error
        last = error
        if (error.kind === 'busy') continue
        count('failed')
        if (error instanceof WrongChain) continue
        // The next url is tried first for a moment, whether or not this one is to blame.
        if (!(isChecked && isForgiven(methods, error))) {
          state.circuit.onFailure()
          if (error.kind !== 'rate-limited') state.checkedMs = undefined
        }
        const backoff = Math.min(bench.firstMs * 2 ** Math.max(0, state.circuit.failures() - 1), bench.longestMs)
        state.benchedUntilMs = clock.monotonicMs() + Math.max(backoff, error.retryAfterMs ?? 0)
      }
    }
    throw last ?? new OutboundError('network', 'the chain has no http or https RPC url')
  }
  const open = (job: string, avoid?: string): Rpc => {
    let lastUrl = avoid
    const onAnswer = (url: string) => {
      if (avoid === undefined) lastUrl = url
    }
    return {
      request: (request) =>
        onSomeUrl({ methods: [request.method], job, avoid, onAnswer }, (url) => callOne(url, request)),
      batch: async (requests) => {
        if (requests.length === 0) return []
        const methods = requests.map(({ method }) => method)
        return onSomeUrl({ methods, job, avoid, onAnswer }, (url) => callMany(url, requests))
      },
      as: (name) => open(name, avoid),
      secondary: () => {
        const isOther = ([url, state]: [string, UrlHealth]) =>
          url !== lastUrl && state.unreliableUntilMs <= clock.monotonicMs()
        return [...health].some(isOther) ? open(job, lastUrl) : undefined
      },
      markUnreliable: () => {
        const state = lastUrl === undefined ? undefined : health.get(lastUrl)
        if (!state) return
        state.unreliableUntilMs = clock.monotonicMs() + bench.unreliableMs
        state.checkedMs = undefined
      },
    }
  }
  return open(options.job ?? 'api')
}

/** Calls of single urls over HTTP, each within the room of its url; where a node takes no batch, one by one. */
function createCalls(
  outbound: Outbound,
  urls: readonly string[],
  options: RpcOptions & { roomOf: (url: string) => Room | undefined },
) {
  const readGas = `0x${(options.readGas ?? readGasDefault).toString(16)}`
  let nextId = 1
  const post = (url: string, body: unknown): Promise<string> => {
    const send = () =>
      outbound.fetchText({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        retries: urls.length > 1 ? 0 : 2,
        ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
        ...(options.deadlineMs === undefined ? {} : { signal: AbortSignal.timeout(options.deadlineMs) }),
      })
    const refuse = () => new OutboundError('busy', `too many calls of ${new URL(url).host} are under way`, 1_000)
    return options.roomOf(url)?.run(send, refuse) ?? send()
  }
  const envelope = (request: RpcRequest) => {
    const { method, params = [] } = request
    return { jsonrpc: '2.0', id: nextId++, method, params: method === 'eth_call' ? capGas(params, readGas) : params }
  }
  const callOne = async (url: string, request: RpcRequest): Promise<unknown> => {
    const body = envelope(request)
    return readResult(parseJson(await post(url, body), url), body.id, url)
  }
  const unbatched = new Set<string>()
  const callMany = async (url: string, requests: readonly RpcRequest[]): Promise<unknown[]> => {
    if (unbatched.has(url) || requests.length === 1)
      return Promise.all(requests.map((request) => callOne(url, request)))
    const bodies = requests.map(envelope)
    const oneByOne = async () => {
      const results = await Promise.all(requests.map((request) => callOne(url, request)))
      unbatched.add(url)
      return results
    }
    let text: string
    try {
      text = await post(url, bodies)
    } catch (error) {
      // Some refuse a batch by status alone (400, 403, 413).
      if (error instanceof OutboundError && error.kind === 'client') return oneByOne()
      throw error
    }
    const replies = parseJson(text, url)
    if (!Array.isArray(replies)) {
      assertNotTooOften(replies, url)
      return oneByOne()
    }
    const byId = new Map(replies.map((reply: unknown) => [answers.reply.find(reply)?.id, reply]))
    return bodies.map(({ id }) => readResult(byId.get(id), id, url))
  }
  return { callOne, callMany }
}

/** The parameters of an `eth_call` with the most gas it may use, where they do not say. */
function capGas(params: unknown, gas: string): unknown {
  if (!Array.isArray(params)) return params
  const [call, ...rest]: unknown[] = params
  return typeof call === 'object' && call !== null && !('gas' in call) ? [{ ...call, gas }, ...rest] : params
}

/** No url that responds serves the chain it is listed for. */
export class WrongChain extends OutboundError {
  constructor(message: string) {
    super('client', message)
  }
}

const tooOften = /rate.?limit|request rate|request count|too many requests|per second/i

/** Asked too often is not a refusal of the question: nodes that say it in JSON, in various words, are left for a while. */
function assertNotTooOften(answer: unknown, url: string): void {
  const { code, message } = answers.refusal.find(answers.reply.find(answer)?.error) ?? {}
  // A contract may revert with such words too: that is an answer.
  const isSaid = typeof message === 'string' && tooOften.test(message) && !/revert/i.test(message)
  if (code === 429 || isSaid) throw new OutboundError('rate-limited', `${new URL(url).host} is asked too often`)
}

function readResult(value: unknown, id: number, url: string): unknown {
  const reply = answers.reply.find(value)
  if (!reply) throw new OutboundError('malformed', `${new URL(url).host} did not answer a JSON object`)
  assertNotTooOften(reply, url)
  const refusal = answers.refusal.find(reply.error)
  // A request that could not be read is refused without its id.
  if (reply.id !== id && !(reply.id === null && refusal))
    throw new OutboundError('malformed', `${new URL(url).host} answered another request`)
  if (refusal) {
    const { code, message, data } = refusal
    throw new RpcError(typeof code === 'number' ? code : -32603, String(message ?? 'unknown RPC error'), data)
  }
  if (!('result' in reply)) throw new OutboundError('malformed', `${new URL(url).host} answered without a result`)
  return reply.result
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new OutboundError('malformed', `${new URL(url).host} did not answer JSON`, undefined, { cause: error })
  }
}
