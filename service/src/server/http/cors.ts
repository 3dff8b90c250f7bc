import type { FastifyInstance } from 'fastify'
import { notFound } from '../../kernel/errors.js'
import type { Operation } from '../../kernel/operation.js'

const allowedHeaders =
  'X-API-Key, Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, traceparent'
const exposedHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Used',
  'X-Monthly-Limit',
  'X-Monthly-Usage',
  'X-Monthly-Remaining',
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-Request-Cost',
  'Idempotency-Replayed',
].join(', ')
const preflightSeconds = 7200

/**
 * Lets pages of any origin read responses, errors included, and responds to preflights of existing paths. The allowed origins of
 * a key are checked with the key: a preflight carries no key.
 */
export function addCors(app: FastifyInstance, operations: readonly Pick<Operation, 'path' | 'method'>[]): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('Vary', 'Origin')
    if (request.headers.origin === undefined) return
    reply.header('Access-Control-Allow-Origin', request.headers.origin)
    reply.header('Access-Control-Expose-Headers', exposedHeaders)
  })
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of operations) {
    const url = toRoute(path)
    methods.set(url, (methods.get(url) ?? new Set()).add(method))
  }
  for (const [url, allowed] of methods)
    app.route({
      method: 'OPTIONS',
      url,
      // Before a body is looked at: OPTIONS that is no preflight is as unknown as any other method.
      onRequest: async ({ headers }) => {
        if (headers.origin === undefined || headers['access-control-request-method'] === undefined)
          throw notFound('no such route')
      },
      handler: async (_request, reply) =>
        reply
          .code(204)
          .removeHeader('Content-Type')
          .header('Access-Control-Allow-Methods', [...allowed].join(', '))
          .header('Access-Control-Allow-Headers', allowedHeaders)
          .header('Access-Control-Max-Age', preflightSeconds)
          .send(),
    })
}

/** An operation's path in the router's form; the trailing slash, which is optional, left out. */
export function toRoute(path: string): string {
  return path.replace(/\{([a-zA-Z]+)\}/g, ':$1').replace(/(.)\/$/, '$1')
}
