import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type AnswerCache, createAnswerCache, type Shelf } from '../../kernel/answerCache.js'
import { within } from '../../kernel/async/within.js'
import { systemClock } from '../../kernel/clock.js'
import { notFound, unavailable, unsupportedMediaType } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import type { Log } from '../../kernel/log.js'
import { anonymous, isWritten, LiveBody, type Operation, PreparedBody, type Write } from '../../kernel/operation.js'
import { parseQueryString } from '../../kernel/wire.js'
import type { Context } from '../../postgres/context.js'
import { inTransaction, type Transaction } from '../../postgres/pool.js'
import type { Seen } from '../../postgres/reading.js'
import type { Spans } from '../traces/spans.js'
import {
  type Admission,
  addHeadersNowhere,
  addLimitHeaders,
  admit,
  chargeRequest,
  createProxyWatch,
  type Gate,
  single,
  spendTokens,
} from './admit.js'
import { joinParts, sendCacheable, type Variant } from './cache.js'
import { capConnections } from './connectionCap.js'
import { closeGracefully, deadlines } from './connections.js'
import { addCors, toRoute } from './cors.js'
import { answerClientError, bodyBytesMax, sendError } from './errors.js'
import { follow } from './follow.js'
import { checkHead, headBytesMax } from './head.js'
import { answerIdempotent } from './idempotency.js'
import { compileInput, isJson, type ParseInput, type RawInput } from './input.js'
import { isLiteral, type Literals, listLiterals } from './literals.js'
import { createLiveStreams, type LiveStreams } from './live.js'
import { callerOf, shedLoad } from './loadShedding.js'
import { createResponseCache, type OnAnswered, type ResponseCache } from './responseCache.js'
import { readTraceId } from './traceparent.js'
import { createTurns, type Turns } from './turns.js'

export type HttpOptions<C extends Context> = Gate & {
  ctx: C
  operations: readonly Operation<C>[]
  /** The cache of responses. */
  answers?: AnswerCache
  onAnswered?: OnAnswered
  /** Follows requests into what they ask of others; absent: none is followed. */
  spans?: Spans | undefined
  /** Called for each request that is refused because the process is too busy. */
  onShed?: () => void
}

/**
 * The public listener: the operations and nothing else. A request passes the key, the body's size and type, the
 * budget, the schema, and then its operation. Everything unknown is 404 in the one error shape.
 */
export function buildPublicApp<C extends Context>(options: HttpOptions<C>): FastifyInstance {
  const app = buildApp(options.ctx, (request, reply) => {
    const addHeaders = request.is404 || isNowhere(request) ? addHeadersNowhere : addLimitHeaders
    return addHeaders(options, request, reply)
  })
  capConnections(app.server, options.ctx.config)
  const turns = createTurns(options.ctx.config.heavyPerKey)
  shedLoad(app, options.ctx, turns, options.onShed)
  const answers = options.answers ?? createAnswerCache()
  const responses = createResponseCache({ ...options, answers })
  const variants = answers.shelf<Variant>('variant')
  const live = createLiveStreams(options)
  const watchForProxy = createProxyWatch(options.ctx)
  const { spans } = options
  const within = <T>(request: FastifyRequest, work: () => T): T => (spans ? spans.within(request.raw, work) : work())
  addCors(app, options.operations)
  for (const operation of options.operations) {
    const parse = compileInput(operation)
    app.route({
      // Node sends no body in answer to a HEAD.
      method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
      url: toRoute(operation.path),
      config: {
        operationId: operation.operationId,
        tellsRetryable: operation.tellsRetryable === true,
        literals: listLiterals(operation, options.operations),
      },
      onRequest: async (request, reply) => {
        if (spans) follow(spans, operation, request.raw, reply.raw)
        watchForProxy(request)
        if (isNowhere(request)) throw notFound('no such route')
        return within(request, () => admit(options, operation, request, reply))
      },
      handler: (request, reply) =>
        within(request, () =>
          answer({ ...options, responses, variants, live, turns }, operation, parse, request, reply),
        ),
    })
  }
  app.addHook('onResponse', async (request, reply) => {
    const operationId = request.routeOptions.config?.operationId ?? 'none'
    const served = { request: request.raw, requestId: request.id, keyId: request.admission?.key.caller.keyId }
    // A stream is served once it is open.
    const seconds = (request.openMs ?? reply.elapsedTime) / 1000
    options.onAnswered?.(operationId, reply.statusCode, seconds, served)
  })
  app.addHook('preClose', async () => {
    live.stop()
    responses.stop()
  })
  responses.attach(app.server)
  return app
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: augmenting the framework's request needs an interface
  interface FastifyRequest {
    admission: Admission | undefined
    /** Milliseconds until a live response was open. */
    openMs: number | undefined
  }
  // biome-ignore lint/style/useConsistentTypeDefinitions: augmenting the framework's route config needs an interface
  interface FastifyContextConfig {
    operationId?: string
    tellsRetryable?: boolean
    literals?: Literals
  }
}

