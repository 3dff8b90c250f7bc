import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { single } from '../http/admit.js'

const page = (name: string) => readFileSync(new URL(`../../../assets/reference/${name}`, import.meta.url))

/** Nothing from elsewhere is loaded or framed. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"
const forwarded = ['x-api-key', 'content-type', 'idempotency-key', 'if-none-match']

/**
 * The API reference: a page that reads /openapi.json and can try every call. Tried calls go through this listener, so
 * that a secret key, which no browser page may use, can be tried by the operator.
 */
export function addReference(app: FastifyInstance, publicApp: FastifyInstance): void {
  const files: [url: string, type: string, bytes: Buffer][] = [
    ['/reference', 'text/html; charset=utf-8', page('index.html')],
    ['/reference/page.js', 'text/javascript; charset=utf-8', page('page.js')],
    ['/reference/page.css', 'text/css; charset=utf-8', page('page.css')],
  ]
  for (const [url, type, bytes] of files)
    app.get(url, async (_request, reply) =>
      reply.header('Content-Type', type).header('Content-Security-Policy', policy).send(bytes),
    )
  app.route({
    method: ['GET', 'POST'],
    url: '/reference/call/*',
    handler: async (request, reply) => {
      const headers: Record<string, string> = {}
      for (const name of forwarded) {
        const value = single(request.headers[name])
        if (value !== undefined) headers[name] = value
      }
      const answer = await publicApp.inject({
        method: request.method as 'GET' | 'POST',
        url: (request.raw.url ?? '').slice('/reference/call'.length),
        headers,
        remoteAddress: request.ip,
        ...(Buffer.isBuffer(request.body) ? { payload: request.body } : {}),
      })
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined && !['connection', 'content-length', 'transfer-encoding'].includes(name))
          reply.header(name, value)
      return reply.code(answer.statusCode).send(answer.rawPayload)
    },
  })
}
