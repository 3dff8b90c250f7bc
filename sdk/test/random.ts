export type Random = () => number

/** xorshift32: small, and the same everywhere. The start is mixed, as near ones would draw alike. */
export function createRandom(start: number): Random {
  let state = Math.imul(start ^ (start >>> 16), 0x45d9f3b)
  state = Math.imul(state ^ (state >>> 16), 0x45d9f3b)
  state = (state ^ (state >>> 16)) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** A whole number from 0 to below `count`. */
export const below = (random: Random, count: number): number => Math.floor(random() * count)

export const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[below(random, items.length)]
  if (item === undefined) throw new RangeError('there is nothing to pick from')
  return item
}
