import { setImmediate as nextTurn } from 'node:timers/promises'
import { countStaged, type Fall, listFalls } from '../../derive/paidPrice.js'
import {
  computeLeast,
  joinSum,
  type Level,
  openCut,
  openSum,
  type Span,
  sumUsdDays,
  type UsdDays,
  type UsdSum,
  withholdPrices,
} from '../../derive/usdDays.js'
import { daySeconds } from '../../kernel/clock.js'
import { groupBy } from '../../kernel/groups.js'
import type { Queryable } from '../../postgres/pool.js'
import { listWithheldTimes } from '../../snapshots/index.js'
import { listReach, type Reach } from '../../sync/storeDepths.js'
import { type BasedValues, listPaidValues, type PaidValues, toLevels } from '../paid/index.js'
import { shareMints } from '../positions/index.js'
import { metrics } from './projection.js'
import { listLotLevels, listShares } from './storeUsdDays.js'

/** A vault as USD-days in it are counted. */
export type CountedShare = { vaultId: number; chainId: number; assetDecimals: number }

/** USD-days of a distributor in a vault over a range, and in each stretch between two neighbours of its bounds. */
export type VaultUsdDays = {
  total: UsdDays
  stretches: readonly UsdDays[]
  /** Snapshots in force in the range after which the paid price fell by more than `stagedBps`. */
  staged: number
  /** A block at which the share price has to be read was not tried yet. */
  isAwaited: boolean
  /** The newest snapshot before the end of the range. */
  last: PaidValues['snapshots'][number] | undefined
}

/** A distributor in a vault, between bounds in unix milliseconds and in order. */
export type Piece = { distributorId: string; vault: CountedShare; bounds: readonly number[] }

/** The USD-days of a piece before they are cut. */
export type PieceSums = {
  stretches: readonly UsdSum[]
  falls: readonly Fall[]
  isAwaited: boolean
  last: PaidValues['snapshots'][number] | undefined
  /** Vaults whose shares the price of the asset follows from. */
  bases: readonly number[]
}

/** Most days of the pieces that one set of statements reads, so that little is in memory at once. */
const daysAtOnce = 64
/** Sets of one request that are read side by side. */
const setsAtOnce = 2

