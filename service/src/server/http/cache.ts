import { createHash, type Hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Shelf } from '../../kernel/answerCache.js'
import { inFlight } from '../../kernel/async/inFlight.js'
import { memo } from '../../kernel/async/memo.js'
import { PreparedBody } from '../../kernel/operation.js'

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

/** The compressors with their versions: another version may write other bytes, which need another ETag. */
const compressorNames = { br: `br 1 ${process.versions['brotli']}`, gzip: `gzip 1 ${process.versions['zlib']}` }

/** Bodies by number, so that their variants have short names. */
const numberOf = memo((_body: PreparedBody) => ++lastNumber)
let lastNumber = 0

/** Variants on their way: a body that many ask for at once is compressed once. */
const making = inFlight<Variant>()

/** A body served again is neither compressed nor hashed again while its variant is kept. */
async function variantOf(body: PreparedBody, encoding: Encoding, shelf: Shelf<Variant>): Promise<Variant> {
  const name = `${numberOf(body)} ${encoding}`
  const known = shelf.find(name)
  if (known) return known
  return making(name, async () => {
    const variant = await makeVariant(body, encoding)
    // The plain parts are the body's own.
    shelf.keep(name, variant, encoding === 'identity' ? 0 : variant.byteLength)
    return variant
  })
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
  shelf: Shelf<Variant>,
): Promise<Variant> {
  const body = answer instanceof PreparedBody ? answer : new PreparedBody([Buffer.from(JSON.stringify(answer))])
  const wanted = negotiateEncoding(headers['accept-encoding'])
  const variant = await variantOf(body, sizeOf(body.parts) < compressBytesMin ? 'identity' : wanted, shelf)
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
  // A header of thousands of commas is not taken apart for nothing.
  if (!header.includes(etag)) return false
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)
}

const preference: readonly Encoding[] = ['br', 'gzip', 'identity']

/** The weight of plain bytes if the client did not name them: above 0, below every named encoding. */
const unnamed = 0.0001

/** Clients send few different headers; those are read once. Longer ones are not remembered. */
const negotiated = new LRUCache<string, Encoding>({ max: 200 })
const rememberedLengthMax = 100

/**
 * The encoding a client likes best (RFC 9110 §12.5.3), brotli before gzip before none where it does not care. A client
 * that takes nothing we have gets the plain bytes.
 */
export function negotiateEncoding(header: string | undefined): Encoding {
  if (!header) return 'identity'
  const known = negotiated.get(header)
  if (known) return known
  const chosen = chooseEncoding(header)
  if (header.length <= rememberedLengthMax) negotiated.set(header, chosen)
  return chosen
}

/** The codings we know and their parameters; others are passed over, so that a long header costs no more than its length. */
const codings = /(?:^|,)[ \t]*(br|x-gzip|gzip|identity|\*)[ \t]*(?:;([^,]*))?(?=,|$)/gi

function chooseEncoding(header: string): Encoding {
  const weights = new Map<string, number>()
  for (const [, name = '', parameters = ''] of header.matchAll(codings))
    weights.set(name.toLowerCase().replace('x-', ''), parseWeight(parameters))
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

/** The weight among parameters, as in `q=0.5`; 1 if absent, 0 if malformed. */
function parseWeight(parameters: string): number {
  const weight = /(?:^|;)[ \t]*q=([^;]*)/i.exec(parameters)?.[1]
  return weight === undefined ? 1 : Number(weight) || 0
}
