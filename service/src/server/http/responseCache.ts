import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AuthenticatedKey } from '../../features/auth/index.js'
import type { Charge } from '../../features/limits/index.js'
import type { AnswerCache } from '../../kernel/answerCache.js'
import { newId } from '../../kernel/ids.js'
import type { Operation } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import type { Spans } from '../traces/spans.js'
import { type Gate, single, toAllowance } from './admit.js'
import { cacheHeaders, joinParts, matchesEtag, negotiateEncoding, type Variant } from './cache.js'
import { follow } from './follow.js'
import { checkHead } from './head.js'

/**
 * Cached responses, by the exact text of the request. Most requests of a popular page are the same few. A request with a cached
 * response needs only the check of its key and its budget.
 */
export type ResponseCache<C> = {
  /** Keeps an answer of 200 (or what a 304 stood for), which follows from `source` and the request alone. */
  remember(operation: Operation<C>, request: IncomingMessage, units: number, source: object, variant: Variant): void
  /** Puts itself before a server's own way of answering; whatever is not known goes there, refusals included. */
  attach(server: Server): void
  /** Why a request that came this way could not be charged, so that it is not tried twice. */
  failureOf(request: IncomingMessage): { error: unknown } | undefined
  /** From now on every request goes the server's own way. */
  stop(): void
}

type CachedResponse<C> = {
  operation: Operation<C>
  units: number
  source: object
  parts: readonly Uint8Array[]
  byteLength: number
  etag: string
  /** Names and values in turn, of a 304. */
  headers: readonly string[]
  /** Those of the body, which a 304 does not have. */
  bodyHeaders: readonly string[]
}

const urlLengthMax = 2_000
/** Approximate size of a response without its body: the headers of a 304 and of a 200. */
const headersBytes = 600

export type ResponseCacheOptions<C> = Gate & {
  ctx: C
  answers: AnswerCache
  onAnswered?: OnAnswered
  /** Follows requests; absent: none is. */
  spans?: Spans | undefined
}

/** Told of every answer: the operation's name, the status, seconds since the request came in, and whose it was. */
export type OnAnswered = (operationId: string, status: number, seconds: number, served: Served) => void

export type Served = { request: IncomingMessage; requestId: string; keyId: string | undefined }

export function createResponseCache<C extends Context>(options: ResponseCacheOptions<C>): ResponseCache<C> {
  const { ctx, authenticate, limits, onAnswered, answers, spans } = options
  const shelf = answers.shelf<CachedResponse<C>>('repeat')
  const find = (request: IncomingMessage): CachedResponse<C> | undefined => {
    const known = isPlain(request) ? shelf.find(keyOf(request)) : undefined
    return known?.operation.cacheable?.(ctx) === known?.source ? known : undefined
  }
  // A page asked for again leaves in one piece from then on; where that would take too much, in the pieces its items are anyway.
  const join = (known: CachedResponse<C>, request: IncomingMessage): readonly Uint8Array[] => {
    const { parts, byteLength } = known
    // While its caller was charged it may have been forgotten.
    if (parts.length === 1 || !answers.hasPlentyFor(byteLength) || find(request) !== known) return parts
    const joined = { ...known, parts: [joinParts(parts)] }
    shelf.keep(keyOf(request), joined, headersBytes + byteLength)
    return joined.parts
  }
  const failures = new WeakMap<IncomingMessage, { error: unknown }>()
  let stopped = false
  const send = (
    known: CachedResponse<C>,
    charge: Charge,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): number => {
    const headers = ['X-Request-Id', requestId, ...known.headers]
    for (const name in charge.headers) headers.push(name, charge.headers[name] ?? '')
    if (matchesEtag(request.headers['if-none-match'], known.etag)) {
      response.writeHead(304, headers).end()
      return 304
    }
    const parts = join(known, request)
    headers.push(...known.bodyHeaders)
    response.writeHead(200, headers)
    const last = parts.length - 1
    if (last > 0) response.cork()
    for (let index = 0; index < last; index++) response.write(parts[index])
    response.end(parts[last])
    return 200
  }
  const answer = (
    known: CachedResponse<C>,
    key: AuthenticatedKey,
    pass: RequestListener,
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    const startedMs = ctx.clock.monotonicMs()
    if (spans) follow(spans, known.operation, request, response)
    limits.budgets.charge(toAllowance(key), known.units).then(
      (charge) => {
        // A refusal is made again, and put into words, by the server's own way.
        if (!charge.granted) return pass(request, response)
        const requestId = newId()
        const status = send(known, charge, request, response, requestId)
        const seconds = (ctx.clock.monotonicMs() - startedMs) / 1000
        onAnswered?.(known.operation.operationId, status, seconds, { request, requestId, keyId: key.caller.keyId })
      },
      (error: unknown) => {
        failures.set(request, { error })
        pass(request, response)
      },
    )
  }
  return {
    remember: (operation, request, units, source, { encoding, parts, byteLength, etag }) => {
      if (operation.access !== 'publishable' || operation.permission || operation.addressLimited) return
      if (!isPlain(request) || (request.url?.length ?? 0) > urlLengthMax) return
      // Made of what has changed meanwhile.
      if (operation.cacheable?.(ctx) !== source) return
      const bytes = parts.length === 1 ? byteLength : 16 * parts.length
      const cached = Object.entries({ ...cacheHeaders, ETag: etag }).flat()
      const coded = encoding === 'identity' ? [] : ['Content-Encoding', encoding]
      const known = {
        ...{ operation, units, source, etag, parts, byteLength },
        headers: ['X-Request-Cost', String(units), 'Content-Type', 'application/json', ...cached],
        bodyHeaders: ['Content-Length', String(byteLength), ...coded],
      }
      shelf.keep(keyOf(request), known, headersBytes + bytes)
    },
    attach: (server) => {
      const [own] = server.listeners('request') as RequestListener[]
      if (!own) return
      server.removeListener('request', own)
      server.on('request', (request, response) => {
        const known = stopped || checkHead(request) ? undefined : find(request)
        const key = known && authenticate.remembered(single(request.headers['x-api-key']) ?? '')
        // Only the server's own way knows the address of a caller behind proxies.
        if (known && key?.addressUnits === null) answer(known, key, own, request, response)
        else own(request, response)
      })
    },
    failureOf: (request) => failures.get(request),
    stop: () => {
      stopped = true
    },
  }
}

/** The same key is the same question in the same encoding, in whatever words the caller asks for it. */
function keyOf({ url, headers }: IncomingMessage): string {
  return `${negotiateEncoding(headers['accept-encoding'])} ${url}`
}

/** A GET with nothing about it that needs a closer look. */
function isPlain({ method, headers, httpVersion }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.host !== undefined &&
    headers.origin === undefined &&
    headers.authorization === undefined &&
    headers.expect === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  )
}