/** How far the rows are known that USD-days rest on, by chain; a chain that is not read is left out. */
export async function listCountedReach(
  db: Queryable,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, Reach>> {
  const projections = [metrics.name, shareMints.name]
  return new Map((await listReach(db, { chainIds, projections })).map((reach) => [reach.chainId, reach]))
}

/**
 * USD-days of a distributor in each of some vaults, in their order (docs/methodology.md, R3): exact, cut once for each vault and
 * stretch. `boundsOf` gives the bounds of the stretches on a chain, in unix milliseconds and in order, at most as far as the rows
 * are known there.
 */
export async function readUsdDays<Vault extends CountedShare>(
  db: Queryable,
  ask: {
    distributorId: string
    vaults: readonly Vault[]
    boundsOf: (chainId: number) => readonly number[]
    stagedBps: number
  },
): Promise<{ vault: Vault; found: VaultUsdDays }[]> {
  const { distributorId, vaults, boundsOf, stagedBps } = ask
  const pieces = vaults.map((vault) => ({ distributorId, vault, bounds: boundsOf(vault.chainId) }))
  const found = await sumPieces(db, pieces)
  return vaults.flatMap((vault, place) => {
    const own = found[place]
    return own ? [{ vault, found: cutPiece(own, vault, stagedBps) }] : []
  })
}

function cutPiece(
  { stretches, falls, isAwaited, last }: PieceSums,
  { assetDecimals }: CountedShare,
  stagedBps: number,
): VaultUsdDays {
  const [whole, cut] = [openSum(), openCut(assetDecimals)]
  for (const sum of stretches) joinSum(whole, sum)
  const staged = countStaged(falls, BigInt(stagedBps))
  return { total: cut(whole), stretches: stretches.map(cut), staged, isAwaited, last }
}

/** The exact sums of pieces, in their order, by the facts of their vaults. */
export async function sumPieces(db: Queryable, pieces: readonly Piece[]): Promise<PieceSums[]> {
  const withheld = new Map<number, readonly Span[]>()
  for (const [chainId, own] of groupBy(pieces, ({ vault }) => vault.chainId)) {
    const ids = [...new Set(own.map(({ vault }) => vault.vaultId))]
    for (const [vaultId, spans] of await listWithheldTimes(db, chainId, ids)) withheld.set(vaultId, spans)
  }
  const rows: PieceSums[] = []
  const sets = splitPieces(pieces).values()
  const work = async () => {
    for (const { first, own } of sets)
      for (const [place, found] of (await sumSet(db, own, withheld)).entries()) rows[first + place] = found
  }
  await Promise.all(Array.from({ length: setsAtOnce }, work))
  return rows
}

function splitPieces(pieces: readonly Piece[]): { first: number; own: Piece[] }[] {
  const sets: { first: number; own: Piece[] }[] = []
  let days = 0
  pieces.forEach((piece, place) => {
    const before = pieces[place - 1]
    const added = before && isSameRange(before, piece) ? 0 : daysOf(piece)
    const last = sets.at(-1)
    if (last && days + added <= daysAtOnce) {
      last.own.push(piece)
      days += added
      return
    }
    sets.push({ first: place, own: [piece] })
    days = daysOf(piece)
  })
  return sets
}

const daysOf = ({ bounds }: Piece) => ((bounds.at(-1) ?? 0) - (bounds[0] ?? 0)) / (daySeconds * 1_000)

const isSameRange = (one: Piece, other: Piece) =>
  one.vault.vaultId === other.vault.vaultId && one.bounds[0] === other.bounds[0] && daysOf(one) === daysOf(other)

const rangeOf = ({ bounds }: Piece) => ({ from: new Date(bounds[0] ?? 0), to: new Date(bounds.at(-1) ?? 0) })

async function sumSet(
  db: Queryable,
  pieces: readonly Piece[],
  withheld: ReadonlyMap<number, readonly Span[]>,
): Promise<PieceSums[]> {
  const asked = pieces.map((piece) => ({
    ...{ vaultId: piece.vault.vaultId, distributorId: piece.distributorId, ...rangeOf(piece) },
  }))
  // Distributors of one vault share its prices.
  const keyOf = (place: number) =>
    `${asked[place]?.vaultId} ${asked[place]?.from.getTime()} ${asked[place]?.to.getTime()}`
  const ranges = new Map(asked.map((range, place) => [keyOf(place), range]))
  const [shares, paid] = await Promise.all([
    listShares(db, asked),
    listPaidValues(db, [...ranges.values()], { carries: false }),
  ])
  const paidOf = new Map([...ranges.keys()].map((key, place) => [key, paid[place]]))
  const found: PieceSums[] = []
  for (const [place, piece] of pieces.entries()) {
    // Counting a piece takes the processor for a while. Other requests are answered in between.
    await nextTurn()
    const values = paidOf.get(keyOf(place))
    if (!values) throw new Error('a vault was asked for and not read')
    const levels = (shares[place] ?? []).map((each) => ({ atMs: each.at.getTime(), value: BigInt(each.shares) }))
    found.push(await sumPiece(db, piece, { levels, values, spans: withheld.get(piece.vault.vaultId) ?? [] }))
  }
  return found
}

async function sumPiece(
  db: Queryable,
  piece: Piece,
  { levels, values: paid, spans }: { levels: readonly Level<bigint>[]; values: BasedValues; spans: readonly Span[] },
): Promise<PieceSums> {
  const { from, to } = rangeOf(piece)
  const { values, snapshots, steps, awaited, bases } = paid
  const stretches = sumUsdDays({
    shares: levels,
    least: values.every(({ isGuarded }) => isGuarded) ? [] : await readLeast(db, { ...piece, to }, snapshots),
    prices: withholdPrices(toLevels(values), spans),
    bounds: piece.bounds,
  })
  const falls = listFalls(steps, { fromMs: from.getTime(), toMs: to.getTime() })
  return { stretches, falls, isAwaited: awaited.length > 0, last: snapshots.findLast(({ at }) => at < to), bases }
}

/** The shares of a distributor that count where no price guards them. */
async function readLeast(
  db: Queryable,
  { distributorId, vault, to }: Piece & { to: Date },
  snapshots: PaidValues['snapshots'],
): Promise<readonly Level<bigint>[]> {
  const changes = await listLotLevels(db, { vaultId: vault.vaultId, distributorId, to })
  return computeLeast(
    changes.map(({ at, wallet, after }) => ({ atMs: at.getTime(), key: wallet, after: BigInt(after) })),
    snapshots.map(({ at }) => at.getTime()),
  )
}
