import type { Fragment, Queryable } from '../../postgres/pool.js'
import { identitiesOf, snapshotsOf } from '../../snapshots/index.js'
import { depths } from '../../sync/storeDepths.js'
import { rulesOf } from '../../sync/storeRules.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'
import { shareReadingsOf } from '../paid/index.js'
import { holderStatesOf, shareMintsOf } from '../positions/index.js'

export type AttributedVault = {
  vaultId: number
  chainId: number
  vaultAddress: string
  opportunityId: string
  opportunityName: string
  asset: string
  assetDecimals: number
}

/** Vaults in which a distributor ever had a lot. */
export async function listAttributedVaults(db: Queryable, distributorId: string): Promise<AttributedVault[]> {
  return db<AttributedVault[]>`
    select v.id as "vaultId", v.chain_id as "chainId", v.address as "vaultAddress", o.id as "opportunityId",
      o.name as "opportunityName", lower(v.asset) as asset, v.asset_decimals as "assetDecimals"
    from ${vaultsOf(db)} v join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
    where exists (select from lots l where l.vault_id = v.id and l.distributor_id = ${distributorId})
    order by v.chain_id, v.address`
}

/** A declared holder of a vault's shares that counts for nobody any more. */
export type BrokenHolder = { chainId: number; vaultAddress: string; holder: string; reason: string }

/** The holders of vaults that are not looked through any more. */
export async function listBrokenHolders(db: Queryable, vaultIds: readonly number[]): Promise<BrokenHolder[]> {
  return db<BrokenHolder[]>`
    select v.chain_id as "chainId", v.address as "vaultAddress", hex_text(s.holder) as holder, s.reason
    from ${holderStatesOf(db)} s join ${vaultsOf(db)} v on v.id = s.vault_id
    where s.phase = 'broken' and s.vault_id = any(${[...vaultIds]}::int[])
    order by v.chain_id, v.address, s.holder`
}

export type Coverage = { attributed: string; unattributed: string }

/** Shares in lots and outside them, as they were after a block or before an instant. */
export async function findCoverage(
  db: Queryable,
  vaultId: number,
  at: { block: number } | { before: Date },
): Promise<Coverage> {
  const [row] = await db<Coverage[]>`
    select coalesce(sum(attributed_after - attributed_before), 0) as attributed,
      coalesce(sum(after - before - attributed_after + attributed_before), 0) as unattributed
    from balance_changes where vault_id = ${vaultId}
      and ${'block' in at ? db`block_number <= ${at.block}` : db`block_timestamp < ${at.before}`}`
  return row ?? { attributed: '0', unattributed: '0' }
}

export type Rows = readonly Record<string, unknown>[]

/** Exports of rows as they are stored. */
const storedNames = [
  'ledger',
  'balances',
  'lots',
  'lot-changes',
  'flows',
  'share-mints',
  'share-readings',
  'rules',
  'snapshots',
  'identities',
  'prices',
] as const
export type StoredName = (typeof storedNames)[number]

export const exportNames = [...storedNames, 'wallet-days'] as const
export type ExportName = (typeof exportNames)[number]

/** Exports of the present, whose rows have no time. */
export const timelessNames: readonly ExportName[] = ['balances', 'lots', 'rules']

/** Rows from an instant on and before another one, by the time of their block; of prices, by the time they were observed. */
export type ExportRange = { from: Date; to: Date }

/**
 * Everything of one kind in a fixed order, or what a range has of it; of the ledger what is verified now, in vaults without an
 * opportunity too.
 */
