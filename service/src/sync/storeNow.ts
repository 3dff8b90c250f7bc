import type { Context } from '../postgres/context.js'
import type { Queryable } from '../postgres/pool.js'
import { chainTimes } from './storeDepths.js'

/** How far above the wall clock the time of a chain is believed, unless the chain keeps a clock of its own. */
const aheadMsMax = 3_600_000

export type ChainTime = { chainId: number; confirmedAt: Date | null; clock: 'wall' | 'chain' }

/** Finds now on some chains: the latest of them, never before the wall clock. */
export type FindNow = (chainIds: Iterable<number>) => Date

/** The later of the wall clock and the newest confirmed block of a chain, at most an hour above the wall clock. Pure. */
export function laterOf(wall: Date, { confirmedAt, clock }: Pick<ChainTime, 'confirmedAt' | 'clock'>): Date {
  if (confirmedAt === null || confirmedAt <= wall) return wall
  return clock === 'chain' ? confirmedAt : new Date(Math.min(confirmedAt.getTime(), wall.getTime() + aheadMsMax))
}

/** Reads what now is on each chain (docs/methodology.md, H8), or on those that are named. */
export async function readNows(
  { db, clock }: Pick<Context, 'clock'> & { db: Queryable },
  chainIds?: readonly number[],
): Promise<FindNow> {
  const wall = clock.now()
  const asked = chainIds ? [...chainIds] : null
  const rows = await db<ChainTime[]>`
    select chain_id as "chainId", clock, confirmed_at as "confirmedAt" from ${chainTimes(db)} t
    where ${asked}::bigint[] is null or chain_id = any(${asked}::bigint[])`
  const nows = new Map(rows.map((row) => [row.chainId, laterOf(wall, row)]))
  return (of) => {
    const own = [...of].map((id) => nows.get(id)?.getTime() ?? 0)
    return new Date(Math.max(wall.getTime(), ...own))
  }
}

/** Reads what now is on a chain. */
export async function readNow(ctx: Pick<Context, 'clock'> & { db: Queryable }, chainId: number): Promise<Date> {
  return (await readNows(ctx, [chainId]))([chainId])
}
