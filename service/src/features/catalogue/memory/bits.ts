/** A set of positions 0 … size−1, one bit each. */
export type Bits = { readonly size: number; readonly words: Uint32Array }

export function emptyBits(size: number): Bits {
  return { size, words: new Uint32Array(Math.ceil(size / 32)) }
}

export function fullBits(size: number): Bits {
  const bits = { size, words: new Uint32Array(Math.ceil(size / 32)).fill(0xffffffff) }
  const rest = size % 32
  if (rest > 0) bits.words[bits.words.length - 1] = 2 ** rest - 1
  return bits
}

export function setBit({ words }: Bits, position: number): void {
  words[position >>> 5] = (words[position >>> 5] ?? 0) | (1 << (position & 31))
}

export function hasBit({ words }: Bits, position: number): boolean {
  return ((words[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0
}

/** Keeps in `bits` what is in `other` too. */
export function keepOnly(bits: Bits, other: Bits): void {
  for (let index = 0; index < bits.words.length; index++)
    bits.words[index] = (bits.words[index] ?? 0) & (other.words[index] ?? 0)
}

/** Keeps in `bits` what is not in `other`. */
export function remove(bits: Bits, other: Bits): void {
  for (let index = 0; index < bits.words.length; index++)
    bits.words[index] = (bits.words[index] ?? 0) & ~(other.words[index] ?? 0)
}

/** Keeps in `bits` what is in any of the others. */
export function keepAny(bits: Bits, others: readonly Bits[]): void {
  for (let index = 0; index < bits.words.length; index++) {
    let any = 0
    for (const other of others) any |= other.words[index] ?? 0
    bits.words[index] = (bits.words[index] ?? 0) & any
  }
}

/** Keeps the positions whose text has `part` in it; only those still in are looked at. */
export function keepContaining(bits: Bits, texts: readonly string[], part: string): void {
  for (let index = 0; index < bits.words.length; index++) {
    let kept = 0
    for (let rest = bits.words[index] ?? 0; rest !== 0; rest &= rest - 1) {
      const bit = 31 - Math.clz32(rest & -rest)
      if (texts[index * 32 + bit]?.includes(part)) kept |= 1 << bit
    }
    bits.words[index] = kept
  }
}

/** Keeps the positions whose text is `text`; only those still in are looked at. */
export function keepEqual(bits: Bits, texts: readonly string[], text: string): void {
  for (let index = 0; index < bits.words.length; index++) {
    let kept = 0
    for (let rest = bits.words[index] ?? 0; rest !== 0; rest &= rest - 1) {
      const bit = 31 - Math.clz32(rest & -rest)
      if (texts[index * 32 + bit] === text) kept |= 1 << bit
    }
    bits.words[index] = kept
  }
}

/** Keeps the positions whose value is at least `min` and at most `max`. */
export function keepBetween(bits: Bits, values: Float64Array, min: number, max: number): void {
  for (let index = 0; index < bits.words.length; index++) {
    let kept = 0
    for (let rest = bits.words[index] ?? 0; rest !== 0; rest &= rest - 1) {
      const bit = 31 - Math.clz32(rest & -rest)
      const value = values[index * 32 + bit] ?? Number.NaN
      if (value >= min && value <= max) kept |= 1 << bit
    }
    bits.words[index] = kept
  }
}

export function countBits({ words }: Bits): number {
  let count = 0
  for (const word of words) {
    let bits = word - ((word >>> 1) & 0x55555555)
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
    count += (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
  }
  return count
}
