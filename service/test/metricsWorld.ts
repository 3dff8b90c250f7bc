import { emptyRows } from '../src/derive/rows.js'
import { findChanges } from '../src/features/metrics/changes.js'
import { listMetricsVaults } from '../src/features/metrics/storeConfiguration.js'
import { recordChanges } from '../src/features/metrics/storeSteps.js'
import { recordPositions } from '../src/features/positions/storePositions.js'
import { newId } from '../src/kernel/ids.js'
import type { Database } from '../src/postgres/pool.js'
import { recordSnapshots } from '../src/snapshots/index.js'
import { inPlace } from '../src/sync/projection.js'
import { type Earn, openEarn } from './harness.js'

export const chainId = 31_337
/** The first has six decimals, shares and asset; the second eighteen. */
export const vaults = [`0x${'1a'.repeat(20)}`, `0x${'2b'.repeat(20)}`] as const
export const tokens = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const
export const wallets = ['01', '02', '03', '04'].map((byte) => `0x${byte.repeat(20)}`)
/** The vault that is listed first is of the opportunity with the later id. */
export const opportunities = [newId(), newId()].sort().reverse() as [string, string]
export const product = newId()
const decimals = [6, 18]

/** An instant of the day all of it happens on. */
export const at = (time: string) => new Date(`2026-11-20T${time}:00Z`)

type Holding = { vault: 0 | 1; wallet: number; shares: bigint; distributorId: string | null }
export type Happening = { time: string; holdings: readonly Holding[] }

/** Whole shares of a vault. */
export const whole = (vault: 0 | 1, count: number) => BigInt(count) * 10n ** BigInt(decimals[vault] ?? 0)

/** What wallets hold from which time on: a holding replaces what the wallet had of that distributor, or of nobody. */
const story: Happening[] = [
  { time: '08:00', holdings: [{ vault: 0, wallet: 0, shares: whole(0, 1_000), distributorId: 'acme' }] },
  {
    time: '08:20',
    holdings: [
      { vault: 1, wallet: 0, shares: whole(1, 5), distributorId: 'acme' },
      { vault: 0, wallet: 1, shares: whole(0, 10), distributorId: 'acme' },
    ],
  },
  { time: '09:00', holdings: [{ vault: 0, wallet: 0, shares: 0n, distributorId: 'acme' }] },
  {
    time: '10:10',
    holdings: [
      { vault: 0, wallet: 2, shares: whole(0, 7), distributorId: 'beta' },
      { vault: 0, wallet: 3, shares: whole(0, 3), distributorId: null },
    ],
  },
]

/** Writes what happened as the watcher would have: positions, and what metrics makes of them. */
export async function tell(db: Database, happenings: readonly Happening[]): Promise<void> {
  const ids = await db<{ id: number; address: string }[]>`select id, address from vaults where chain_id = ${chainId}`
  const idOf = (vault: 0 | 1) => ids.find(({ address }) => address === vaults[vault])?.id ?? 0
  const lots = new Map<string, bigint>()
  const sumOf = (vaultId: number, wallet: string, isAttributed: boolean) =>
    [...lots].reduce((sum, [key, shares]) => {
      const [id, of, distributorId] = key.split(' ')
      const counts = id === String(vaultId) && of === wallet && (!isAttributed || distributorId !== '')
      return counts ? sum + shares : sum
    }, 0n)
  for (const [index, { time, holdings }] of happenings.entries()) {
    const rows = emptyRows()
    const block = { number: 10 + index, timestamp: at(time).getTime() / 1000 }
    const place = { blockNumber: block.number, timestamp: block.timestamp, transactionIndex: 0 }
    for (const { vault, wallet: number, shares, distributorId } of holdings) {
      const [vaultId, wallet] = [idOf(vault), wallets[number] ?? '']
      const key = `${vaultId} ${wallet} ${distributorId ?? ''}`
      const [before, attributedBefore] = [sumOf(vaultId, wallet, false), sumOf(vaultId, wallet, true)]
      if (distributorId !== null)
        rows.lotChanges.push({ ...place, vaultId, wallet, distributorId, before: lots.get(key) ?? 0n, after: shares })
      lots.set(key, shares)
      const after = { after: sumOf(vaultId, wallet, false), attributedAfter: sumOf(vaultId, wallet, true) }
      rows.balanceChanges.push({ ...place, vaultId, wallet, before, attributedBefore, ...after })
    }
    await recordPositions(db, chainId, rows)
    const found = findChanges(block, rows, await listMetricsVaults(db, chainId))
    await recordChanges(db, [found], { chainId, place: inPlace, isLive: true })
    await db`
      insert into projections (chain_id, name, configuration, derived_to) values (${chainId}, 'metrics', '[]', ${block.number})
      on conflict (chain_id, name) do update set derived_to = excluded.derived_to`
  }
}