/** Whether a parameter of the request's path is a word of other paths: the path is one of those, with a wrong method. */
function isNowhere({ routeOptions, params }: FastifyRequest): boolean {
  return isLiteral(routeOptions.config?.literals, params as Readonly<Record<string, string>>)
}

type BeforeError = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** A Fastify app that speaks our error shape everywhere, its parser's errors included. */
export function buildApp(ctx: Context, beforeError: BeforeError = async () => undefined): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    genReqId: () => newId(),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: deadlines.requestTimeout,
    trustProxy: ctx.config.trustedProxies.length > 0 ? [...ctx.config.trustedProxies] : false,
    // A missing Host is refused below: Node's own refusal has no body.
    http: { ...deadlines, maxHeaderSize: headBytesMax, requireHostHeader: false },
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: headBytesMax,
      querystringParser: () => ({}),
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      sendError(ctx, error, request, reply.header('X-Request-Cost', 0))
    },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.decorateRequest('admission', undefined)
  app.decorateRequest('openMs', undefined)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
    reply.header('X-Request-Cost', 0)
    reply.header('Content-Type', 'application/json')
    const wrong = checkHead(request.raw)
    if (wrong) throw wrong
  })
  closeGracefully(app)
  // An expectation nobody knows is ignored (RFC 9110 §10.1.1) rather than answered by Node without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // Before the body of a request for nothing is read.
  app.addHook('preParsing', async (request) => {
    if (request.is404) throw notFound('no such route')
  })
  app.setNotFoundHandler((request, reply) => sendError(ctx, notFound('no such route'), request, reply))
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    try {
      await beforeError(request, reply)
    } catch (failure) {
      return sendError(ctx, failure, request, reply)
    }
    return sendError(ctx, error, request, reply)
  })
  return app
}

