/** What a CBOR item reads as: maps keep their order and their keys, byte strings stay bytes. */
export type CborValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Uint8Array
  | CborValue[]
  | Map<CborValue, CborValue>

const depthMax = 500
const indefinite = 31

/**
 * One CBOR item (RFC 8949) that fills the bytes exactly. Undefined for anything else: truncated, followed by more,
 * repeated keys, tags, chunked strings, text that is not UTF-8, or nested too deep. Never throws.
 */
export function decodeCbor(bytes: Uint8Array): { value: CborValue } | undefined {
  const reader = new Reader(bytes)
  const value = reader.readItem(0)
  return reader.failed || reader.at !== bytes.length ? undefined : { value }
}

const breakItem = Symbol('break')

class Reader {
  at = 0
  failed = false
  constructor(private readonly bytes: Uint8Array) {}

  readItem(depth: number): CborValue {
    const value = this.read(depth)
    if (value === breakItem) return this.fail()
    return value
  }

  private read(depth: number): CborValue | typeof breakItem {
    const first = this.bytes[this.at]
    if (first === undefined || depth > depthMax) return this.fail()
    this.at += 1
    const major = first >> 5
    const short = first & 31
    if (major === 7) return this.readSimple(short)
    if (short === indefinite) return major === 4 || major === 5 ? this.readMany(major, undefined, depth) : this.fail()
    const count = this.readCount(short)
    if (count === undefined) return this.fail()
    switch (major) {
      case 0:
        return toInteger(count)
      case 1:
        return toInteger(-1n - count)
      case 2:
        return this.take(count)
      case 3: {
        const text = this.take(count)
        return text && this.readText(text)
      }
      case 4:
      case 5:
        return this.readMany(major, count, depth)
      default:
        return this.fail()
    }
  }

  private readMany(major: number, count: bigint | undefined, depth: number): CborValue {
    const items: CborValue[] = []
    const wanted = count === undefined ? undefined : count * (major === 5 ? 2n : 1n)
    if (wanted !== undefined && wanted > BigInt(this.bytes.length)) return this.fail()
    while (!this.failed && (wanted === undefined || BigInt(items.length) < wanted)) {
      const item = this.read(depth + 1)
      if (item !== breakItem) items.push(item)
      else if (wanted === undefined) break
      else return this.fail()
    }
    if (this.failed) return undefined
    return major === 4 ? items : this.toMap(items)
  }

  private toMap(items: readonly CborValue[]): CborValue {
    const map = new Map<CborValue, CborValue>()
    if (items.length % 2 === 1) return this.fail()
    for (let i = 0; i < items.length; i += 2) {
      if (map.has(items[i])) return this.fail()
      map.set(items[i], items[i + 1])
    }
    return map
  }

  private readSimple(short: number): CborValue | typeof breakItem {
    if (short === 20 || short === 21) return short === 21
    if (short === 22) return null
    if (short === 23) return undefined
    if (short === indefinite) return breakItem
    const width = { 25: 2, 26: 4, 27: 8 }[short]
    const part = width === undefined ? undefined : this.take(BigInt(width))
    if (!part) return this.fail()
    const view = new DataView(part.buffer, part.byteOffset, part.length)
    if (width === 8) return view.getFloat64(0)
    return width === 4 ? view.getFloat32(0) : readHalf(view.getUint16(0))
  }

  private readCount(short: number): bigint | undefined {
    if (short < 24) return BigInt(short)
    const width = { 24: 1, 25: 2, 26: 4, 27: 8 }[short]
    const part = width === undefined ? undefined : this.take(BigInt(width))
    return part?.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  }

  private take(count: bigint): Uint8Array | undefined {
    if (count > BigInt(this.bytes.length - this.at)) {
      this.failed = true
      return undefined
    }
    const part = this.bytes.subarray(this.at, this.at + Number(count))
    this.at += Number(count)
    return part
  }

  private readText(bytes: Uint8Array): CborValue {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      return this.fail()
    }
  }

  private fail(): undefined {
    this.failed = true
    return undefined
  }
}

function toInteger(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function readHalf(bits: number): number {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  const sign = bits >> 15 ? -1 : 1
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** What can be written. */
export type CborInput = string | number | Uint8Array | readonly CborInput[] | { readonly [key: string]: CborInput }

/** CBOR with the shortest lengths and map keys ordered by length, then bytes. Throws RangeError on a fraction. */
export function encodeCbor(value: CborInput): Uint8Array {
  if (typeof value === 'string') return withHead(3, new TextEncoder().encode(value))
  if (value instanceof Uint8Array) return withHead(2, value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new RangeError('only whole numbers can be written')
    return value < 0 ? head(1, -1 - value) : head(0, value)
  }
  if (isList(value)) return join(head(4, value.length), ...value.map(encodeCbor))
  const entries = Object.entries(value)
    .map(([key, item]) => ({ key: encodeCbor(key), item: encodeCbor(item) }))
    .sort((a, b) => a.key.length - b.key.length || compareBytes(a.key, b.key))
  return join(head(5, entries.length), ...entries.flatMap(({ key, item }) => [key, item]))
}

function isList(value: CborInput): value is readonly CborInput[] {
  return Array.isArray(value)
}

function withHead(major: number, bytes: Uint8Array): Uint8Array {
  return join(head(major, bytes.length), bytes)
}

function head(major: number, count: number): Uint8Array {
  if (count < 24) return Uint8Array.of((major << 5) | count)
  const width = count < 256 ? 1 : count < 65_536 ? 2 : count < 4_294_967_296 ? 4 : 8
  const bytes = new Uint8Array(1 + width)
  bytes[0] = (major << 5) | (24 + Math.log2(width))
  for (let i = width, left = BigInt(count); i > 0; i--, left >>= 8n) bytes[i] = Number(left & 255n)
  return bytes
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Bytes one after the other. */
export function join(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
