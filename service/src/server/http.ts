import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Authenticate, assertAccess } from '../features/auth/index.js'
import type { Context } from '../kernel/context.js'
import { isDatabaseUnavailable } from '../kernel/database.js'
import {
  EarnError,
  headTooLarge,
  internal,
  invalidArgument,
  isRetryable,
  notFound,
  payloadTooLarge,
  unavailable,
} from '../kernel/errors.js'
import { newId } from '../kernel/ids.js'
import { anonymous, type Caller, type Operation, PreparedBody } from '../kernel/operation.js'
import { parseQueryString } from '../kernel/wire.js'
import { compileInput, type ParseInput } from './input.js'

/** 64 KiB for a body, and for a request head. */
const bodyBytesMax = 64 * 1024
const headBytesMax = 64 * 1024

export type HttpOptions<C extends Context> = {
  ctx: C
  operations: readonly Operation<C>[]
  authenticate: Authenticate
}

/** The public listener: the operations and nothing else. Everything unknown is 404 in the one error shape. */
export function buildPublicApp<C extends Context>(options: HttpOptions<C>): FastifyInstance {
  const app = buildApp(options.ctx)
  for (const operation of options.operations) {
    const parse = compileInput(operation)
    app.route({
      method: operation.method,
      url: operation.path.replace(/\{([a-zA-Z]+)\}/g, ':$1'),
      config: { tellsRetryable: operation.tellsRetryable === true },
      onRequest: async (request) => {
        request.caller = await admit(options, operation, request)
      },
      handler: async (request, reply) => {
        const body = await answer(options.ctx, operation, parse, request, reply)
        return send(reply, body)
      },
    })
  }
  return app
}

declare module 'fastify' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: augmenting the framework's request needs an interface
  interface FastifyRequest {
    caller: Caller
  }
  // biome-ignore lint/style/useConsistentTypeDefinitions: augmenting the framework's route config needs an interface
  interface FastifyContextConfig {
    tellsRetryable?: boolean
  }
}

/** A Fastify app that speaks our error shape everywhere, its parser's errors included. */
export function buildApp(ctx: Context): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    genReqId: () => newId(),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 30_000,
    http: { maxHeaderSize: headBytesMax },
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: headBytesMax,
      querystringParser: () => ({}),
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      sendError(ctx, error, request, reply)
    },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.decorateRequest('caller', null as unknown as Caller)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
    reply.header('Content-Type', 'application/json')
  })
  app.setNotFoundHandler((request, reply) => sendError(ctx, notFound('no such route'), request, reply))
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(ctx, error, request, reply))
  return app
}

async function admit<C extends Context>(
  options: HttpOptions<C>,
  operation: Operation<C>,
  request: FastifyRequest,
): Promise<Caller> {
  if (operation.access === 'public') return anonymous
  const { headers } = request
  const found = await options.authenticate({
    apiKey: single(headers['x-api-key']),
    authorization: headers.authorization,
    origin: headers.origin,
  })
  assertAccess(found.caller, operation.access, operation.permission)
  return found.caller
}

/** A header sent twice is joined, so that it is never taken for a valid single value. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

async function answer<C extends Context>(
  ctx: C,
  operation: Operation<C>,
  parse: ParseInput,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const url = request.raw.url ?? ''
  const at = url.indexOf('?')
  const query = parseQueryString(at === -1 ? '' : url.slice(at + 1))
  const cost = typeof operation.cost === 'number' ? operation.cost : operation.cost(query)
  reply.header('X-Request-Cost', cost)
  const input = parse({
    params: request.params as Record<string, string>,
    query,
    body: Buffer.isBuffer(request.body) ? request.body : undefined,
    contentType: request.headers['content-type'],
  })
  const log = ctx.log.child({ requestId: request.id, operationId: operation.operationId })
  return operation.run({ ...ctx, log }, input as never, request.caller)
}

function send(reply: FastifyReply, body: unknown): FastifyReply {
  if (body instanceof PreparedBody) return reply.send(Buffer.from(body.bytes))
  return reply.send(Buffer.from(JSON.stringify(body)))
}

/** The one place where a failure becomes an answer. Only 5xx are logged as errors; nothing internal leaves. */
function sendError(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toEarnError(error, request.id)
  if (known.code >= 500) {
    const fields = { err: known.cause ?? error, requestId: request.id, code: known.code }
    ctx.log.error(fields, `${request.method} ${request.routeOptions.url ?? 'unknown route'} failed`)
  }
  if (known.code === 413 || known.code === 431) reply.header('Connection', 'close')
  if (known.retryAfterSeconds !== undefined) reply.header('Retry-After', Math.ceil(known.retryAfterSeconds))
  reply.header('X-Request-Id', request.id)
  const body = known.toBody()
  if (request.routeOptions.config?.tellsRetryable)
    body.context = { ...body.context, retryable: body.context.retryable ?? isRetryable(known) }
  return reply
    .code(known.code)
    .header('Content-Type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)))
}

const parserFailures: Record<string, () => EarnError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => payloadTooLarge(`the body is larger than ${bodyBytesMax} bytes`),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalidArgument('the body is shorter or longer than Content-Length says'),
  FST_ERR_BAD_URL: () => invalidArgument('the path is not a valid URL path'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound('no such route'),
}

function toEarnError(error: unknown, requestId: string): EarnError {
  if (error instanceof EarnError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const failure = parserFailures[code]
  if (failure) return failure()
  if (isDatabaseUnavailable(error))
    return unavailable('the database cannot be reached; try again shortly', { cause: error, retryAfterSeconds: 1 })
  return internal('something went wrong on our side; try again with backoff', { context: { requestId }, cause: error })
}

type ClientErrorSocket = { writable: boolean; end(text: string): void; destroy(): void }

/** Errors of the HTTP parser itself, before there is a request. */
function answerClientError(error: Error & { code?: string }, socket: ClientErrorSocket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const known =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? headTooLarge(`the request head is larger than ${headBytesMax} bytes`)
      : invalidArgument('the request is not well-formed HTTP')
  const body = JSON.stringify(known.toBody())
  const reason = known.code === 431 ? 'Request Header Fields Too Large' : 'Bad Request'
  socket.end(
    `HTTP/1.1 ${known.code} ${reason}\r\nContent-Type: application/json\r\nX-Request-Id: ${newId()}\r\n` +
      `Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
