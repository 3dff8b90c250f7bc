/** From how many shares on a wallet is an LP of a vault, as its catalogue entry says it; absent instants mean the start. */
export type FloorSetting = { shares: string; activeFrom?: string }

/** A stretch of time in which one of a vault's floors decides; unix seconds, `to` excluded. */
export type Era = { level: number; from: number; to: number }

export type Floors = {
  /** The different floors, ascending; a level is a place in this list. */
  levels: readonly bigint[]
  /** Oldest first, from the beginning of time to its end. */
  eras: readonly Era[]
}

/** No instant of a chain is later. */
const never = 2 ** 40

/** The floors of a vault. Without a setting, and before the first, the smallest unit makes an LP. */
export function readFloors(settings: readonly FloorSetting[]): Floors {
  const dated = settings.map(({ shares, activeFrom }) => ({
    shares: BigInt(shares),
    from: activeFrom === undefined ? 0 : Math.ceil(Date.parse(activeFrom) / 1000),
  }))
  // Of two settings of one instant the later in the file counts.
  const known = new Map([[0, 1n], ...dated.map(({ from, shares }) => [Math.max(0, from), shares] as const)])
  const sorted = [...known].sort(([a], [b]) => a - b)
  const levels = [...new Set(sorted.map(([, shares]) => shares))].sort((a, b) => (a < b ? -1 : 1))
  const eras = sorted.map(([from, shares], index) => ({
    level: levels.indexOf(shares),
    from,
    to: sorted[index + 1]?.[0] ?? never,
  }))
  return { levels, eras }
}

/** The floor that decides at an instant, in shares. */
export function floorAt({ levels, eras }: Floors, at: Date): bigint {
  const seconds = Math.floor(at.getTime() / 1_000)
  const era = eras.find(({ from, to }) => from <= seconds && seconds < to)
  return levels[era?.level ?? 0] ?? 1n
}
