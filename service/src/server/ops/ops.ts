import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import type { Context } from '../../postgres/context.js'
import { buildApp } from '../http/http.js'
import { addReference, type ReadDocument } from '../openapi/reference.js'

/** One line of /readyz: what was looked at, whether it is well, and what to do if not. */
export type Readiness = { name: string; ready: boolean; detail: string }

export type OpsOptions = {
  readDocument: ReadDocument
  checks: () => Promise<Readiness[]>
  registry: Registry
  /** What the reference tries calls on. */
  publicApp: FastifyInstance
}

/**
 * The operator listener (loopback unless configured otherwise): health, readiness, metrics, the OpenAPI document and
 * the reference made of it.
 */
export function buildOpsApp(ctx: Context, { readDocument, checks, registry, publicApp }: OpsOptions): FastifyInstance {
  const app = buildApp(ctx)
  app.get('/healthz', async (_request, reply) => reply.send(Buffer.from('{"status":"ok"}')))
  app.get('/readyz', async (_request, reply) => {
    const found = await checks()
    const ready = found.every((check) => check.ready)
    return reply.code(ready ? 200 : 503).send(Buffer.from(JSON.stringify({ ready, checks: found })))
  })
  app.get('/metrics', async (_request, reply) =>
    reply.header('Content-Type', registry.contentType).send(Buffer.from(await registry.metrics())),
  )
  addReference(app, readDocument, publicApp)
  return app
}
