import { setImmediate as nextTurn } from 'node:timers/promises'
import { countStaged } from '../../derive/paidPrice.js'
import {
  computeLeast,
  computeUsdDays,
  type Level,
  type Span,
  type UsdDays,
  withholdPrices,
} from '../../derive/usdDays.js'
import { groupBy } from '../../kernel/groups.js'
import type { Database } from '../../postgres/pool.js'
import { listWithheldTimes } from '../../snapshots/index.js'
import { listReach, type Reach } from '../../sync/storeDepths.js'
import { type PaidValues, readPaidValues, toLevels } from '../paid/index.js'
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

/** Vaults of one request that are read side by side. */
const vaultsAtOnce = 2

/** How far the rows are known that USD-days rest on, by chain; a chain that is not read is left out. */
export async function listCountedReach(db: Database, chainIds: readonly number[]): Promise<ReadonlyMap<number, Reach>> {
  const projections = [metrics.name, shareMints.name]
  return new Map((await listReach(db, { chainIds, projections })).map((reach) => [reach.chainId, reach]))
}

/**
 * USD-days of a distributor in each of some vaults, in their order (docs/methodology.md, R3): exact, cut once for each vault and
 * stretch. `boundsOf` gives the bounds of the stretches on a chain, in unix milliseconds and in order, at most as far as the rows
 * are known there.
 */
export async function readUsdDays<Vault extends CountedShare>(
  db: Database,
  ask: {
    distributorId: string
    vaults: readonly Vault[]
    boundsOf: (chainId: number) => readonly number[]
    stagedBps: number
  },
): Promise<{ vault: Vault; found: VaultUsdDays }[]> {
  const { distributorId, vaults, boundsOf, stagedBps } = ask
  const withheld = new Map<number, readonly Span[]>()
  for (const [chainId, own] of groupBy(vaults, (vault) => vault.chainId)) {
    const ids = own.map(({ vaultId }) => vaultId)
    for (const [vaultId, spans] of await listWithheldTimes(db, chainId, ids)) withheld.set(vaultId, spans)
  }
  const rows: { vault: Vault; found: VaultUsdDays }[] = []
  const places = vaults.entries()
  const work = async () => {
    for (const [place, vault] of places) {
      // Counting a vault takes the processor for a while. Other requests are answered in between.
      await nextTurn()
      const { vaultId, chainId } = vault
      const spans = withheld.get(vaultId) ?? []
      const found = await countVault(db, { distributorId, vault, bounds: boundsOf(chainId), spans, stagedBps })
      rows[place] = { vault, found }
    }
  }
  await Promise.all(Array.from({ length: vaultsAtOnce }, work))
  return rows
}

async function countVault(
  db: Database,
  ask: {
    distributorId: string
    vault: CountedShare
    bounds: readonly number[]
    spans: readonly Span[]
    stagedBps: number
  },
): Promise<VaultUsdDays> {
  const { distributorId, vault, bounds, spans, stagedBps } = ask
  const { vaultId, assetDecimals } = vault
  const [from, to] = [new Date(bounds[0] ?? 0), new Date(bounds.at(-1) ?? 0)]
  const of = { vaultId, distributorId }
  const [shares, paid] = await Promise.all([
    listShares(db, { ...of, from, to }),
    readPaidValues(db, { vaultId, from, to, carries: false }),
  ])
  const { values, snapshots, steps, awaited } = paid
  const snapshotsMs = snapshots.map(({ at }) => at.getTime())
  const { total, stretches } = computeUsdDays({
    shares: shares.map((each) => ({ atMs: each.at.getTime(), value: BigInt(each.shares) })),
    least: values.every(({ isGuarded }) => isGuarded) ? [] : await readLeast(db, { ...of, to }, snapshotsMs),
    prices: withholdPrices(toLevels(values), spans),
    ...{ assetDecimals, bounds },
  })
  const staged = countStaged(
    steps.filter(({ atMs }) => atMs < to.getTime()),
    BigInt(stagedBps),
  )
  return { total, stretches, staged, isAwaited: awaited.length > 0, last: snapshots.findLast(({ at }) => at < to) }
}

/** The shares of a distributor that count where no price guards them. */
async function readLeast(
  db: Database,
  of: { vaultId: number; distributorId: string; to: Date },
  snapshotsMs: readonly number[],
): Promise<readonly Level<bigint>[]> {
  const changes = await listLotLevels(db, of)
  return computeLeast(
    changes.map(({ at, wallet, after }) => ({ atMs: at.getTime(), key: wallet, after: BigInt(after) })),
    snapshotsMs,
  )
}
