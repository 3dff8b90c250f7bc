/** A value as RLP writes it: bytes, or a list of values. */
export type RlpValue = Uint8Array | readonly RlpValue[]

/** The bytes of a value in RLP (Ethereum yellow paper, appendix B). */
export function encodeRlp(value: RlpValue): Uint8Array {
  if (value instanceof Uint8Array)
    return value.length === 1 && (value[0] ?? 0) < 0x80 ? value : join(prefix(0x80, value.length), [value])
  const parts = value.map(encodeRlp)
  return join(prefix(0xc0, sizeOf(parts)), parts)
}

/** A number as RLP holds it: big-endian, without leading zeros. */
export function numberBytes(value: number): Uint8Array {
  const bytes: number[] = []
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256)
  return Uint8Array.from(bytes)
}

function prefix(base: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length)
  const size = numberBytes(length)
  return Uint8Array.of(base + 55 + size.length, ...size)
}

const sizeOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, part) => sum + part.length, 0)

function join(head: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(head.length + sizeOf(parts))
  whole.set(head)
  let at = head.length
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Lists inside lists; the deepest form of a block has five. */
const depthMax = 16

/**
 * The value that bytes hold, or undefined if they are not exactly one value in its only form: a length is as short as can
 * be, a small byte stands for itself, and nothing follows. The parts share the memory of the bytes. Never throws.
 */
export function decodeRlp(bytes: Uint8Array): RlpValue | undefined {
  const read = readValue(bytes, 0, bytes.length, 0)
  return read?.end === bytes.length ? read.value : undefined
}

function readValue(
  bytes: Uint8Array,
  at: number,
  limit: number,
  depth: number,
): { value: RlpValue; end: number } | undefined {
  const first = bytes[at]
  if (first === undefined || at >= limit || depth > depthMax) return undefined
  if (first < 0x80) return { value: bytes.subarray(at, at + 1), end: at + 1 }
  const isList = first >= 0xc0
  const span = readSpan(bytes, at, first - (isList ? 0xc0 : 0x80))
  if (!span || span.end > limit) return undefined
  const { start, end } = span
  if (!isList) {
    if (end - start === 1 && (bytes[start] ?? 0) < 0x80) return undefined
    return { value: bytes.subarray(start, end), end }
  }
  const value: RlpValue[] = []
  for (let next = start; next < end; ) {
    const part = readValue(bytes, next, end, depth + 1)
    if (!part) return undefined
    value.push(part.value)
    next = part.end
  }
  return { value, end }
}

/** Where the content of a value stands; `short` is what its first byte says above its kind. */
function readSpan(bytes: Uint8Array, at: number, short: number): { start: number; end: number } | undefined {
  if (short < 56) return { start: at + 1, end: at + 1 + short }
  const start = at + 1 + short - 55
  // Six bytes of length are more than any memory has.
  if (short - 55 > 6 || start > bytes.length || bytes[at + 1] === 0) return undefined
  let length = 0
  for (let index = at + 1; index < start; index++) length = length * 256 + (bytes[index] ?? 0)
  return length < 56 ? undefined : { start, end: start + length }
}