async function answer<C extends Context>(
  options: HttpOptions<C> & { responses: ResponseCache<C>; variants: Shelf<Variant>; live: LiveStreams; turns: Turns },
  operation: Operation<C>,
  parse: ParseInput,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const raw = readInput(request)
  if (operation.body && raw.body && request.headers['content-encoding'] !== undefined)
    throw unsupportedMediaType('send the body as it is, without a Content-Encoding')
  if (operation.body && raw.body && !isJson(raw.contentType))
    throw unsupportedMediaType('send the body as application/json')
  const units = typeof operation.cost === 'number' ? operation.cost : operation.cost(raw.query)
  const { admission } = request
  const { operationId } = operation
  const caller = admission?.key.caller ?? anonymous
  const parsed = attempt(() => (operation.isLive ? withLastEventId(parse(raw), request) : parse(raw)))
  const run = async () => {
    let workMs = 0
    const onWork = (ms: number) => {
      workMs += ms
    }
    const traceId = options.spans?.traceIdOf(request.raw) ?? readTraceId(request.headers['traceparent'])
    // The users of an app share its publishable key: each address has turns of its own.
    const key = caller.kind === 'publishable' ? `${caller.keyId} ${request.ip}` : caller.keyId
    const place = { key, caller: callerOf(request) }
    const endTurn =
      operation.isHeavy && (await options.turns.take(place, (leave) => void reply.raw.once('close', leave)))
    const own = { onWork, seen: admission?.seen }
    const ctx = contextOf(options.ctx, own, { requestId: request.id, operationId, traceId })
    try {
      const work = operation.run(ctx, parsed.get() as never, caller)
      const result = await (operation.tellsRetryable ? withinTime(work, planMs * options.ctx.config.patience) : work)
      return isWritten(result) ? result : { body: result, write: undefined }
    } finally {
      if (endTurn) endTurn()
      if (operation.access === 'public') spendTokens(options, request, reply, workMs)
    }
  }
  const commit = (write: Write<Transaction>) =>
    inTransaction(options.ctx.db, async (tx) => {
      await write(tx)
      if (admission) await options.limits.markWrite?.(tx, caller.keyId)
    })
  const charge = async (cost: 'whole' | 'one') => {
    if (!admission) return
    const more = cost === 'whole' && parsed.ok ? await operation.costMore?.(options.ctx, parsed.get() as never) : 0
    await chargeRequest(options, request, admission, units + (more ?? 0), cost, reply)
  }
  if (admission && operation.method === 'POST' && request.headers['idempotency-key'] !== undefined)
    return answerIdempotent(
      options.limits.idempotency,
      {
        ...{ operation, caller, raw, charge, commit, parse: parsed.get },
        assertMayRepeat: () => operation.assertMayRepeat?.(options.ctx, parsed.get() as never, caller),
        run: async () => {
          const { body, write } = await run()
          return { body, write, bytes: toBytes(body) }
        },
      },
      request,
      reply,
    )
  const failure = options.responses.failureOf(request.raw)
  if (failure) throw failure.error
  if (operation.isLive && admission) options.live.assertRoom(request, admission)
  // An invalid request costs only its parsing.
  await charge(parsed.ok ? 'whole' : 'one')
  // The object that the response depends on, as the operation finds it at its start.
  const source = operation.cacheable?.(options.ctx)
  const { body, write } = await run()
  if (body instanceof LiveBody && admission) {
    request.openMs = reply.elapsedTime
    options.live.serve(request, reply, admission, body)
    return reply
  }
  const bytes = source ? undefined : toBytes(body)
  if (write) await commit(write)
  if (!source) return reply.send(bytes)
  const variant = await sendCacheable(request, reply, body, options.variants)
  options.responses.remember(operation, request.raw, units, source, variant)
  return reply
}

/** The most an action or a swap may take before it writes, in milliseconds: it asks a chain several times, and a person waits. */
const planMs = 9_000

/** A chain that hangs is a 503 after a while, wherever the work was waiting. */
function withinTime<T>(work: Promise<T>, mostMs: number): Promise<T> {
  return within(work, { clock: systemClock, ms: mostMs }, () => {
    throw unavailable('the chain did not answer in time; try again shortly', { retryAfterSeconds: 5 })
  })
}

/** The context of one request. Its logger is made when somebody logs, which few requests do. */
function contextOf<C extends Context>(
  ctx: C,
  own: { onWork: (ms: number) => void; seen: Seen | undefined },
  fields: object,
): C {
  let log: Log | undefined
  return {
    ...ctx,
    ...own,
    get log() {
      log ??= ctx.log.child(fields)
      return log
    },
  }
}

function readInput(request: FastifyRequest): RawInput {
  const url = request.raw.url ?? ''
  const at = url.indexOf('?')
  const body = Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body : undefined
  return {
    params: request.params as Record<string, string>,
    query: parseQueryString(at === -1 ? '' : url.slice(at + 1)),
    body,
    contentType: request.headers['content-type'],
  }
}

/** Where a live response goes on, as its caller says in a header. */
function withLastEventId(input: Record<string, unknown>, { headers }: FastifyRequest): Record<string, unknown> {
  const lastEventId = single(headers['last-event-id'])
  return lastEventId === undefined || lastEventId === '' ? input : { ...input, lastEventId }
}

type Attempt<T> = { ok: boolean; get(): T }

/** Runs work now; the result, or the failure, is read later. */
function attempt<T>(work: () => T): Attempt<T> {
  try {
    const value = work()
    return { ok: true, get: () => value }
  } catch (error) {
    const get = () => {
      throw error
    }
    return { ok: false, get }
  }
}

/** The bytes of an operation's answer. */
function toBytes(body: unknown): Buffer {
  return body instanceof PreparedBody ? joinParts(body.parts) : Buffer.from(JSON.stringify(body))
}
