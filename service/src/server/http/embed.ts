import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../kernel/errors.js'
import { admit, findKey, type Gate } from './admit.js'
import { readPage, sendFile, sendPage } from './pages.js'

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

/** A screen reader finds the frame by it; it takes no room. */
const heading = '<div role="heading" aria-level="1" aria-label="Earn"></div>'

const pageOf = (key: string, script: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>Earn</title><main>${heading}<div data-key="${key}"></div></main>` +
  `<script type="module" src="${script}"></script></html>`

/**
 * The widget for the iframe of an app: `/embed/{publishable key}`. Another kind of key, a revoked one and one that nobody knows
 * are answered as any path that does not exist.
 */
export function addEmbed(app: FastifyInstance, gate: Gate): void {
  const page = readPage('embed')
  if (!page) return
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
      return sendPage(reply, pageOf(key, `${isBelow ? '../' : ''}files/${page.script}`), policyFor(origins))
    },
  })
  app.route({
    ...open('/embed/files/:name'),
    handler: async (request, reply) => sendFile(page, request, reply),
  })
}

/** The origins of a publishable key; undefined for other ones. */
async function findOrigins(gate: Gate, apiKey: string): Promise<readonly string[] | undefined> {
  const found = await findKey(gate, apiKey)
  return found?.caller.kind === 'publishable' ? found.origins : undefined
}
