import { countStaged } from '../../derive/paidPrice.js'
import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import { daySeconds, formatTs } from '../../kernel/clock.js'
import { invalidArgument } from '../../kernel/errors.js'
import { listOutstanding } from '../../snapshots/index.js'
import { findVaultKind } from '../../vaults/index.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { type Buckets, startsOf } from './buckets.js'
import type { SeriesVault } from './storeVaults.js'
import { type Tally, tallyVaults } from './tallyUsdDays.js'
import { listCountedReach } from './usdDays.js'

type Range = { from: Date; to: Date }

/** Most vaults × days of one request: a few seconds of processor time. */
const vaultDaysMax = 2_000

/** USD-days as they are served: those of each bucket, cut to the range, and those of the range. */
export type UsdDaysSeries = {
  points: string[]
  summary: {
    total: string
    to: string
    isFinal: boolean
    unpricedSeconds: number
    unguardedSeconds: number
    staged: number
  }
}

/**
 * USD-days of a distributor in vaults, in each bucket of a range and in all of it. Each chain counts up to its newest confirmed
 * block; `chainIds` are those that lots of the distributor may come from. @throws EarnError 400 for too many vaults × days.
 */
export async function readUsdDaysSeries(
  { db, config }: Pick<CatalogueContext, 'db' | 'config'>,
  ask: {
    distributorId: string
    vaults: readonly SeriesVault[]
    chainIds: readonly number[]
    range: Range
    buckets: Buckets
  },
): Promise<UsdDaysSeries> {
  const { distributorId, chainIds, range, buckets } = ask
  assertBounded(ask.vaults.length, range)
  const bounds = listBounds(range, buckets)
  const reach = await listCountedReach(db, chainIds)
  const endOf = (chainId: number) => clamp(reach.get(chainId)?.confirmedAt?.getTime(), range)
  const vaults = ask.vaults.map(({ id: vaultId, chainId, assetDecimals }) => ({ vaultId, chainId, assetDecimals }))
  const found = await tallyVaults(db, { distributorId, vaults, bounds, step: buckets.step, endOf })
  const finalMs = (id: number) => reach.get(id)?.finalAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const isDeep = chainIds.every((id) => finalMs(id) >= range.to.getTime())
  const isFinal = isDeep && found.every(({ isAwaited }) => !isAwaited) && !(await isOutstanding(db, vaults, range))
  return {
    points: sumStretches(found, bounds.length - 1).map((sum) => formatUnits(sum, usdDecimals)),
    summary: {
      total: sumCut(found.map(({ total }) => total)),
      to: formatTs(new Date(chainIds.reduce((least, id) => Math.min(least, endOf(id)), range.to.getTime()))),
      isFinal,
      unpricedSeconds: sumSeconds(found, 'unpricedMs'),
      unguardedSeconds: sumSeconds(found, 'unguardedMs'),
      staged: found.reduce((sum, { falls }) => sum + countStaged(falls, BigInt(config.stagedBps)), 0),
    },
  }
}

function assertBounded(vaults: number, { from, to }: Range): void {
  const asked = Math.ceil((vaults * (to.getTime() - from.getTime())) / (daySeconds * 1_000))
  if (asked > vaultDaysMax)
    throw invalidArgument(
      `USD-days are counted for at most ${vaultDaysMax} vaults × days at once, these are ${asked}: name opportunities, or ask for a shorter range`,
    )
}

/** The bounds of the buckets of a range, cut to it. */
function listBounds({ from, to }: Range, buckets: Buckets): number[] {
  const [, ...inner] = startsOf(buckets).map((at) => at.getTime())
  return [from.getTime(), ...inner, to.getTime()]
}

/** An instant within a range; nothing of a chain that is not read counts. */
const clamp = (atMs: number | undefined, { from, to }: Range) =>
  Math.max(from.getTime(), Math.min(atMs ?? from.getTime(), to.getTime()))

/** Whether a snapshot of a range is still to be read. Of a vault of another kind there is nothing to read. */
async function isOutstanding(
  db: CatalogueContext['db'],
  vaults: readonly { vaultId: number }[],
  range: Range,
): Promise<boolean> {
  const open = await listOutstanding(db, { vaultIds: vaults.map(({ vaultId }) => vaultId), ...range })
  return open.some(({ kind }) => findVaultKind(kind)?.readFigures !== undefined)
}

/** The sums of tallies, stretch by stretch. */
function sumStretches(found: readonly Tally[], count: number): bigint[] {
  const sums = new Array<bigint>(count).fill(0n)
  for (const { stretches } of found)
    for (let index = 0; index < count; index++) sums[index] = (sums[index] ?? 0n) + (stretches[index] ?? 0n)
  return sums
}

const sumCut = (parts: readonly bigint[]): string =>
  formatUnits(
    parts.reduce((sum, part) => sum + part, 0n),
    usdDecimals,
  )

const sumSeconds = (found: readonly Tally[], member: 'unpricedMs' | 'unguardedMs'): number =>
  Math.floor(found.reduce((sum, own) => sum + own[member], 0) / 1_000)
