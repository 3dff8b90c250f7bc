import type { Fragment, Queryable } from '../postgres/pool.js'
import { vaultsOf } from '../vaults/configured/index.js'
import { findDisagreement, findWithheld, type Identity, type PlacedIdentity, type Withheld } from './identity.js'

/** The tokens that vaults were read to name, as statements of other rooms read them; `agrees`: as configured. */
export const identitiesOf = (db: Queryable): Fragment => db.view`(
  select i.vault_id, i.block_number, i.block_hash, i.block_timestamp, i.asset, i.receipt_token, i.asset_decimals,
    i.receipt_decimals, i.asset = lower(v.asset) and i.receipt_token = lower(v.receipt_token)
      and coalesce(i.asset_decimals, v.asset_decimals) = v.asset_decimals
      and coalesce(i.receipt_decimals, v.receipt_decimals) = v.receipt_decimals as agrees
  from vault_identities i join ${vaultsOf(db)} v on v.id = i.vault_id)`

export type NewIdentity = Identity & { vaultId: number; blockNumber: number; blockHash: string; timestamp: number }

/** Records what vaults were read to be. The same block again adds nothing. */
export async function recordIdentities(db: Queryable, rows: readonly NewIdentity[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into vault_identities (vault_id, block_number, block_hash, block_timestamp, asset, receipt_token, asset_decimals,
      receipt_decimals)
    select r."vaultId", r."blockNumber", hex_bytes(r."blockHash"), to_timestamp(r.timestamp), r.asset, r."receiptToken",
      r."assetDecimals", r."receiptDecimals"
    from jsonb_to_recordset(${db.json(rows as never)}) as r ("vaultId" integer, "blockNumber" bigint, "blockHash" text,
      timestamp bigint, asset text, "receiptToken" text, "assetDecimals" integer, "receiptDecimals" integer)
    join ${vaultsOf(db)} v on v.id = r."vaultId"
    on conflict do nothing`
}

/** The newest block of a chain, at or below `numberMax`, at which a vault was read. */
export async function findNewestIdentityBlock(
  db: Queryable,
  chainId: number,
  numberMax: number,
): Promise<{ number: number; hash: string } | undefined> {
  const [newest] = await db<{ number: number; hash: string }[]>`
    select i.block_number as number, hex_text(i.block_hash) as hash from ${vaultsOf(db)} v
    cross join lateral (
      select block_number, block_hash from vault_identities
      where vault_id = v.id and block_number <= ${numberMax} order by block_number desc limit 1) i
    where v.chain_id = ${chainId} order by i.block_number desc limit 1`
  return newest
}

export async function removeIdentitiesAbove(
  db: Queryable,
  { chainId, number }: { chainId: number; number: number },
): Promise<void> {
  await db`
    delete from vault_identities i using ${vaultsOf(db)} v
    where v.chain_id = ${chainId} and i.vault_id = v.id and i.block_number > ${number}`
}

type Configured = { vaultId: number; configured: Identity }

/**
 * Blocks of a chain whose units are of a token nobody knows, by vault, of all vaults or of some; a vault without such blocks is
 * not in it.
 */
export async function listWithheld(
  db: Queryable,
  chainId: number,
  vaultIds?: readonly number[],
): Promise<ReadonlyMap<number, Withheld[]>> {
  const rows = await db<(Configured & { readings: PlacedIdentity[] })[]>`
    select v.id as "vaultId", jsonb_build_object('asset', v.asset, 'receiptToken', v.receipt_token,
        'assetDecimals', v.asset_decimals, 'receiptDecimals', v.receipt_decimals) as configured,
      jsonb_agg(jsonb_build_object('blockNumber', i.block_number, 'asset', i.asset, 'receiptToken', i.receipt_token,
        'assetDecimals', i.asset_decimals, 'receiptDecimals', i.receipt_decimals,
        'before', (select max(b.block_number) from vault_identities b
          where b.vault_id = v.id and b.block_number < i.block_number),
        'after', (select min(a.block_number) from vault_identities a
          where a.vault_id = v.id and a.block_number > i.block_number))) as readings
    from (select id, lower(asset) as asset, lower(receipt_token) as receipt_token, asset_decimals, receipt_decimals
      from ${vaultsOf(db)} v where chain_id = ${chainId}
        ${vaultIds ? db`and id = any(${[...new Set(vaultIds)]}::int[])` : db``}) v
    cross join lateral (
      select * from vault_identities i where i.vault_id = v.id
        and (i.asset, i.receipt_token, i.asset_decimals, i.receipt_decimals)
          < (v.asset, v.receipt_token, v.asset_decimals, v.receipt_decimals)
      union all
      select * from vault_identities i where i.vault_id = v.id
        and (i.asset, i.receipt_token, i.asset_decimals, i.receipt_decimals)
          > (v.asset, v.receipt_token, v.asset_decimals, v.receipt_decimals)) i
    group by v.id, v.asset, v.receipt_token, v.asset_decimals, v.receipt_decimals`
  return new Map(rows.map(({ vaultId, configured, readings }) => [vaultId, findWithheld(configured, readings)]))
}

/** From when on, and up to when, a vault is not known to be what is configured: unix milliseconds, the end not part of it. */
type WithheldTime = { fromMs: number; toMs: number }

/**
 * The same blocks as times: from the block of the last reading that agreed up to that of the next one. Where the time of that
 * reading was not stored, the snapshots around it stand in, so that no more counts than is known.
 */
export async function listWithheldTimes(
  db: Queryable,
  chainId: number,
  vaultIds: readonly number[],
): Promise<ReadonlyMap<number, WithheldTime[]>> {
  const spans = [...(await listWithheld(db, chainId, vaultIds))].flatMap(([vaultId, own]) =>
    own.map(({ from, to }) => ({ vaultId, agreed: from - 1, agrees: to < Number.MAX_SAFE_INTEGER ? to + 1 : null })),
  )
  const times = new Map<number, WithheldTime[]>()
  if (spans.length === 0) return times
  const rows = await db<{ vaultId: number; from: Date | null; to: Date | null }[]>`
    select r.id as "vaultId",
      coalesce((select block_timestamp from vault_identities where vault_id = r.id and block_number = r.agreed),
        (select max(block_timestamp) from vault_snapshots where vault_id = r.id and block_number <= r.agreed)) as "from",
      coalesce((select block_timestamp from vault_identities where vault_id = r.id and block_number = r.agrees),
        (select min(block_timestamp) from vault_snapshots where vault_id = r.id and block_number >= r.agrees)) as "to"
    from unnest(${spans.map(({ vaultId }) => vaultId)}::int[], ${spans.map(({ agreed }) => agreed)}::bigint[],
      ${spans.map(({ agrees }) => agrees)}::bigint[]) with ordinality as r (id, agreed, agrees, place)
    order by r.place`
  for (const { vaultId, from, to } of rows) {
    const [fromMs, toMs] = [from?.getTime() ?? Number.NEGATIVE_INFINITY, to?.getTime() ?? Number.POSITIVE_INFINITY]
    times.set(vaultId, [...(times.get(vaultId) ?? []), { fromMs, toMs }])
  }
  return times
}

/** Vaults whose newest reading is not what is configured, with what is wrong. */
export async function listDisagreements(
  db: Queryable,
): Promise<{ chainId: number; address: string; blockNumber: number; reason: string }[]> {
  type Row = { chainId: number; address: string; blockNumber: number; configured: Identity; read: Identity }
  const rows = await db<Row[]>`
    select v.chain_id as "chainId", v.address, i.block_number as "blockNumber",
      jsonb_build_object('asset', lower(v.asset), 'receiptToken', lower(v.receipt_token),
        'assetDecimals', v.asset_decimals, 'receiptDecimals', v.receipt_decimals) as configured,
      jsonb_build_object('asset', i.asset, 'receiptToken', i.receipt_token, 'assetDecimals', i.asset_decimals,
        'receiptDecimals', i.receipt_decimals) as read
    from ${vaultsOf(db)} v
    cross join lateral (
      select * from vault_identities where vault_id = v.id order by block_number desc limit 1) i`
  return rows.flatMap(({ configured, read, ...vault }) => {
    const reason = findDisagreement(configured, read)
    return reason === undefined ? [] : [{ ...vault, reason }]
  })
}
