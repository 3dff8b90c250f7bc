import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  deadlineExceeded,
  EarnError,
  type ErrorBody,
  headTooLarge,
  internal,
  invalidArgument,
  notFound,
  payloadTooLarge,
  unavailable,
  unsupportedMediaType,
} from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import { isDatabaseLate, isDatabaseUnavailable } from '../../postgres/pool.js'
import { headBytesMax } from './head.js'
import { isRetryable } from './retryable.js'
import { readTraceId } from './traceparent.js'

export const bodyBytesMax = 64 * 1024

/** The one place where a failure becomes an answer. Only 5xx are logged as errors; nothing internal leaves. */
export function sendError(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = isAborted(error)
    ? deadlineExceeded('the caller went away before its request was whole')
    : toEarnError(error, request.id)
  if (known.code >= 500) {
    const traceId = readTraceId(request.headers['traceparent'])
    const fields = { err: known.cause ?? error, requestId: request.id, traceId, code: known.code }
    ctx.log.error(fields, `${request.method} ${request.routeOptions.url ?? 'unknown route'} failed`)
  }
  // A caller that is refused before its body has arrived must not hold the connection by sending the rest.
  if (request.raw.complete === false) reply.header('Connection', 'close')
  if (known.retryAfterSeconds !== undefined) reply.header('Retry-After', Math.ceil(known.retryAfterSeconds))
  // Not set yet where the path itself could not be read.
  if (!reply.hasHeader('X-Request-Cost')) reply.header('X-Request-Cost', 0)
  return reply
    .code(known.code)
    .header('X-Request-Id', request.id)
    .header('Content-Type', 'application/json')
    .send(Buffer.from(JSON.stringify(errorBody(known, request))))
}

/** True when the caller closed the connection in the middle of a request: no failure of ours, and nobody reads the answer. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET'
}

/** The body a caller of this route sees for a failure. */
export function errorBody(error: EarnError, request: FastifyRequest): ErrorBody {
  const body = error.toBody()
  if (error.code !== 503 && !request.routeOptions.config?.tellsRetryable) return body
  return { ...body, context: { ...body.context, retryable: body.context.retryable ?? isRetryable(error) } }
}

const parserFailures: Record<string, () => EarnError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => payloadTooLarge(`the body is larger than ${bodyBytesMax} bytes`),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => invalidArgument('the body is shorter or longer than Content-Length says'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => unsupportedMediaType('send the body as application/json'),
  FST_ERR_BAD_URL: () => invalidArgument('the path is not a valid URL path'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound('no such route'),
}

/** Turns any failure into one for callers; an unforeseen one becomes a 500 without details. */
export function toEarnError(error: unknown, requestId: string): EarnError {
  if (error instanceof EarnError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const failure = parserFailures[code]
  if (failure) return failure()
  if (isDatabaseLate(error))
    return unavailable('the database did not answer in time; try again shortly', { cause: error, retryAfterSeconds: 2 })
  if (isDatabaseUnavailable(error))
    return unavailable('the database cannot be reached; try again shortly', { cause: error, retryAfterSeconds: 1 })
  return internal('something went wrong on our side; try again with backoff', { context: { requestId }, cause: error })
}

type ClientErrorSocket = { writable: boolean; end(text: string): void; destroy(): void }

/** Errors of the HTTP parser itself, before there is a request. */
export function answerClientError(error: Error & { code?: string }, socket: ClientErrorSocket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(formatRawAnswer(toParserError(error.code)))
}

/** A failure as the whole text of an answer, for a connection without a request to answer. */
export function formatRawAnswer(error: EarnError): string {
  const body = JSON.stringify(error.toBody())
  const retry = error.retryAfterSeconds === undefined ? '' : `Retry-After: ${Math.ceil(error.retryAfterSeconds)}\r\n`
  return (
    `HTTP/1.1 ${error.code} ${STATUS_CODES[error.code]}\r\nContent-Type: application/json\r\n` +
    `X-Request-Id: ${newId()}\r\nX-Request-Cost: 0\r\n${retry}Connection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

function toParserError(code: string | undefined): EarnError {
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge(`the request head is larger than ${headBytesMax} bytes`)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return deadlineExceeded('the request did not arrive in time; send it again')
  return invalidArgument('the request is not well-formed HTTP')
}
