import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fall } from '../../derive/paidPrice.js'
import { openTally } from '../../derive/tally.js'
import { daySeconds } from '../../kernel/clock.js'
import { groupBy } from '../../kernel/groups.js'
import type { Database } from '../../postgres/pool.js'
import { stepSeconds } from './storeSteps.js'
import { listCountedDays, type StoredDay } from './storeUsdDaySums.js'
import { type CountedShare, type Piece, type PieceSums, sumPieces } from './usdDays.js'

/** USD-days of a distributor in a vault, in units of 10^-18: each cut once. */
export type Tally = {
  total: bigint
  stretches: readonly bigint[]
  unpricedMs: number
  unguardedMs: number
  falls: readonly Fall[]
  isAwaited: boolean
}

const dayMs = daySeconds * 1_000
const stepMs = stepSeconds * 1_000

type Ask = {
  distributorId: string
  vaults: readonly CountedShare[]
  /** Stretches lie between two neighbours: buckets of `step` seconds, the first and the last one cut to the range. */
  bounds: readonly number[]
  step: number
  /** How far a chain is known, in unix milliseconds and within the bounds. */
  endOf: (chainId: number) => number
}

/**
 * USD-days of a distributor in vaults, in their order: whole days by the sums that are stored of them, the rest by the facts. Both
 * are exact before they are cut, so that it makes no difference which days are stored.
 */
export async function tallyVaults(db: Database, ask: Ask): Promise<Tally[]> {
  const { distributorId, vaults, bounds, endOf } = ask
  const stored = groupBy(await listStored(db, ask), ({ vaultId }) => vaultId)
  const pieces = vaults.map((vault) => {
    const days = stored.get(vault.vaultId) ?? []
    const spans = listRest({ fromMs: bounds[0] ?? 0, toMs: endOf(vault.chainId) }, days)
    return spans.map((span): Piece => ({ distributorId, vault, bounds: cutBounds(bounds, span) }))
  })
  const found = await sumPieces(db, pieces.flat())
  const tallies: Tally[] = []
  let place = 0
  for (const [index, vault] of vaults.entries()) {
    const own = pieces[index] ?? []
    const sums = found.slice(place, place + own.length)
    place += own.length
    // Adding thousands of sums takes the processor for a while. Other requests are answered in between.
    await nextTurn()
    tallies.push(tallyVault(ask, vault, { days: stored.get(vault.vaultId) ?? [], pieces: own, sums }))
  }
  return tallies
}

/** The days that are stored: none where a stretch ends within one of 900 s. */
async function listStored(db: Database, { distributorId, vaults, bounds, step, endOf }: Ask): Promise<StoredDay[]> {
  if (step % stepSeconds !== 0) return []
  const from = Math.ceil((bounds[0] ?? 0) / dayMs)
  const spans = vaults.map(({ vaultId, chainId }) => ({ vaultId, from, to: Math.floor(endOf(chainId) / dayMs) }))
  return listCountedDays(db, { distributorId, spans: spans.filter(({ to }) => to > from), isCut: step === stepSeconds })
}

type Span = { fromMs: number; toMs: number }

/** The parts of a span that are in none of some days, which come in order. Pure. */
export function listRest({ fromMs, toMs }: Span, days: readonly { day: number }[]): Span[] {
  const rest: Span[] = []
  let at = fromMs
  for (const { day } of days) {
    if (day * dayMs > at) rest.push({ fromMs: at, toMs: day * dayMs })
    at = (day + 1) * dayMs
  }
  if (at < toMs) rest.push({ fromMs: at, toMs })
  return rest
}

/** Bounds within a span, with its ends. */
const cutBounds = (bounds: readonly number[], { fromMs, toMs }: Span): number[] => [
  fromMs,
  ...bounds.filter((at) => at > fromMs && at < toMs),
  toMs,
]

function tallyVault(
  { bounds, step }: Ask,
  { assetDecimals }: CountedShare,
  { days, pieces, sums }: { days: readonly StoredDay[]; pieces: readonly Piece[]; sums: readonly PieceSums[] },
): Tally {
  const first = Math.floor((bounds[0] ?? 0) / (step * 1_000))
  const placeOf = (atMs: number) => Math.floor(atMs / (step * 1_000)) - first
  const tally = openTally(bounds.length - 1)
  // Of a stretch of 900 s all is stored, or nothing: it is cut already.
  const isCut = step === stepSeconds
  for (const { day, own } of days) {
    if (!own) continue
    tally.miss(own)
    if (isCut) tally.addCut(placeOf(day * dayMs), own.parts, own)
    else
      for (const [index, value] of own.parts.entries())
        tally.add(placeOf(day * dayMs + index * stepMs), value, own.scale)
  }
  for (const [index, { stretches }] of sums.entries())
    for (const [part, sum] of stretches.entries()) {
      tally.miss(sum)
      tally.add(placeOf(pieces[index]?.bounds[part] ?? 0), sum.value, sum.scale)
    }
  return {
    ...tally.cut(assetDecimals),
    falls: [...days, ...sums].flatMap((each) => each.falls),
    isAwaited: [...days, ...sums].some(({ isAwaited }) => isAwaited),
  }
}