function exported(db: Queryable, name: StoredName, range?: ExportRange) {
  const within = (at: Fragment) => (range ? db`${at} >= ${range.from} and ${at} < ${range.to}` : db`true`)
  return {
    ledger: () => db`
      select i.id, i.chain_id, v.address as vault, o.id as opportunity_id, i.kind, i.block_number, i.block_hash,
        i.block_timestamp, i.transaction_hash, i.log_index, i.wallet, i.distributor_id, i.attribution, i.assets, i.shares,
        i.amount_usd, i.price_observation_id
      from interactions i join ${vaultsOf(db)} v on v.id = i.vault_id
      join ${depths(db)} d on d.chain_id = i.chain_id
      left join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
      where i.block_number <= d.confirmed and ${within(db`i.block_timestamp`)}
      order by i.chain_id, i.block_number, i.log_index, i.distributor_id collate "C", i.wallet`,
    balances: () => db`
      select v.chain_id, v.address as vault, hex_text(b.wallet) as wallet, b.shares, b.attributed, l.distributor_id, l.shares as lot
      from balances b join ${vaultsOf(db)} v on v.id = b.vault_id
      left join lots l on l.vault_id = b.vault_id and l.wallet = b.wallet and l.shares > 0
      where b.shares > 0 order by v.chain_id, v.address collate "C", b.wallet, l.distributor_id`,
    lots: () => db`
      select v.chain_id, v.address as vault, hex_text(l.wallet) as wallet, l.distributor_id, l.shares
      from lots l join ${vaultsOf(db)} v on v.id = l.vault_id where l.shares > 0
      order by v.chain_id, v.address collate "C", l.wallet, l.distributor_id`,
    'lot-changes': () => db`
      select v.chain_id, v.address as vault, o.id as opportunity_id, hex_text(c.wallet) as wallet, c.distributor_id,
        c.block_number, c.block_timestamp, c.transaction_index, c.before, c.after
      from lot_changes c join ${vaultsOf(db)} v on v.id = c.vault_id
      left join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
      where ${within(db`c.block_timestamp`)}
      order by v.chain_id, v.address collate "C", c.block_number, c.transaction_index, c.wallet, c.distributor_id`,
    flows: () => db`
      select v.chain_id, v.address as vault, o.id as opportunity_id, hex_text(f.wallet) as wallet, f.block_number,
        f.block_timestamp, f.transaction_index, f.kind, f.shares, f.assets
      from flows f join ${vaultsOf(db)} v on v.id = f.vault_id
      left join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
      where ${within(db`f.block_timestamp`)}
      order by v.chain_id, v.address collate "C", f.block_number, f.transaction_index, f.wallet, f.kind`,
    'share-mints': () => db`
      select v.chain_id, v.address as vault, m.block_number, hex_text(m.block_hash) as block_hash, m.block_timestamp,
        hex_text(m.transaction_hash) as transaction_hash, m.log_index, m.shares, m.assets
      from ${shareMintsOf(db)} m join ${vaultsOf(db)} v on v.id = m.vault_id
      where ${within(db`m.block_timestamp`)}
      order by v.chain_id, v.address collate "C", m.block_number, m.log_index`,
    'share-readings': () => db`
      select v.chain_id, v.address as vault, r.block_number, hex_text(r.block_hash) as block_hash, r.block_timestamp,
        r.price_numerator, r.price_exponent
      from ${shareReadingsOf(db)} r join ${vaultsOf(db)} v on v.id = r.vault_id
      where ${within(db`r.block_timestamp`)}
      order by v.chain_id, v.address collate "C", r.block_number`,
    rules: () => db`select r.version, r.holds_from from ${rulesOf(db)} r order by r.version`,
    prices: () => db`
      select id, chain_id, address, price_usd, source, observed_at, block_number, block_hash, valid_until, withheld
      from price_observations where ${within(db`observed_at`)} order by id`,
    identities: () => db`
      select v.chain_id, v.address as vault, i.block_number, hex_text(i.block_hash) as block_hash, i.block_timestamp, i.asset,
        i.receipt_token, i.asset_decimals, i.receipt_decimals, i.agrees
      from ${identitiesOf(db)} i join ${vaultsOf(db)} v on v.id = i.vault_id where ${within(db`i.block_timestamp`)}
      order by v.chain_id, v.address collate "C", i.block_number`,
    snapshots: () => db`
      select v.chain_id, v.address as vault, s.block_number, hex_text(s.block_hash) as block_hash,
        s.block_timestamp, v.asset_decimals, v.receipt_decimals, s.total_assets, s.total_supply, s.price_numerator, s.price_exponent,
        s.price_observation_id, s.price_usd
      from ${snapshotsOf(db)} s join ${vaultsOf(db)} v on v.id = s.vault_id where ${within(db`s.block_timestamp`)}
      order by v.chain_id, v.address collate "C", s.block_number`,
  }[name]()
}

/** The names of an export's columns, in their order. */
export async function listStoredColumns(db: Queryable, name: StoredName): Promise<string[]> {
  const { columns } = await db`select * from (${exported(db, name)}) rows limit 0`
  return columns.map((column) => column.name)
}

/** The rows of an export, in chunks. */
export function streamStored(db: Queryable, name: StoredName, range?: ExportRange): AsyncIterable<Rows> {
  return exported(db, name, range).cursor(2_000)
}
