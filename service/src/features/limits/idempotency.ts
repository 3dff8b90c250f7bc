import { createHash } from 'node:crypto'
import { parseTs } from '../../kernel/clock.js'

/**
 * The key in an Idempotency-Key header: 1 to 255 printable ASCII characters, bare or as a quoted structured-field
 * string (RFC 8941); both forms are the same key. Undefined when it is neither.
 */
export function parseIdempotencyKey(header: string): string | undefined {
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(header)
  if (header.startsWith('"') && !quoted) return undefined
  const key = quoted ? (quoted[1] ?? '').replace(/\\(["\\])/g, '$1') : header
  return /^[\x20-\x7e]{1,255}$/.test(key) ? key : undefined
}

export type Request = {
  operationId: string
  params: Readonly<Record<string, string>>
  query: ReadonlyMap<string, readonly string[]>
  /** The parsed JSON body. */
  body: unknown
}

/** SHA-256 over operation, path, query and canonical body: equal for requests that ask the same. */
export function computeFingerprint({ operationId, params, query, body }: Request): Buffer {
  const text = formatCanonicalJson([operationId, params, Object.fromEntries(query), body])
  return createHash('sha256').update(text).digest()
}

/** JSON without spaces, members ordered by name. */
export function formatCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatCanonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${formatCanonicalJson(member)}`).join(',')}}`
}

/** Until when an answer itself says that it holds, if it does. */
export function readHeldUntil(answer: unknown): Date | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const text = 'validUntil' in answer ? answer.validUntil : 'expiresAt' in answer ? answer.expiresAt : undefined
  return typeof text === 'string' ? parseTs(text) : undefined
}
