import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createAnswerCache } from '../../kernel/answerCache.js'
import { PreparedBody } from '../../kernel/operation.js'
import { admit, type Gate, single } from '../http/admit.js'
import { sendCacheable, type Variant } from '../http/cache.js'

const page = (name: string) => readFileSync(new URL(`../../../assets/reference/${name}`, import.meta.url))

/** Nothing from elsewhere is loaded or framed. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"
const forwarded = ['x-api-key', 'if-none-match']

/** Returns the present document: its own url may be known only once a listener is open. */
export type ReadDocument = () => Record<string, unknown>

/** The document and the page that reads it. Tried calls go to paths that begin with `calls`. */
function addPage(app: FastifyInstance, readDocument: ReadDocument, calls: string, gate?: Gate): void {
  const variants = createAnswerCache().shelf<Variant>('variant')
  let kept: { document: Record<string, unknown>; body: PreparedBody } | undefined
  const open = { method: ['GET', 'HEAD'], ...(gate ? { onRequest: takesToken(gate) } : {}) }
  app.route({
    ...open,
    url: '/openapi.json',
    handler: async (request, reply) => {
      const document = readDocument()
      if (kept?.document !== document)
        kept = { document, body: new PreparedBody([Buffer.from(JSON.stringify(document))]) }
      await sendCacheable(request, reply, kept.body, variants)
      return reply
    },
  })
  const html = Buffer.from(page('index.html').toString().replace('data-calls=""', `data-calls="${calls}"`))
  const files: [url: string, type: string, bytes: Buffer][] = [
    ['/reference', 'text/html; charset=utf-8', html],
    ['/reference/page.js', 'text/javascript; charset=utf-8', page('page.js')],
    ['/reference/page.css', 'text/css; charset=utf-8', page('page.css')],
  ]
  for (const [url, type, bytes] of files)
    app.route({
      ...open,
      url,
      handler: async (_request, reply) =>
        reply.header('Content-Type', type).header('Content-Security-Policy', policy).send(bytes),
    })
}

/** A request without a key takes a token of its address, as for every open operation. */
function takesToken(gate: Gate) {
  return (request: FastifyRequest, reply: FastifyReply) => admit(gate, { access: 'public' }, request, reply)
}

/** Links at the root of a listener, for a person who opens its address. Each is a path of this listener, or a whole url. */
function addLinks(app: FastifyInstance, links: () => Record<string, string>, gate?: Gate): void {
  app.route({
    ...{ method: ['GET', 'HEAD'], url: '/' },
    ...(gate ? { onRequest: takesToken(gate) } : {}),
    handler: async (_request, reply) => {
      const bytes = Buffer.from(JSON.stringify({ service: 'OpenEarn', links: links() }))
      return reply.header('Content-Type', 'application/json; charset=utf-8').send(bytes)
    },
  })
}

/**
 * The root of the public listener: where its API is. `hasReference`: its reference too, whose page calls the operations of the
 * same listener.
 */
export function addPublicPages(
  app: FastifyInstance,
  readDocument: ReadDocument,
  { gate, hasReference }: { gate: Gate; hasReference: boolean },
): void {
  if (hasReference) addPage(app, readDocument, '', gate)
  addLinks(
    app,
    () => {
      const url = readPublicUrl(readDocument())
      const pages = hasReference ? { reference: `${url}/reference`, document: `${url}/openapi.json` } : {}
      return { api: `${url}/v2`, ...pages }
    },
    gate,
  )
}

/**
 * The API reference: a page that reads /openapi.json and can try every call that reads. Tried calls go through this listener,
 * so that a secret key, which no browser page may use, can be tried by the operator. A call that may change something is not
 * passed on: nothing is changed by way of this listener.
 */
export function addReference(app: FastifyInstance, readDocument: ReadDocument, publicApp: FastifyInstance): void {
  addPage(app, readDocument, '/reference/call')
  addLinks(app, () => ({
    ...{ api: `${readPublicUrl(readDocument())}/v2`, reference: '/reference', document: '/openapi.json' },
    ...{ operator: '/operator/', health: '/healthz', readiness: '/readyz', metrics: '/metrics' },
  }))
  app.route({
    method: 'GET',
    url: '/reference/call/*',
    handler: async (request, reply) => {
      const headers: Record<string, string> = {}
      for (const name of forwarded) {
        const value = single(request.headers[name])
        if (value !== undefined) headers[name] = value
      }
      const answer = await publicApp.inject({
        method: 'GET',
        url: (request.raw.url ?? '').slice('/reference/call'.length),
        headers,
        remoteAddress: request.ip,
      })
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined && !['connection', 'content-length', 'transfer-encoding'].includes(name))
          reply.header(name, value)
      return reply.code(answer.statusCode).send(answer.rawPayload)
    },
  })
}

/** The base url of the public listener, as the document says it. */
function readPublicUrl(document: Record<string, unknown>): string {
  const [server] = document['servers'] as readonly { url: string }[]
  return server?.url ?? ''
}