/** A snapshot of a vault: the price of a share in its asset, and of the asset in dollars. */
export async function observe(
  db: Database,
  { vault, time, sharePrice, priceUsd }: { vault: 0 | 1; time: string; sharePrice: number; priceUsd: number | null },
): Promise<void> {
  const scale = decimals[vault] ?? 0
  const number = at(time).getTime() / 1000
  const price = (BigInt(Math.round(sharePrice * 1e6)) * 10n ** BigInt(scale + 12)) / 1_000_000n
  const figures = { totalAssets: 0n, totalSupply: 0n, priceNumerator: price, priceExponent: scale + 12 }
  const block = { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp: number }
  await recordSnapshots(db, [{ chainId, vaultAddress: vaults[vault], block, figures }])
  await db`
    update vault_snapshots s set price_usd = ${priceUsd === null ? null : String(priceUsd)}::numeric from vaults v
    where v.id = s.vault_id and v.address = ${vaults[vault]} and s.block_number = ${number}`
}

/** Two vaults, three distributors of which one has brought nothing, four wallets, and a morning in which they came and went. */
export async function openMetricsWorld(input: { floors?: object[]; happenings?: Happening[] } = {}): Promise<Earn> {
  const earn = await openEarn()
  const { db } = earn
  await db`insert into chains (chain_id, name, slug) values (${chainId}, 'Devnet', 'devnet')`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, block_timestamp, head_number, finalized_number,
      updated_at)
    values (${chainId}, 0, 1, '', ${at('12:00')}, 1, 1, ${at('12:00')})`
  await db`insert into projections (chain_id, name, configuration, derived_to) values (${chainId}, 'share mints', '[]', 1)`
  for (const [index, vault] of vaults.entries()) {
    const [token, scale] = [tokens[index] ?? '', decimals[index] ?? 0]
    await db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${token}, ${scale}, 'T', 'T')`
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, lp_floor)
      values (${chainId}, ${vault}, 'erc4626', ${token}, ${scale}, ${vault}, ${scale},
        ${db.json(index === 0 ? (input.floors ?? []) : [])})`
    await db`
      insert into opportunities (id, slug, name, type, chain_id, vault_address)
      values (${opportunities[index] ?? ''}, ${`o${index}`}, ${`O${index}`}, 'vault', ${chainId}, ${vault})`
  }
  await db`insert into products (id, name) values (${product}, 'P')`
  await db`insert into opportunity_products (opportunity_id, product_id) values (${opportunities[1]}, ${product})`
  for (const id of ['acme', 'beta', 'idle']) await earn.distributor(id)
  await tell(db, input.happenings ?? story)
  await observe(db, { vault: 0, time: '07:45', sharePrice: 1, priceUsd: 1 })
  await observe(db, { vault: 0, time: '08:15', sharePrice: 1.1, priceUsd: 1 })
  await observe(db, { vault: 1, time: '08:30', sharePrice: 2, priceUsd: null })
  await observe(db, { vault: 1, time: '09:30', sharePrice: 2, priceUsd: 10.5 })
  return earn
}
