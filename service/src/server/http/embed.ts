import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EarnError, notFound } from '../../kernel/errors.js'
import { admit, type Gate } from './admit.js'

/** The built widget: a part of the package, written by `npm run build`. */
const folder = new URL('../../../dist/embed/', import.meta.url)

/** An origin as a page has it: nothing in it could end the directive. */
const originForm = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/i

/** Nothing from elsewhere is loaded, no text becomes a script, and only the pages of the key's list may frame it. */
function policyFor(origins: readonly string[]): string {
  const ancestors = origins.filter((origin) => originForm.test(origin))
  return [
    ...["default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
    `frame-ancestors ${ancestors.length > 0 ? ancestors.join(' ') : "'none'"}`,
  ].join('; ')
}

const pageOf = (key: string, script: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>Earn</title><main data-key="${key}"></main><script type="module" src="${script}"></script></html>`

/**
 * The widget for the iframe of an app: `/embed/{publishable key}`. Another kind of key, a revoked one and one that nobody knows
 * are answered as any path that does not exist.
 */
export function addEmbed(app: FastifyInstance, gate: Gate): void {
  if (!existsSync(folder)) return
  const files = new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, readFileSync(new URL(name, folder))]),
  )
  const entry = [...files.keys()].find((name) => name.startsWith('embed-'))
  if (entry === undefined) return
  const open = (url: string) => ({
    ...{ method: ['GET', 'HEAD'], url },
    onRequest: (request: FastifyRequest, reply: FastifyReply) => admit(gate, { access: 'public' }, request, reply),
  })
  app.route({
    ...open('/embed/:key'),
    handler: async (request, reply) => {
      const { key } = request.params as { key: string }
      const origins = await findOrigins(gate, key)
      if (!origins) throw notFound('no such route')
      const isBelow = /\/(\?|$)/.test(request.raw.url ?? '')
      harden(reply).header('Content-Type', 'text/html; charset=utf-8').header('Cache-Control', 'no-store')
      reply.header('Content-Security-Policy', policyFor(origins))
      return reply.send(Buffer.from(pageOf(key, `${isBelow ? '../' : ''}files/${entry}`)))
    },
  })
  app.route({
    ...open('/embed/files/:name'),
    handler: async (request, reply) => {
      const bytes = files.get((request.params as { name: string }).name)
      if (!bytes) throw notFound('no such route')
      harden(reply).header('Content-Type', 'text/javascript; charset=utf-8')
      // Its name is that of its bytes.
      return reply.header('Cache-Control', 'public, max-age=31536000, immutable').send(bytes)
    },
  })
}

const harden = (reply: FastifyReply): FastifyReply =>
  reply
    .removeHeader('Access-Control-Allow-Origin')
    .removeHeader('Access-Control-Expose-Headers')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Referrer-Policy', 'no-referrer')

async function findOrigins({ authenticate }: Gate, apiKey: string): Promise<readonly string[] | undefined> {
  try {
    const { caller, origins } = await authenticate({ apiKey, authorization: undefined })
    return caller.kind === 'publishable' ? origins : undefined
  } catch (error) {
    if (error instanceof EarnError && error.code === 401) return undefined
    throw error
  }
}
