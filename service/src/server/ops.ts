import type { FastifyInstance } from 'fastify'
import type { Context } from '../kernel/context.js'
import { buildApp } from './http.js'

/** One line of /readyz: what was looked at, whether it is well, and what to do if not. */
export type Readiness = { name: string; ready: boolean; detail: string }

/** The operator listener (loopback unless configured otherwise): health, readiness and the OpenAPI document. */
export function buildOpsApp(
  ctx: Context,
  options: { openapi: Record<string, unknown>; checks: () => Promise<Readiness[]> },
): FastifyInstance {
  const app = buildApp(ctx)
  const openapi = Buffer.from(JSON.stringify(options.openapi))
  app.get('/healthz', async (_request, reply) => reply.send(Buffer.from('{"status":"ok"}')))
  app.get('/readyz', async (_request, reply) => {
    const checks = await options.checks()
    const ready = checks.every((check) => check.ready)
    return reply.code(ready ? 200 : 503).send(Buffer.from(JSON.stringify({ ready, checks })))
  })
  app.get('/openapi.json', async (_request, reply) => reply.send(openapi))
  return app
}
