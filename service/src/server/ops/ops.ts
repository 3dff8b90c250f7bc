import type { FastifyInstance } from 'fastify'
import { notFound } from '../../kernel/errors.js'
import type { Context } from '../../postgres/context.js'
import { buildApp } from '../http/http.js'
import { addProgram } from '../http/pages.js'
import { addReference, type ReadDocument } from '../openapi/reference.js'
import { createAdmit, guardListener } from './guard.js'
import { addLists } from './lists.js'

/** One line of /readyz: the subject, whether it is well, and advice if not. `optional`: the service works without it. */
export type Readiness = { name: string; ready: boolean; optional?: true; detail: string }

export type OpsOptions = {
  readDocument: ReadDocument
  checks: () => Promise<Readiness[]>
  /** The text that Prometheus reads, and its format. */
  metrics: () => Promise<string>
  contentType: string
  /** The reward file of a hash, if it exists. */
  readFile: (hash: string) => Promise<string | undefined>
  /** The app on which the reference runs its calls. */
  publicApp: FastifyInstance
  /** The chains of which this installation has jobs. */
  chains: readonly number[]
}

/**
 * The operator listener (loopback unless configured otherwise): health, readiness, metrics, the lists of the operator and
 * the pages that show them, the OpenAPI document and the reference made of it. The pages hold nothing: they ask for the token.
 */
export function buildOpsApp(
  ctx: Context,
  { readDocument, checks, metrics, contentType, readFile, publicApp, chains }: OpsOptions,
): FastifyInstance {
  const app = buildApp(ctx)
  guardListener(app, ctx.config)
  const admit = createAdmit(ctx.config, ctx.clock)
  const admitProbe = ctx.config.opsProbesOpen ? () => undefined : admit
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.get('/healthz', async (_request, reply) => reply.send(Buffer.from('{"status":"ok"}')))
  app.get('/readyz', async (request, reply) => {
    admitProbe(request)
    const found = await checks()
    // Load balancers must send requests elsewhere before the listener closes.
    if (isStopping) found.push({ name: 'service', ready: false, detail: 'is stopping' })
    const ready = found.every((check) => check.ready || check.optional)
    return reply.code(ready ? 200 : 503).send(Buffer.from(JSON.stringify({ ready, checks: found })))
  })
  app.get('/metrics', async (request, reply) => {
    admitProbe(request)
    return reply.header('Content-Type', contentType).send(Buffer.from(await metrics()))
  })
  app.get('/streams/files/:hash', async (request, reply) => {
    const { hash } = request.params as { hash: string }
    const text = /^(0x)?[0-9a-f]{64}$/.test(hash) ? await readFile(`0x${hash.replace(/^0x/, '')}`) : undefined
    if (text === undefined) throw notFound('there is no reward file of this hash')
    return reply.header('Content-Type', 'application/json').send(Buffer.from(text))
  })
  addLists(app, ctx, { admit, chains })
  addProgram(app, 'operator')
  addReference(app, readDocument, publicApp)
  return app
}
