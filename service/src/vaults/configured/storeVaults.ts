import T, { type Static } from 'typebox'
import { ChainId } from '../../kernel/wire.js'
import { AddressText, ContractName, Instant, Text, Url } from '../../postgres/fileMembers.js'
import { decimal, describeImported, found, instant, kept, optional, required } from '../../postgres/imported.js'
import { type NewRow, readRowPages, readRows, upsertRows } from '../../postgres/importedRows.js'
import type { Fragment, Queryable } from '../../postgres/pool.js'
import { holderKinds } from '../holders/index.js'
import { vaultKinds } from '../kinds.js'
import { GrowthSourceSchema } from './growthSources.js'

/** The protocols vaults belong to, as an import writes them and they are read. */
export const protocolsTable = describeImported('protocols', ['id'], {
  id: found<string>(),
  name: required(Text),
  logoUrl: optional(Url, ''),
  siteUrl: optional(Url, ''),
})

const LpFloor = T.Object(
  {
    shares: T.String({ pattern: '^[1-9][0-9]{0,77}$', says: 'must be a text of decimal digits, at least 1' }),
    /** Absent: from the start. */
    activeFrom: T.Optional(Instant),
  },
  { additionalProperties: false },
)

/** A contract that keeps shares of a vault for accounts and is looked through. */
const HolderEntry = T.Object(
  {
    address: AddressText,
    kind: T.Enum(holderKinds.map(({ name }) => name)),
    /** From when its accounts count; absent: from when it is declared. */
    activeFrom: T.Optional(Instant),
    /** Of collateral kept by market: the ids of the markets whose collateral is the share. */
    markets: T.Optional(
      T.Array(T.String({ pattern: '^0x[0-9a-fA-F]{64}$', says: 'must be an id of 32 bytes' }), { minItems: 1 }),
    ),
  },
  { additionalProperties: false },
)
export type HolderSetting = Static<typeof HolderEntry>

/** The vaults, as an import writes them and they are read. */
export const vaultsTable = describeImported('vaults', ['chainId', 'address'], {
  chainId: required(ChainId),
  address: required(AddressText),
  /** Decides which sides are asynchronous. */
  kind: required(T.Enum(vaultKinds.map(({ name }) => name))),
  protocolId: found<string | null>(),
  asset: required(AddressText),
  assetDecimals: found<number>(),
  receiptToken: found<string>(),
  receiptDecimals: found<number>(),
  /** Holds shares on the way in or out; never a depositor. */
  escrow: optional(AddressText, null),
  /** Further contracts that its kind knows, by name: their events belong to the vault. */
  contracts: optional(T.Record(ContractName, AddressText), {}),
  /** Contracts that keep its shares for accounts: these count, the holder does not. */
  holders: kept(T.Array(HolderEntry, { maxItems: 64 }), []),
  /** From how many shares on a wallet is an LP, by time; none: from the smallest unit on. */
  lpFloor: kept(T.Array(LpFloor), []),
  startBlock: kept(T.Integer({ minimum: 0 }), 0),
  activeFrom: instant(Instant),
  snapshotIntervalSeconds: kept(T.Integer({ minimum: 60, maximum: 86_400 }), 900),
  /** Its growth sources; null is the share price from the start. */
  growthSources: kept(T.Array(GrowthSourceSchema, { maxItems: 20 }), null),
  /** A snapshot with fewer shares, in smallest units, is no reading. */
  dustFloor: decimal(T.String({ pattern: '^[0-9]{1,77}$', says: 'must be a text of decimal digits' }), '1000'),
})

/** The vaults, as statements of other rooms read them. */
export const vaultsOf = (db: Queryable): Fragment => db.view`(
  select id, chain_id, address, kind, protocol_id, asset, asset_decimals, receipt_token, receipt_decimals, escrow, contracts, holders,
    lp_floor, start_block, active_from, snapshot_interval_seconds, growth_sources, dust_floor
  from vaults)`

/** Which vault has which share token. */
export async function listShares(
  db: Queryable,
): Promise<{ chainId: number; address: string; receiptToken: string; asset: string }[]> {
  return db<{ chainId: number; address: string; receiptToken: string; asset: string }[]>`
    select chain_id as "chainId", address, lower(receipt_token) as "receiptToken", lower(asset) as asset from vaults`
}

