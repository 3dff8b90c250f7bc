import type { Queryable } from '../postgres/pool.js'
import { vaultsOf } from '../vaults/configured/index.js'
import { findDisagreement, findWithheld, type Identity, type PlacedIdentity, type Withheld } from './identity.js'

export type NewIdentity = Identity & { vaultId: number; blockNumber: number; blockHash: string }

/** Records what vaults were read to be. The same block again adds nothing. */
export async function recordIdentities(db: Queryable, rows: readonly NewIdentity[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into vault_identities (vault_id, block_number, block_hash, asset, receipt_token, asset_decimals,
      receipt_decimals)
    select r."vaultId", r."blockNumber", hex_bytes(r."blockHash"), r.asset, r."receiptToken", r."assetDecimals",
      r."receiptDecimals"
    from jsonb_to_recordset(${db.json(rows as never)}) as r ("vaultId" integer, "blockNumber" bigint, "blockHash" text,
      asset text, "receiptToken" text, "assetDecimals" integer, "receiptDecimals" integer)
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
