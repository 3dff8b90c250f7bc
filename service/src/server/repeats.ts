import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AuthenticatedKey } from '../features/auth/index.js'
import type { Charge } from '../features/limits/index.js'
import type { Context } from '../kernel/context.js'
import { newId } from '../kernel/ids.js'
import type { Operation } from '../kernel/operation.js'
import { type Gate, single, toAllowance } from './admit.js'
import { cacheHeaders, joinParts, matchesEtag, type Variant } from './cache.js'

/**
 * Answers given before, by the exact text of the request. Most requests of a page that many people open are the same
 * few; one whose whole answer is known needs nothing of what leads to it but its key and its budget.
 */
export type Repeats<C> = {
  /** Keeps an answer of 200 (or what a 304 stood for), which follows from `source` and the request alone. */
  remember(operation: Operation<C>, request: IncomingMessage, units: number, source: object, variant: Variant): void
  /** Puts itself before a server's own way of answering; whatever is not known goes there, refusals included. */
  standBefore(server: Server): void
  /** Why a request that came this way could not be charged, so that it is not tried twice. */
  failureOf(request: IncomingMessage): { error: unknown } | undefined
  /** From now on every request goes the server's own way. */
  stop(): void
}

type Known<C> = {
  operation: Operation<C>
  units: number
  source: object
  parts: readonly Uint8Array[]
  etag: string
  /** Names and values in turn, of a 304. */
  headers: readonly string[]
  /** Those of the body, which a 304 does not have. */
  bodyHeaders: readonly string[]
}

const answersMax = 10_000
const urlLengthMax = 2_000
/** Bytes of pages put together, so that they leave in one piece; others leave in the pieces their items are. */
const joinedBytesMax = 32 * 1024 * 1024
/** Everything is forgotten now and then, so that what nobody asks for any more makes room. */
const keptMs = 60_000

export type RepeatsOptions<C> = Gate & {
  ctx: C
  onAnswered?: (operationId: string, status: number, seconds: number) => void
}

export function createRepeats<C extends Context>(options: RepeatsOptions<C>): Repeats<C> {
  const { ctx, authenticate, limits, onAnswered } = options
  const answers = new Map<string, Known<C>>()
  const failures = new WeakMap<IncomingMessage, { error: unknown }>()
  let joinedBytes = 0
  let forgetAtMs = 0
  let stopped = false

  const forget = () => {
    answers.clear()
    joinedBytes = 0
    forgetAtMs = ctx.clock.monotonicMs() + keptMs
  }
  const find = (request: IncomingMessage): Known<C> | undefined => {
    const known = isPlain(request) ? answers.get(nameOf(request)) : undefined
    if (!known || known.operation.cacheable?.(ctx) === known.source) return known
    forget()
    return undefined
  }
  const send = (known: Known<C>, charge: Charge, request: IncomingMessage, response: ServerResponse): number => {
    const headers = ['X-Request-Id', newId(), ...known.headers]
    for (const name in charge.headers) headers.push(name, charge.headers[name] ?? '')
    if (matchesEtag(request.headers['if-none-match'], known.etag)) {
      response.writeHead(304, headers).end()
      return 304
    }
    headers.push(...known.bodyHeaders)
    response.writeHead(200, headers)
    const last = known.parts.length - 1
    if (last > 0) response.cork()
    for (let index = 0; index < last; index++) response.write(known.parts[index])
    response.end(known.parts[last])
    return 200
  }
  const answer = (
    known: Known<C>,
    key: AuthenticatedKey,
    pass: RequestListener,
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    const startedMs = ctx.clock.monotonicMs()
    limits.budgets.charge(toAllowance(key), known.units).then(
      (charge) => {
        // A refusal is made again, and put into words, by the server's own way.
        if (!charge.granted) return pass(request, response)
        const status = send(known, charge, request, response)
        onAnswered?.(known.operation.operationId, status, (ctx.clock.monotonicMs() - startedMs) / 1000)
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
      if (answers.size >= answersMax || ctx.clock.monotonicMs() > forgetAtMs) forget()
      const joins = parts.length > 1 && joinedBytes + byteLength <= joinedBytesMax
      if (joins || parts.length === 1) joinedBytes += byteLength
      const cached = Object.entries({ ...cacheHeaders, ETag: etag }).flat()
      const coded = encoding === 'identity' ? [] : ['Content-Encoding', encoding]
      answers.set(nameOf(request), {
        ...{ operation, units, source, etag, parts: joins ? [joinParts(parts)] : parts },
        headers: ['X-Request-Cost', String(units), 'Content-Type', 'application/json', ...cached],
        bodyHeaders: ['Content-Length', String(byteLength), ...coded],
      })
    },
    standBefore: (server) => {
      const [own] = server.listeners('request') as RequestListener[]
      if (!own) return
      server.removeListener('request', own)
      server.on('request', (request, response) => {
        const known = stopped ? undefined : find(request)
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

/** The same name is the same question in the same encoding. */
function nameOf({ url, headers }: IncomingMessage): string {
  return `${headers['accept-encoding'] ?? ''} ${url}`
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
