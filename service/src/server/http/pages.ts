import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../kernel/errors.js'
import { negotiateEncoding } from './cache.js'

/** A file of a page, and its compressed form. */
type File = { bytes: Buffer; packed: Buffer; type: string }

export type Page = {
  /** The first file of its program, and its sheet where it has one. */
  script: string
  sheet: string | undefined
  icon: string | undefined
  files: ReadonlyMap<string, File>
}

const types: readonly (readonly [ending: string, type: string])[] = [
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]

/** A page that `npm run build` wrote, which is a part of the package; undefined where it is not there. */
export function readPage(name: string): Page | undefined {
  const folder = new URL(`../../../dist/${name}/`, import.meta.url)
  if (!existsSync(folder)) return undefined
  const files = new Map<string, File>()
  for (const file of readdirSync(folder)) {
    const [, type] = types.find(([ending]) => file.endsWith(ending)) ?? []
    if (type === undefined) continue
    const [bytes, packed] = [readFileSync(new URL(file, folder)), readFileSync(new URL(`${file}.br`, folder))]
    files.set(file, { bytes, packed, type })
  }
  const script = [...files.keys()].find((each) => each.startsWith(`${name}-`) && each.endsWith('.js'))
  const find = (ending: string) => [...files.keys()].find((each) => each.endsWith(ending))
  return script === undefined ? undefined : { script, sheet: find('.css'), icon: find('.svg'), files }
}

/** Sends a file of a page. Its name is that of its bytes, so it never changes. */
export function sendFile(page: Page, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const file = page.files.get((request.params as { name: string }).name)
  if (!file) throw notFound('no such route')
  const isPacked = negotiateEncoding(request.headers['accept-encoding']) === 'br'
  harden(reply).header('Content-Type', file.type).header('Vary', 'Accept-Encoding')
  if (isPacked) reply.header('Content-Encoding', 'br')
  return reply.header('Cache-Control', 'public, max-age=31536000, immutable').send(isPacked ? file.packed : file.bytes)
}

/** Sends a page: it is read anew each time, and names the files that belong together. */
export function sendPage(reply: FastifyReply, html: string, policy: string): FastifyReply {
  harden(reply).header('Content-Type', 'text/html; charset=utf-8').header('Cache-Control', 'no-store')
  return reply.header('Content-Security-Policy', policy).send(Buffer.from(html))
}

/** No other origin reads it, guesses its type, or hears where its reader came from. */
export const harden = (reply: FastifyReply): FastifyReply =>
  reply
    .removeHeader('Access-Control-Allow-Origin')
    .removeHeader('Access-Control-Expose-Headers')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Referrer-Policy', 'no-referrer')
