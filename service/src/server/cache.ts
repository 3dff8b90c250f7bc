import { createHash, type Hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PreparedBody } from '../kernel/operation.js'

export type Encoding = 'br' | 'gzip' | 'identity'

/** One form of a body: its bytes in parts, and their strong ETag. */
export type Variant = { encoding: Encoding; parts: readonly Uint8Array[]; byteLength: number; etag: string }

/** Below this a compressed answer saves nothing worth the work. */
const compressBytesMin = 1_024

const compressors: { [encoding in Exclude<Encoding, 'identity'>]: (bytes: Uint8Array) => Promise<Buffer> } = {
  // The lowest quality: a third larger than the best, at a fraction of the time.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 1 }),
}

/** What compresses, to the version: another version may write other bytes, which then need another ETag. */
const compressorNames = { br: `br 1 ${process.versions['brotli']}`, gzip: `gzip 1 ${process.versions['zlib']}` }

/** Variants live as long as their body, so a body served again is neither compressed nor hashed again. */
const known = new WeakMap<PreparedBody, Map<Encoding, Promise<Variant>>>()

function variantOf(body: PreparedBody, encoding: Encoding): Promise<Variant> {
  const variants = known.get(body) ?? new Map<Encoding, Promise<Variant>>()
  known.set(body, variants)
  const found = variants.get(encoding)
  if (found) return found
  const made = makeVariant(body, encoding)
  variants.set(encoding, made)
  return made
}

async function makeVariant({ parts, digest }: PreparedBody, encoding: Encoding): Promise<Variant> {
  const hash = createHash('sha256').update(digest ?? createHash('sha256').update(joinParts(parts)).digest())
  if (encoding === 'identity') return { encoding, parts, byteLength: sizeOf(parts), etag: toEtag(hash) }
  const bytes = await compressors[encoding](joinParts(parts))
  const etag = toEtag(hash.update(compressorNames[encoding]))
  return { encoding, parts: [bytes], byteLength: bytes.byteLength, etag }
}

const sizeOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, part) => sum + part.byteLength, 0)
const toEtag = (hash: Hash) => `"${hash.digest('base64url').slice(0, 27)}"`

/** The bytes of all parts; of a single one without a copy. */
export function joinParts(parts: readonly Uint8Array[]): Buffer {
  const [only] = parts
  if (!only || parts.length > 1) return Buffer.concat(parts)
  return Buffer.from(only.buffer, only.byteOffset, only.byteLength)
}

/** Of every cacheable answer. */
export const cacheHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'X-API-Key, Accept-Encoding, Origin' }

/**
 * Sends a cacheable answer: in the best encoding the client takes, with a strong ETag of exactly these bytes, or as a
 * 304 without body when the client has them. Resolves to what would be sent in full.
 */
export async function sendCacheable(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  answer: unknown,
): Promise<Variant> {
  const body = answer instanceof PreparedBody ? answer : new PreparedBody([Buffer.from(JSON.stringify(answer))])
  const wanted = negotiateEncoding(headers['accept-encoding'])
  const variant = await variantOf(body, sizeOf(body.parts) < compressBytesMin ? 'identity' : wanted)
  reply.header('ETag', variant.etag).headers(cacheHeaders)
  if (matchesEtag(headers['if-none-match'], variant.etag)) {
    reply.code(304).send()
    return variant
  }
  if (variant.encoding !== 'identity') reply.header('Content-Encoding', variant.encoding)
  reply.send(joinParts(variant.parts))
  return variant
}

/** True when If-None-Match names the ETag (compared weakly, RFC 9110 §13.1.2) or is `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

const preference: readonly Encoding[] = ['br', 'gzip', 'identity']

/** What a client that did not name the plain bytes takes them for: better than nothing, worse than what it named. */
const unnamed = 0.0001

/**
 * The encoding a client likes best (RFC 9110 §12.5.3), brotli before gzip before none where it does not care. A client
 * that takes nothing we have gets the plain bytes.
 */
export function negotiateEncoding(header: string | undefined): Encoding {
  if (!header) return 'identity'
  const weights = new Map(header.toLowerCase().split(',').map(parseCoding))
  const weightOf = (encoding: Encoding) =>
    weights.get(encoding) ?? (encoding === 'identity' ? unnamed : (weights.get('*') ?? 0))
  let best: Encoding = 'identity'
  let weight = 0
  for (const encoding of preference) {
    if (weightOf(encoding) <= weight) continue
    best = encoding
    weight = weightOf(encoding)
  }
  return best
}

/** `gzip;q=0.5` as a name and a weight; what is no weight counts 0. */
function parseCoding(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
  const weight = parameters.find((text) => text.startsWith('q='))?.slice(2)
  return [name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0]
}
