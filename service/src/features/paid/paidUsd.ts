import { groupBy } from '../../kernel/groups.js'
import type { Queryable } from '../../postgres/pool.js'
import { listShareObservations } from '../../prices/index.js'
import { computeShareUsd } from '../../snapshots/index.js'
import { type PaidPrices, readPaidPrices } from './paidSteps.js'
import { findShareVault, type ShareUnits, type SnapshotRow } from './storePaid.js'

/** A price of a token that was chosen for a span of time, in unix milliseconds: the end is not part of it. */
export type ChosenUsd = { fromMs: number; toMs: number; priceUsd: string | null; observationId: number | null }

/** A price from an instant on. `isGuarded` false: a price of a share it follows from is not guarded. */
export type UsdStep = { atMs: number; priceUsd: string | null; isGuarded: boolean }

/** A price of a share that follows from that of another share, and so on; the import refuses a circle. */
const depthMax = 8

type ShareObservation = Awaited<ReturnType<typeof listShareObservations>>[number]

/** Where the shares are found that a price follows from. */
export type ShareLookup = {
  /** Those of some observations that follow from the price of a share. */
  listObservations(ids: readonly number[]): Promise<readonly ShareObservation[]>
  /** The paid price of a vault (lower-case) in a range, as if the rule always held; undefined: there is no such vault. */
  readShare(ask: { chainId: number; vault: string; from: Date; to: Date }): Promise<FoundShare | undefined>
}

export type FoundShare = { paid: PaidPrices; units: ShareUnits }

/** Looks shares up in the database. `onShare` is told of each vault whose share a price follows from. */
export const openShareLookup = (db: Queryable, onShare?: (vaultId: number) => void): ShareLookup => ({
  listObservations: (ids) => listShareObservations(db, ids),
  readShare: async ({ chainId, vault, from, to }) => {
    const found = await findShareVault(db, { chainId, address: vault })
    if (!found) return undefined
    const { vaultId, ...units } = found
    onShare?.(vaultId)
    return { paid: await readPaidPrices(db, { vaultId, from, to, skipsDust: false }), units }
  },
})

/**
 * The steps of chosen prices where money is paid by them, in the order of the choices. One that follows from a vault's share
 * falls with the paid price of that share, and rises again with the next choice only. Others stay as they were chosen.
 */
export async function listPaidUsd(
  lookup: ShareLookup,
  chosen: readonly ChosenUsd[],
  depth = depthMax,
): Promise<UsdStep[][]> {
  const ids = [...new Set(chosen.flatMap(({ observationId }) => observationId ?? []))]
  const observations = new Map((await lookup.listObservations(ids)).map((each) => [each.id, each]))
  const found = chosen.map(stay)
  if (observations.size === 0) return found
  if (depth === 0) throw new Error('prices of shares follow from each other in a circle: correct the sources of tokens')
  const places = chosen.flatMap((each, place) => {
    const observation = each.observationId === null ? undefined : observations.get(each.observationId)
    return observation && each.priceUsd !== null ? [{ ...each, place, observation }] : []
  })
  for (const own of groupBy(places, ({ observation: { chainId, vault } }) => `${chainId} ${vault}`).values())
    for (const { place, steps } of await lowerByShare(lookup, own, depth)) found[place] = steps
  return found
}

const stay = ({ fromMs, priceUsd }: ChosenUsd): UsdStep[] => [{ atMs: fromMs, priceUsd, isGuarded: true }]

type Placed = ChosenUsd & { place: number; observation: ShareObservation }

