import { computeLotDays } from '../../derive/lotDays.js'
import { computeLeast, cutUsdDays, type Level, type LotLevel, type Span, withholdPrices } from '../../derive/usdDays.js'
import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import { daySeconds } from '../../kernel/clock.js'
import { groupBy } from '../../kernel/groups.js'
import type { Database } from '../../postgres/pool.js'
import { listWithheldTimes } from '../../snapshots/index.js'
import { listCountedReach } from '../metrics/index.js'
import { readPaidValues, toLevels } from '../paid/index.js'
import { type LotChangeRow, type LotVault, listLotVaults, streamLotChanges } from './storeWalletDays.js'

/** The columns of an export of wallet-days, in their order (docs/wallet-days.md). */
export const walletDayColumns = [
  ...(['chain_id', 'vault', 'opportunity_id', 'wallet', 'distributor_id', 'day', 'until'] as const),
  ...(['share_seconds', 'paid_numerator', 'paid_exponent', 'price_usd', 'usd_seconds', 'usd_days'] as const),
  ...(['unpriced_seconds', 'unguarded_seconds'] as const),
] as const

export type WalletDay = Record<(typeof walletDayColumns)[number], string | number | Date | null>

const dayMs = daySeconds * 1_000
const dayOf = (ms: number) => Math.floor(ms / dayMs) * dayMs

/**
 * The USD-days of each lot of each wallet on each day (UTC), vault by vault: the terms of USD-days (docs/methodology.md, R4a).
 * The last day of a chain goes up to its newest confirmed block. `from` and `to` begin days.
 */
export async function* streamWalletDays(
  db: Database,
  range: { from: Date; to: Date } | undefined,
): AsyncGenerator<WalletDay[]> {
  const vaults = await listLotVaults(db)
  const reach = await listCountedReach(db, [...new Set(vaults.map(({ chainId }) => chainId))])
  for (const [chainId, own] of groupBy(vaults, (vault) => vault.chainId)) {
    const confirmedMs = reach.get(chainId)?.confirmedAt?.getTime()
    if (confirmedMs === undefined) continue
    const ids = own.map(({ vaultId }) => vaultId)
    const withheld = await listWithheldTimes(db, chainId, ids)
    const toMs = Math.min(confirmedMs, range?.to.getTime() ?? confirmedMs)
    for (const vault of own)
      yield* streamVault(db, {
        ...{ vault, fromMs: range?.from.getTime() ?? 0, toMs },
        spans: withheld.get(vault.vaultId) ?? [],
      })
  }
}

type Counted = { vault: LotVault; fromMs: number; toMs: number; spans: readonly Span[] }

/** The days of a vault, one after the other, from that of its first lot on. */
async function* streamVault(db: Database, of: Counted): AsyncGenerator<WalletDay[]> {
  const { vault, fromMs, toMs } = of
  const held = new Map<string, bigint>()
  let [day, changes]: [number | undefined, LotLevel[]] = [undefined, []]
  const close = async (beginMs: number): Promise<WalletDay[]> => {
    const endMs = Math.min(beginMs + dayMs, toMs)
    const rows = beginMs < fromMs ? [] : await countDay(db, of, { held, changes, beginMs, endMs })
    for (const { key, after } of changes)
      if (after > 0n) held.set(key, after)
      else held.delete(key)
    changes = []
    return rows
  }
  for await (const chunk of streamLotChanges(db, vault.vaultId, new Date(toMs)))
    for (const change of chunk) {
      const own = dayOf(change.at.getTime())
      for (day ??= own; day < own; day += dayMs) yield await close(day)
      changes.push(toLevel(change))
    }
  if (day !== undefined) for (; day < toMs; day += dayMs) yield await close(day)
}

const keyOf = ({ wallet, distributorId }: Pick<LotChangeRow, 'wallet' | 'distributorId'>) =>
  `${wallet} ${distributorId}`
const toLevel = (row: LotChangeRow): LotLevel => ({
  ...{ atMs: row.at.getTime(), key: keyOf(row), after: BigInt(row.after) },
})

async function countDay(
  db: Database,
  { vault, spans }: Counted,
  day: { held: ReadonlyMap<string, bigint>; changes: readonly LotLevel[]; beginMs: number; endMs: number },
): Promise<WalletDay[]> {
  const { held, changes, beginMs, endMs } = day
  if (held.size === 0 && changes.length === 0) return []
  const { vaultId, assetDecimals } = vault
  const [from, to] = [new Date(beginMs), new Date(endMs)]
  const { values, snapshots } = await readPaidValues(db, { vaultId, from, to, carries: false })
  const prices = withholdPrices(toLevels(values), spans)
  const isGuarded = values.every((value) => value.isGuarded)
  const least = isGuarded
    ? undefined
    : await readLeast(
        db,
        { vaultId, to },
        snapshots.map(({ at }) => at.getTime()),
      )
  const last = prices.findLast(({ atMs }) => atMs < endMs)?.value
  const lots = computeLotDays({ held, changes, least, prices, assetDecimals, fromMs: beginMs, toMs: endMs })
  return lots
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, shareSeconds, usdSeconds, unpricedMs, unguardedMs }): WalletDay => {
      const [wallet = '', distributorId = ''] = key.split(' ')
      return {
        ...{ chain_id: vault.chainId, vault: vault.address, opportunity_id: vault.opportunityId, wallet },
        ...{ distributor_id: distributorId, day: from.toISOString().slice(0, 10), until: to },
        ...{ share_seconds: String(shareSeconds), paid_numerator: last ? String(last.numerator) : null },
        ...{ paid_exponent: last?.exponent ?? null, price_usd: last?.priceUsd ?? null },
        usd_seconds: formatUnits(usdSeconds.units, usdSeconds.decimals),
        usd_days: formatUnits(cutUsdDays(usdSeconds), usdDecimals),
        ...{ unpriced_seconds: unpricedMs / 1_000, unguarded_seconds: unguardedMs / 1_000 },
      }
    })
}

/** The shares of each lot that count where no price guards it. */
async function readLeast(
  db: Database,
  { vaultId, to }: { vaultId: number; to: Date },
  snapshotsMs: readonly number[],
): Promise<ReadonlyMap<string, readonly Level<bigint>[]>> {
  const all: LotLevel[] = []
  for await (const chunk of streamLotChanges(db, vaultId, to)) all.push(...chunk.map(toLevel))
  return new Map([...groupBy(all, ({ key }) => key)].map(([key, own]) => [key, computeLeast(own, snapshotsMs)]))
}