/** Adds protocols, or replaces what describes them. */
export async function writeProtocols(tx: Queryable, rows: readonly NewRow[]): Promise<void> {
  await upsertRows(tx, protocolsTable, rows)
}

/** Adds vaults, or replaces what describes them: a setting left out keeps its present value, a new date is `now`. */
export async function writeVaults(tx: Queryable, rows: readonly NewRow[], now: Date): Promise<void> {
  await upsertRows(tx, vaultsTable, await dateHolders(tx, rows, now), { activeFrom: now })
}

/** The rows, each holder without a date with that of the same one as it is kept, or now. */
async function dateHolders(tx: Queryable, rows: readonly NewRow[], now: Date): Promise<NewRow[]> {
  if (!rows.some(({ holders }) => Array.isArray(holders))) return [...rows]
  const known = await tx<{ chainId: number; address: string; holders: HolderSetting[] }[]>`
    select chain_id as "chainId", address, holders from vaults where holders <> '[]'`
  return rows.map((row) => {
    if (!Array.isArray(row['holders'])) return row
    const kept = known.find((each) => each.chainId === row['chainId'] && each.address === row['address'])?.holders ?? []
    const date = (holder: HolderSetting): HolderSetting => {
      const same = kept.find(({ address, kind }) => address === holder.address && kind === holder.kind)
      return { ...holder, activeFrom: holder.activeFrom ?? same?.activeFrom ?? now.toISOString() }
    }
    return { ...row, holders: (row['holders'] as HolderSetting[]).map(date) }
  })
}

/**
 * The vault whose share a token is. If it does not exist, the token becomes a vault of the kind `erc20`, so that its holders are
 * followed from its first block on.
 */
export async function ensureTokenVault(
  tx: Queryable,
  { chainId, address, decimals }: { chainId: number; address: string; decimals: number },
  now: Date,
): Promise<{ id: number; isNew: boolean }> {
  const find = () => tx<{ id: number }[]>`
    select id from vaults where chain_id = ${chainId} and lower(receipt_token) = ${address} order by id limit 1`
  const [known] = await find()
  if (known) return { id: known.id, isNew: false }
  const [made] = await tx<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from)
    values (${chainId}, ${address}, 'erc20', ${address}, ${decimals}, ${address}, ${decimals}, ${now})
    on conflict (chain_id, address) do nothing returning id`
  if (made) return { id: made.id, isNew: true }
  const [other] = await find()
  if (!other) throw new Error(`the vault ${address} on chain ${chainId} has another token as its share`)
  return { id: other.id, isNew: false }
}

/** Corrects the decimals of the vaults whose tokens are among these. */
export async function correctDecimals(
  tx: Queryable,
  tokens: readonly { chainId: number; address: string; decimals: number }[],
): Promise<void> {
  if (tokens.length === 0) return
  await tx`
    with said as (select * from unnest(${tokens.map(({ chainId }) => chainId)}::bigint[],
      ${tokens.map(({ address }) => address)}::text[], ${tokens.map(({ decimals }) => decimals)}::int[])
      as t (chain_id, address, decimals))
    update vaults set asset_decimals = n.asset_decimals, receipt_decimals = n.receipt_decimals from (
      select v.id, coalesce(a.decimals, v.asset_decimals) as asset_decimals,
        coalesce(r.decimals, v.receipt_decimals) as receipt_decimals
      from vaults v
      left join said a on a.chain_id = v.chain_id and a.address = v.asset
      left join said r on r.chain_id = v.chain_id and r.address = v.receipt_token) n
    where vaults.id = n.id
      and (vaults.asset_decimals, vaults.receipt_decimals) is distinct from (n.asset_decimals, n.receipt_decimals)`
}

/** All protocols, by id. */
export function listProtocols(db: Queryable) {
  return readRows(db, protocolsTable, 'order by id')
}

export async function listProtocolIds(db: Queryable): Promise<{ id: string }[]> {
  return db<{ id: string }[]>`select id from protocols`
}

/** All vaults, by chain and address; read a page at a time. */
export function listVaults(db: Queryable) {
  return readRowPages(db, vaultsTable, 'order by chain_id, address')
}

/** Assets of the vaults whose price of shares is indexed: of every kind but `other`. */
export async function listAssets(db: Queryable): Promise<{ chainId: number; address: string }[]> {
  return db<{ chainId: number; address: string }[]>`
    select distinct chain_id as "chainId", lower(asset) as address from vaults where kind <> 'other' order by 1, 2`
}
