/** Numbers that are the same for the same seed. */
export type Random = ReturnType<typeof startRandom>

export function startRandom(seed: number) {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    below,
    chance: (share: number): boolean => next() < share,
    pick: <T>(list: readonly T[]): T => list[below(list.length)]!,
    between: (low: number, high: number): bigint => BigInt(low + below(high - low + 1)),
  }
}
