import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { notFound } from '../../kernel/errors.js'
import { negotiateEncoding } from './cache.js'

/** A file of a page, and its compressed form. */
type File = { bytes: Buffer; packed: Buffer; type: string }

export type Page = {
  /** The first file of its program, and its sheet where it has one. */
  script: string
  sheet: string | undefined
  icon: string | undefined
  /** The first font that its sheet names. */
  font: string | undefined
  files: ReadonlyMap<string, File>
}

const types: readonly (readonly [ending: string, type: string])[] = [
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
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
  const sheet = find('.css')
  const [, font] = /url\("(font-[\w-]+\.woff2)"\)/.exec(String(files.get(sheet ?? '')?.bytes ?? '')) ?? []
  return script === undefined ? undefined : { script, sheet, icon: find('.svg'), font, files }
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

const policyMembers = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "font-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  "require-trusted-types-for 'script'",
]

/**
 * Nothing from elsewhere is loaded, nothing frames the page, no text becomes a script. `others`: origins it may call too. A page with
 * `workers`, addresses of files, may make workers of those alone, by one policy, `openearn`; else nothing may be made a script at all.
 */
const policyFor = (others: readonly string[], workers: readonly string[]) => {
  const trusted =
    workers.length > 0
      ? ['trusted-types openearn', ['worker-src', ...workers].join(' ')]
      : ["trusted-types 'none'", "worker-src 'none'"]
  return [...policyMembers, ...trusted, ["connect-src 'self'", ...others].join(' ')].join('; ')
}

type Files = { script: string; sheet: string; icon: string; font: string | undefined }

/** The font of texts is asked for with the page: a list that is drawn before it is there is laid out twice. */
const preloadOf = (home: string, font: string | undefined) =>
  font === undefined ? '' : `<link rel="preload" as="font" type="font/woff2" crossorigin href="${home}files/${font}">`

const htmlOf = (home: string, { script, sheet, icon, font }: Files) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
  `<meta name="color-scheme" content="light dark"><title>OpenEarn</title><link rel="icon" href="${home}files/${icon}">` +
  `${preloadOf(home, font)}<link rel="stylesheet" href="${home}files/${sheet}"><script type="module" src="${home}files/${script}"></script></head>` +
  `<body><div id="root"></div></body></html>`

/** The way from a path below `/name/` back to it: the service may stand below a path of its proxy. */
function homeOf(name: string, url: string): string {
  const [path = ''] = url.split('?')
  const below = path.slice(name.length + 1)
  if (below === '') return `${name}/`
  return '../'.repeat(below.split('/').length - 2)
}

type Below = {
  /** Options of each of its routes. */
  open?: RouteShorthandOptions
  /** Origins that the page may call besides its own. */
  others?: () => readonly string[]
  /** The address of the service by its settings: a program that has workers gives it. */
  serviceUrl?: () => string
}

/** A policy has no form for a host that is an IPv6 address. */
const hostForm = /^(https?:\/\/)?[\w.-]+(:\d+)?(\/|$)/

/**
 * The addresses of a page's workers: a policy names a file only with its host, which is the one that the browser wrote, or that of the
 * service where a proxy wrote another one.
 */
function workersOf({ files: all }: Page, name: string, homes: readonly string[]): string[] {
  const named = homes.filter((home) => hostForm.test(home) && !/[;,\s]/.test(home))
  if (named.length === 0) return ["'self'"]
  const files = [...all.keys()].filter((file) => file.includes('.worker-'))
  return files.flatMap((file) => named.map((home) => `${home.replace(/\/+$/, '')}/${name}/files/${file}`))
}

/** Serves a program at `/name/`: one page for all paths below, which reads the rest by itself. False where it is not built. */
export function addProgram(app: FastifyInstance, name: string, below: Below = {}): boolean {
  const { open = {}, others = () => [], serviceUrl } = below
  const page = readPage(name)
  if (page?.sheet === undefined || page.icon === undefined) return false
  const { script, sheet, icon, font } = page
  const showPage = async ({ raw, headers }: FastifyRequest, reply: FastifyReply) => {
    const workers = serviceUrl ? workersOf(page, name, [serviceUrl(), headers.host ?? '']) : []
    return sendPage(
      reply,
      htmlOf(homeOf(name, raw.url ?? ''), { script, sheet, icon, font }),
      policyFor(others(), workers),
    )
  }
  const route = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.route({ ...open, method: ['GET', 'HEAD'], url, handler })
  route(`/${name}`, showPage)
  route(`/${name}/*`, showPage)
  route(`/${name}/files/:name`, async (request, reply) => sendFile(page, request, reply))
  return true
}

/** No other origin reads it, guesses its type, or hears where its reader came from. */
export const harden = (reply: FastifyReply): FastifyReply =>
  reply
    .removeHeader('Access-Control-Allow-Origin')
    .removeHeader('Access-Control-Expose-Headers')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Referrer-Policy', 'no-referrer')
