import { joinSum, openDivision, openSum, scaleSum } from '../../derive/usdDays.js'
import { daySeconds } from '../../kernel/clock.js'
import { type Database, inTransaction, type Queryable, type Transaction } from '../../postgres/pool.js'
import type { ChainContext } from '../../rpc/chains.js'
import { stepSeconds } from './storeSteps.js'
import {
  type CountedDay,
  type DaySums,
  type DueVault,
  dropMarkedDays,
  listDueVaults,
  listMarkedVaults,
  listMissingDays,
  listVaultDistributors,
  recordDays,
} from './storeUsdDaySums.js'
import { listCountedReach, type Piece, type PieceSums, sumPieces } from './usdDays.js'

/** How long one run goes on, so that a service that stops does not wait for it. */
const runMs = 3_000
/** Days of a vault that one transaction counts. */
const daysAtOnce = 31
const stepsOfDay = daySeconds / stepSeconds
const dayMs = daySeconds * 1_000

/**
 * Counts USD-days of whole days ahead, for a moment: of days that every block is confirmed of, and again of those that facts
 * changed of. The next run goes on where this one ended. Returns whether any day is left.
 */
export async function runUsdDays(
  { db, clock, chains }: Pick<ChainContext, 'db' | 'clock' | 'chains'>,
  options: { runMs?: number } = {},
): Promise<boolean> {
  const endMs = clock.monotonicMs() + (options.runMs ?? runMs)
  // Vaults whose price follows from a share are marked in its place, so there may be others afterwards.
  for (let marked = await listMarkedVaults(db); marked.length > 0; marked = await listMarkedVaults(db)) {
    if (clock.monotonicMs() >= endMs) return true
    for (const vaultId of marked) await inSnapshot(db, (tx) => dropMarkedDays(tx, vaultId))
  }
  for (;;) {
    const due = await listDueVaults(db, await listEnds(db, [...chains.keys()]))
    if (due.length === 0) return false
    for (const vault of due) {
      if (clock.monotonicMs() >= endMs) return true
      await countVault(db, vault)
    }
  }
}

/** The first day of each chain that is not known to its end. */
async function listEnds(db: Queryable, chainIds: readonly number[]): Promise<{ chainId: number; end: number }[]> {
  const reach = await listCountedReach(db, chainIds)
  return [...reach.values()].flatMap(({ chainId, confirmedAt }) =>
    confirmedAt ? [{ chainId, end: Math.floor(confirmedAt.getTime() / dayMs) }] : [],
  )
}

/**
 * In one transaction that sees one instant: what is changed meanwhile is marked by a row that this one does not see, and so
 * does not remove.
 */
const inSnapshot = <T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  inTransaction(db, async (tx) => {
    await tx`set transaction isolation level repeatable read`
    return work(tx)
  })

/** Counts some days of a vault, the newest first. */
function countVault(db: Database, vault: DueVault): Promise<void> {
  const { vaultId, chainId, first } = vault
  return inSnapshot(db, async (tx) => {
    await dropMarkedDays(tx, vaultId)
    const [known] = await listEnds(tx, [chainId])
    const missing = await listMissingDays(tx, { vaultId, first, end: known?.end ?? first, limit: daysAtOnce })
    const distributors = await listVaultDistributors(tx, vaultId)
    // Distributors of one day lie together: they share its prices.
    const pieces = missing.flatMap((day) =>
      distributors.map((distributorId): Piece & { day: number } => {
        return { distributorId, vault, day, bounds: listDayBounds(day) }
      }),
    )
    const found = await sumPieces(tx, pieces)
    const days = missing.map((day, place) => toDay(vaultId, day, found[place * distributors.length]))
    const sums = pieces.flatMap(({ distributorId, day }, place) =>
      toSums({ distributorId, vaultId, day }, vault, found[place]),
    )
    await recordDays(tx, { days, sums })
  })
}

const listDayBounds = (day: number): number[] =>
  Array.from({ length: stepsOfDay + 1 }, (_, step) => day * dayMs + step * stepSeconds * 1_000)

function toDay(vaultId: number, day: number, found: PieceSums | undefined): CountedDay {
  if (!found) throw new Error('a day was asked for and not counted')
  const { isAwaited, bases, falls } = found
  return { vaultId, day, isAwaited, bases, falls }
}

/** A day on which a distributor has nothing, and misses nothing, leaves no row. */
function toSums(
  of: Pick<DaySums, 'distributorId' | 'vaultId' | 'day'>,
  { assetDecimals }: DueVault,
  found: PieceSums | undefined,
): DaySums[] {
  const stretches = found?.stretches ?? []
  const whole = openSum()
  for (const sum of stretches) joinSum(whole, sum)
  const { scale, value: total, unpricedMs, unguardedMs } = whole
  if (total === 0n && unpricedMs === 0 && unguardedMs === 0) return []
  const sums = stretches.map((sum) => scaleSum(sum, scale))
  const divide = openDivision(assetDecimals)
  const cuts = sums.map((sum) => divide(sum, scale))
  return [{ ...of, scale, total, unpricedMs, unguardedMs, sums, cuts }]
}
