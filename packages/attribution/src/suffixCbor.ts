import type { CborValue } from './cbor.js'

/**
 * CBOR (RFC 8949) as far as a suffix may hold it, small enough for a browser that only checks a proof. It reads and refuses the
 * same bytes as the codec's reader; a float is read as NaN, as no member of a suffix may be one.
 */

type Place = { bytes: Uint8Array; at: number }

class Malformed extends Error {
  override readonly name = 'Malformed'
}
const refuse = (): never => {
  throw new Malformed()
}

const depthMax = 512
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ended = Symbol('break')

/** The item that fills the bytes exactly; undefined when they are anything else. */
export function readCbor(bytes: Uint8Array): { value: CborValue } | undefined {
  const place = { bytes, at: 0 }
  try {
    const value = readItem(place, 0)
    return value === ended || place.at !== bytes.length ? undefined : { value }
  } catch {
    return undefined
  }
}

function take(place: Place, count: number): Uint8Array {
  const end = place.at + count
  if (end > place.bytes.length) refuse()
  const part = place.bytes.subarray(place.at, end)
  place.at = end
  return part
}

function readItem(place: Place, depth: number): CborValue | typeof ended {
  const [first = 0] = take(place, 1)
  const [major, low] = [first >> 5, first & 31]
  if (major === 7) return readSimple(place, low)
  const length = low === 31 ? undefined : readCount(place, low)
  if (major === 4 || major === 5) {
    if (depth >= depthMax) refuse()
    const items = readItems(place, length === undefined ? undefined : Number(length) * (major - 3), depth + 1)
    return major === 4 ? items : toMap(items)
  }
  // A tag, and a string in pieces.
  if (length === undefined || major === 6) return refuse()
  if (major === 0) return toNumber(length)
  if (major === 1) return toNumber(-1n - length)
  const part = take(place, Number(length))
  return major === 2 ? part : utf8.decode(part)
}

const toNumber = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value)

function readCount(place: Place, low: number): bigint {
  if (low < 24) return BigInt(low)
  if (low > 27) return refuse()
  return take(place, 2 ** (low - 24)).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
}

function readSimple(place: Place, low: number): CborValue | typeof ended {
  if (low === 31) return ended
  if (low >= 25 && low <= 27) return take(place, 2 ** (low - 24)).length > 0 ? Number.NaN : refuse()
  if (low < 20 || low > 23) return refuse()
  return [false, true, null, undefined][low - 20]
}

/** The items of a list or map: as many as its length says, or all up to a break. */
function readItems(place: Place, count: number | undefined, depth: number): CborValue[] {
  const items: CborValue[] = []
  while (count === undefined || items.length < count) {
    const item = readItem(place, depth)
    if (item === ended) return count === undefined ? items : refuse()
    items.push(item)
  }
  return items
}

function toMap(items: readonly CborValue[]): Map<CborValue, CborValue> {
  const map = new Map<CborValue, CborValue>()
  for (let at = 0; at < items.length; at += 2) {
    if (at + 1 === items.length || map.has(items[at])) refuse()
    map.set(items[at], items[at + 1])
  }
  return map
}
