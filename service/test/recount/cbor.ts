import { type Digits, sizeOf, slice, textOf } from './bytes.js'

/** A value of CBOR (RFC 8949), as far as an ERC-8021 schema 2 suffix may hold one. */
export type Value =
  | { is: 'text'; text: string }
  | { is: 'bytes'; bytes: Digits }
  | { is: 'map'; entries: [Value, Value][] }
  | { is: 'list'; items: Value[] }
  | { is: 'plain'; value: bigint | boolean | null | 'other' }

const deepest = 64

/** The one item that fills the bytes; undefined when they are anything else. */
export function readCbor(bytes: Digits): Value | undefined {
  const read = readItem(bytes, 0, 0)
  return read && read.end === sizeOf(bytes) ? read.value : undefined
}

type Read = { value: Value; end: number } | undefined

function readItem(bytes: Digits, at: number, depth: number): Read {
  if (at >= sizeOf(bytes) || depth > deepest) return undefined
  const first = Number.parseInt(slice(bytes, at, at + 1), 16)
  const [major, low] = [first >> 5, first & 31]
  if (low === 31) return major === 4 || major === 5 ? readOpen(bytes, at + 1, depth, major) : undefined
  const wide = low < 24 ? 0 : low === 24 ? 1 : low === 25 ? 2 : low === 26 ? 4 : low === 27 ? 8 : -1
  if (wide < 0 || at + 1 + wide > sizeOf(bytes)) return undefined
  const count = wide === 0 ? BigInt(low) : BigInt(`0x${slice(bytes, at + 1, at + 1 + wide)}`)
  const body = at + 1 + wide
  if (major === 0) return { value: { is: 'plain', value: count }, end: body }
  if (major === 1) return { value: { is: 'plain', value: -1n - count }, end: body }
  if (major === 2 || major === 3) return readString(bytes, body, count, major)
  if (major === 4) return readMany(bytes, body, count, depth, false)
  if (major === 5) return readMany(bytes, body, count, depth, true)
  if (major === 7) return readSimple(low, body)
  return undefined
}

function readString(bytes: Digits, body: number, count: bigint, major: 2 | 3): Read {
  const end = body + Number(count)
  if (end > sizeOf(bytes)) return undefined
  const content = slice(bytes, body, end)
  if (major === 2) return { value: { is: 'bytes', bytes: content }, end }
  const text = textOf(content)
  return text === undefined ? undefined : { value: { is: 'text', text }, end }
}

function readSimple(low: number, end: number): Read {
  if (low === 20 || low === 21) return { value: { is: 'plain', value: low === 21 }, end }
  if (low === 22) return { value: { is: 'plain', value: null }, end }
  return low === 23 || low >= 25 ? { value: { is: 'plain', value: 'other' }, end } : undefined
}

function readMany(bytes: Digits, body: number, count: bigint, depth: number, isMap: boolean): Read {
  const items: Value[] = []
  let end = body
  for (let left = count * (isMap ? 2n : 1n); left > 0n; left -= 1n) {
    const read = readItem(bytes, end, depth + 1)
    if (!read) return undefined
    items.push(read.value)
    end = read.end
  }
  return finish(items, end, isMap)
}

/** A list or map without a count, up to its break. */
function readOpen(bytes: Digits, body: number, depth: number, major: 4 | 5): Read {
  const items: Value[] = []
  let end = body
  while (slice(bytes, end, end + 1) !== 'ff') {
    const read = readItem(bytes, end, depth + 1)
    if (!read) return undefined
    items.push(read.value)
    end = read.end
  }
  return finish(items, end + 1, major === 5)
}

function finish(items: Value[], end: number, isMap: boolean): Read {
  if (!isMap) return { value: { is: 'list', items }, end }
  if (items.length % 2 === 1) return undefined
  const entries: [Value, Value][] = []
  for (let i = 0; i < items.length; i += 2) entries.push([items[i]!, items[i + 1]!])
  const keys = entries.map(([key]) => (key.is === 'text' ? `t${key.text}` : key.is === 'plain' ? `p${key.value}` : ''))
  return new Set(keys).size < keys.length ? undefined : { value: { is: 'map', entries }, end }
}
