/** A value as RLP writes it: bytes, or a list of values. */
export type RlpValue = Uint8Array | readonly RlpValue[]

/** The bytes of a value in RLP. */
export function encodeRlp(value: RlpValue): Uint8Array {
  if (value instanceof Uint8Array)
    return value.length === 1 && (value[0] ?? 0) < 0x80 ? value : join(prefix(0x80, value.length), [value])
  const parts = value.map(encodeRlp)
  return join(prefix(0xc0, sizeOf(parts)), parts)
}

function prefix(base: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length)
  const size = numberBytes(length)
  return Uint8Array.of(base + 55 + size.length, ...size)
}

function numberBytes(value: number): number[] {
  const bytes: number[] = []
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256)
  return bytes
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