/** The steps of choices that follow from the share of one vault. */
async function lowerByShare(lookup: ShareLookup, own: readonly Placed[], depth: number) {
  const from = new Date(
    own.reduce((least, { observation }) => Math.min(least, observation.at.getTime()), Number.POSITIVE_INFINITY),
  )
  const to = new Date(own.reduce((most, { toMs }) => Math.max(most, toMs), 0))
  const { chainId, vault } = own[0]?.observation ?? { chainId: 0, vault: '' }
  const share = await lookup.readShare({ chainId, vault, from, to })
  if (!share) return []
  const { paid, units } = share
  const snapshots = new Map(paid.snapshots.map((row) => [row.at.getTime(), row]))
  const based = own.flatMap((each) => {
    const snapshot = snapshots.get(each.observation.at.getTime())
    // Prices of it do not change where the snapshot is gone: an orphaned one prices nothing.
    return snapshot ? [{ ...each, snapshot }] : []
  })
  const assets = await listPaidUsd(
    lookup,
    based.map(({ toMs, snapshot: { at, priceUsd, observationId } }) => ({
      ...{ fromMs: at.getTime(), toMs, priceUsd, observationId },
    })),
    depth - 1,
  )
  return based.map((each, index) => ({
    place: each.place,
    steps: lower(each, { paid, units, assets: assets[index] ?? [] }),
  }))
}

type Based = Placed & { snapshot: SnapshotRow }

/** The steps of one choice: the lowest paid price of the share since its snapshot, times that of the asset. */
function lower(
  { fromMs, toMs, priceUsd, snapshot }: Based,
  { paid, units, assets }: { paid: PaidPrices; units: ShareUnits; assets: readonly UsdStep[] },
): UsdStep[] {
  const sinceMs = snapshot.at.getTime()
  const shares = paid.steps.filter(({ atMs, blockNumber }) => blockNumber > snapshot.blockNumber && atMs < toMs)
  const instants = [...shares, ...assets].map(({ atMs }) => atMs).filter((atMs) => atMs > sinceMs)
  let numerator = BigInt(snapshot.numerator)
  let isGuarded = true
  const steps: UsdStep[] = [{ atMs: fromMs, priceUsd, isGuarded }]
  for (const atMs of [...new Set(instants)].sort((a, b) => a - b)) {
    for (const share of shares.filter((step) => step.atMs === atMs)) {
      const scaled = (share.numerator * 10n ** BigInt(snapshot.exponent)) / 10n ** BigInt(share.exponent)
      if (scaled < numerator) numerator = scaled
      isGuarded &&= share.isGuarded
    }
    const asset = assets.findLast((step) => step.atMs <= atMs)
    isGuarded &&= asset?.isGuarded ?? true
    const assetUsd = asset?.priceUsd ?? null
    const isSame = numerator === BigInt(snapshot.numerator) && assetUsd === snapshot.priceUsd
    const price = isSame ? priceUsd : priceShare({ numerator, assetUsd }, { snapshot, units })
    const last = steps.at(-1)
    if (last?.priceUsd === price && last.isGuarded === isGuarded) continue
    const at = Math.max(atMs, fromMs)
    if (last?.atMs === at) steps.pop()
    steps.push({ atMs: at, priceUsd: price, isGuarded })
  }
  return steps
}

function priceShare(
  { numerator, assetUsd }: { numerator: bigint; assetUsd: string | null },
  { snapshot, units }: { snapshot: SnapshotRow; units: ShareUnits },
): string | null {
  if (assetUsd === null) return null
  const { assetDecimals, receiptDecimals } = units
  const share = { priceNumerator: String(numerator), priceExponent: snapshot.exponent, assetUsd }
  return computeShareUsd({ ...share, assetDecimals, receiptDecimals }) ?? '0'
}

/**
 * Steps of a choice where the rule holds from an instant on: before that the price stays what was chosen, though the share had
 * fallen before the choice began. Pure.
 */
export function holdUsdFrom(steps: readonly UsdStep[], chosen: ChosenUsd, rulesMs: number): readonly UsdStep[] {
  if (chosen.fromMs >= rulesMs) return steps
  const before = stay(chosen)
  if (chosen.toMs <= rulesMs) return before
  const last = steps.findLast(({ atMs }) => atMs < rulesMs)
  const later = steps.filter(({ atMs }) => atMs >= rulesMs)
  const isLower = last !== undefined && (last.priceUsd !== chosen.priceUsd || !last.isGuarded)
  return isLower && later[0]?.atMs !== rulesMs
    ? [...before, { ...last, atMs: rulesMs }, ...later]
    : [...before, ...later]
}
