import { parseUtf8 } from './bytes.js'
import { isDistributorCode, isPlainText } from './codes.js'
import type { Span } from './erc8021.js'
import { countTopLevelKeys } from './jsonKeys.js'

/**
 * The tracker older integrations append: the marker 0xdeadbeef, a payload, and perhaps 65 bytes of an EIP-191 signature
 * over the payload. The payload is a tag `<namespace>:v1:<distributorId>:<referralCode>` or one JSON object. `empty` is
 * a readable object that names no distributor; `malformed` looks like a tracker and cannot be read.
 */
export type LegacyTracker = Span &
  (
    | {
        status: 'ok' | 'empty'
        /** The payload as it is written. */
        tag: string
        metadata: ReadonlyMap<string, unknown>
        distributorId?: string
        referralCode?: string
        payload: Uint8Array
        signature?: Uint8Array
      }
    | { status: 'malformed'; reason: 'tracker-unreadable' }
  )

/** The four bytes a tracker begins with. */
export const legacyMarker: Uint8Array = Uint8Array.of(0xde, 0xad, 0xbe, 0xef)

/** Longest payload read, so that a hostile tail costs a bounded look. Real ones are under 500 bytes. */
const payloadMax = 2048
/** How many places that look like the marker are tried, from the end. */
const candidatesMax = 16
const signatureLength = 65
const signatureEnds = [0, 1, 27, 28]

const tagShape = /^[a-z0-9-]{1,64}:v1:([^:]*):(\P{Cc}*)$/u
const tagStart = /^[a-z0-9-]{1,64}:v1:/

/**
 * The legacy tracker at the end of the bytes, or undefined. The marker is looked for backwards from `end` on whole
 * bytes, not before `floor` (by default the fifth byte, because a selector comes first); the first place whose remainder
 * reads wins, because an address argument may contain the same four bytes. Never throws.
 */
export function decodeLegacy(data: Uint8Array, end = data.length, floor = 4): LegacyTracker | undefined {
  const windowStart = Math.max(floor, end - legacyMarker.length - payloadMax - signatureLength)
  if (windowStart >= end) return undefined
  const window = Buffer.from(data.buffer, data.byteOffset + windowStart, end - windowStart)
  let malformed: LegacyTracker | undefined
  let at = window.lastIndexOf(legacyMarker)
  for (let tried = 0; tried < candidatesMax && at >= 0; tried++) {
    const start = windowStart + at
    const remainder = data.subarray(start + legacyMarker.length, end)
    const read = readPayload(remainder) ?? readSigned(remainder)
    if (read) return { ...read, start, end }
    if (!malformed && looksLikeTracker(remainder)) {
      malformed = { status: 'malformed', reason: 'tracker-unreadable', start, end }
    }
    at = at === 0 ? -1 : window.lastIndexOf(legacyMarker, at - 1)
  }
  return malformed
}

type Read = Omit<Extract<LegacyTracker, { tag: string }>, 'start' | 'end'>

function readSigned(remainder: Uint8Array): Read | undefined {
  // The last byte of a signature is a control character, which no payload ends in: nothing reads both ways.
  if (!signatureEnds.includes(remainder.at(-1) ?? -1)) return undefined
  const payloadEnd = remainder.length - signatureLength
  const read = payloadEnd > 0 ? readPayload(remainder.subarray(0, payloadEnd)) : undefined
  return read && { ...read, signature: remainder.subarray(payloadEnd) }
}

function readPayload(payload: Uint8Array): Read | undefined {
  const tag = payload.length > 0 && payload.length <= payloadMax ? parseUtf8(payload) : undefined
  if (tag === undefined) return undefined
  return tag.startsWith('{') ? readObject(tag, payload) : readTag(tag, payload)
}

function readTag(tag: string, payload: Uint8Array): Read | undefined {
  const [, distributorId = '', referralCode = ''] = tagShape.exec(tag) ?? []
  if (!isDistributorCode(distributorId)) return undefined
  const metadata = new Map(Object.entries({ distributorId, ...(referralCode ? { referralCode } : {}) }))
  return { status: 'ok', tag, metadata, distributorId, ...(isPlainText(referralCode) ? { referralCode } : {}), payload }
}

function readObject(tag: string, payload: Uint8Array): Read | undefined {
  const object = parseObject(tag)
  if (!object) return undefined
  const metadata = new Map(Object.entries(object))
  // A repeated name would let two readers see two distributors.
  if (countTopLevelKeys(tag) !== metadata.size) return undefined
  const distributorId = metadata.get('distributorId')
  const referralCode = metadata.get('referralCode')
  const known = typeof distributorId === 'string' && isDistributorCode(distributorId)
  return {
    status: known ? 'ok' : 'empty',
    tag,
    metadata,
    ...(known ? { distributorId } : {}),
    ...(typeof referralCode === 'string' && isPlainText(referralCode) ? { referralCode } : {}),
    payload,
  }
}

function parseObject(text: string): object | undefined {
  if (!text.endsWith('}')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function looksLikeTracker(remainder: Uint8Array): boolean {
  const text = String.fromCharCode(...remainder.subarray(0, 72))
  return tagStart.test(text) || text.startsWith('{"')
}
