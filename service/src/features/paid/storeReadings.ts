import type { Queryable } from '../../postgres/pool.js'
import { snapshotsOf } from '../../snapshots/index.js'
import type { Observations } from '../../sync/projection.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import type { ObservedVault } from '../../vaults/index.js'
import { shareMintsOf } from '../positions/index.js'

/** A vault with mints that name no price: those above `since` are to be looked at. */
export type DueVault = { vaultId: number; since: number; isWhole: boolean }

/**
 * Vaults of a chain whose mints are to be looked at: there are new ones, a snapshot came between the known ones, or all were
 * looked at last before `wholeBefore`.
 */
export async function listDueVaults(
  db: Queryable,
  { chainId, wholeBefore, limit }: { chainId: number; wholeBefore: Date; limit: number },
): Promise<DueVault[]> {
  return db<DueVault[]>`
    select v.id as "vaultId", case when w.whole then -1 else p.since_block end as since, w.whole as "isWhole"
    from ${vaultsOf(db)} v left join share_reading_progress p on p.vault_id = v.id
    cross join lateral (select p.vault_id is null or p.whole_at < ${wholeBefore} as whole) w
    where v.chain_id = ${chainId} and (
      exists (select from ${shareMintsOf(db)} m
        where m.vault_id = v.id and m.assets is null and (w.whole or m.block_number > p.checked_to))
      or (not w.whole and p.since_block is distinct from (
        select s.block_number from ${snapshotsOf(db)} s
        where s.vault_id = v.id and s.block_timestamp <= p.checked_at and s.block_number <= p.checked_to
        order by s.block_timestamp desc limit 1) and exists (
        select from ${snapshotsOf(db)} s
        where s.vault_id = v.id and s.block_timestamp <= p.checked_at and s.block_number <= p.checked_to)))
    order by v.id limit ${limit}`
}

/** The shares that a block minted without a price, and the newest snapshot by then (`since` -1: none). */
export type OtherwiseMint = {
  vaultId: number
  blockNumber: number
  blockHash: string
  at: Date
  shares: string
  since: number
  supply: string
}

/** Mints of vaults that name no price, by block, in the order of the chain. */
export async function listOtherwiseMints(db: Queryable, due: readonly DueVault[]): Promise<OtherwiseMint[]> {
  if (due.length === 0) return []
  return db<OtherwiseMint[]>`
    select m.vault_id as "vaultId", m.block_number as "blockNumber", hex_text(m.block_hash) as "blockHash",
      m.block_timestamp as at, m.shares::text as shares, coalesce(g.block_number, -1) as since,
      coalesce(g.total_supply, 0)::text as supply
    from (
      select m.vault_id, m.block_number, m.block_hash, m.block_timestamp, sum(m.shares) as shares
      from unnest(${due.map(({ vaultId }) => vaultId)}::int[], ${due.map(({ since }) => since)}::bigint[]) d (id, since)
      join ${shareMintsOf(db)} m on m.vault_id = d.id and m.block_number > d.since and m.assets is null
      group by m.vault_id, m.block_number, m.block_hash, m.block_timestamp) m
    left join lateral (
      select s.block_number, s.total_supply from ${snapshotsOf(db)} s
      where s.vault_id = m.vault_id and s.block_timestamp <= m.block_timestamp and s.block_number <= m.block_number
      order by s.block_timestamp desc limit 1) g on true
    order by m.vault_id, m.block_number`
}

/** Notes how far the mints of vaults are looked at. */
export async function recordChecked(
  db: Queryable,
  checked: readonly { vaultId: number; to: number; at: Date; since: number; isWhole: boolean }[],
  now: Date,
): Promise<void> {
  if (checked.length === 0) return
  const columns = {
    ids: checked.map(({ vaultId }) => vaultId),
    numbers: checked.map(({ to }) => to),
    ats: checked.map(({ at }) => at.getTime() / 1_000),
    since: checked.map((each) => each.since),
    whole: checked.map(({ isWhole }) => (isWhole ? now.toISOString() : '-infinity')),
  }
  await db`
    insert into share_reading_progress (vault_id, checked_to, checked_at, since_block, whole_at)
    select r.id, r.number, to_timestamp(r.at), r.since, r.whole
    from unnest(${columns.ids}::int[], ${columns.numbers}::bigint[], ${columns.ats}::float8[], ${columns.since}::bigint[],
      ${columns.whole}::timestamptz[]) as r (id, number, at, since, whole)
    on conflict (vault_id) do update set checked_to = excluded.checked_to, checked_at = excluded.checked_at,
      since_block = excluded.since_block, whole_at = greatest(excluded.whole_at, share_reading_progress.whole_at)`
}

/** A block at which the share price of a vault is to be read. */
export type WantedReading = { vaultId: number; blockNumber: number; blockHash: string; at: Date }

/** Of blocks, those that are not read. */
export async function listUnread(db: Queryable, wanted: readonly WantedReading[]): Promise<WantedReading[]> {
  if (wanted.length === 0) return []
  const read = await db<{ vaultId: number; blockNumber: number }[]>`
    select r.vault_id as "vaultId", r.block_number as "blockNumber"
    from unnest(${wanted.map(({ vaultId }) => vaultId)}::int[], ${wanted.map(({ blockNumber }) => blockNumber)}::bigint[])
      as w (id, number)
    join share_readings r on r.vault_id = w.id and r.block_number = w.number`
  const known = new Set(read.map(({ vaultId, blockNumber }) => `${vaultId} ${blockNumber}`))
  return wanted.filter(({ vaultId, blockNumber }) => !known.has(`${vaultId} ${blockNumber}`))
}

/** Notes blocks as not read yet. What is known of them stays. */
export async function recordWanted(db: Queryable, wanted: readonly WantedReading[]): Promise<void> {
  if (wanted.length === 0) return
  await db`
    insert into share_reading_gaps (vault_id, block_number, block_timestamp, block_hash, reason, tried_at)
    select r.id, r.number, to_timestamp(r.at), hex_bytes(r.hash), '', '-infinity'
    from unnest(${wanted.map(({ vaultId }) => vaultId)}::int[], ${wanted.map(({ blockNumber }) => blockNumber)}::bigint[],
      ${wanted.map(({ at }) => at.getTime() / 1_000)}::float8[], ${wanted.map(({ blockHash }) => blockHash)}::text[])
      as r (id, number, at, hash)
    on conflict do nothing`
}

/** Notes blocks of a vault that its paid price waits for: a snapshot of the past may have come between mints looked at before. */
export async function recordAwaited(db: Queryable, vaultId: number, blocks: readonly number[]): Promise<void> {
  await db`
    insert into share_reading_gaps (vault_id, block_number, block_timestamp, block_hash, reason, tried_at)
    select distinct m.vault_id, m.block_number, m.block_timestamp, m.block_hash, '', '-infinity'::timestamptz
    from ${shareMintsOf(db)} m
    where m.vault_id = ${vaultId} and m.block_number = any(${[...blocks]}::bigint[])
    on conflict do nothing`
}

export type DueReading = WantedReading & { vault: ObservedVault }

/** Blocks of a chain that are to be read and were not tried since an instant, the newest first. */
export async function listDueReadings(
  db: Queryable,
  { chainId, triedBefore, limit }: { chainId: number; triedBefore: Date; limit: number },
): Promise<DueReading[]> {
  type Row = WantedReading & ObservedVault
  const rows = await db<Row[]>`
    select g.vault_id as "vaultId", g.block_number as "blockNumber", hex_text(g.block_hash) as "blockHash",
      g.block_timestamp as at, v.address, v.kind, v.contracts, v.receipt_token as "receiptToken",
      v.receipt_decimals as "receiptDecimals"
    from share_reading_gaps g join ${vaultsOf(db)} v on v.id = g.vault_id
    where v.chain_id = ${chainId} and g.tried_at < ${triedBefore}
    order by g.block_number desc, g.vault_id limit ${limit}`
  return rows.map(({ vaultId, blockNumber, blockHash, at, ...vault }) => ({
    ...{ vaultId, blockNumber, blockHash, at, vault },
  }))
}

export type NewReading = WantedReading & { numerator: bigint; exponent: number }

/** Records share prices that were read; their blocks are no longer to be read. */
export async function recordReadings(db: Queryable, readings: readonly NewReading[]): Promise<void> {
  if (readings.length === 0) return
  const rows = readings.map(({ vaultId, blockNumber, blockHash, at, numerator, exponent }) => ({
    ...{ id: vaultId, number: blockNumber, hash: blockHash, at: at.getTime() / 1_000 },
    ...{ price: String(numerator), exponent },
  }))
  await db`
    with given as (
      select * from jsonb_to_recordset(${db.json(rows)}) as r (id integer, number bigint, hash text, at float8, price numeric,
        exponent smallint)),
    done as (
      delete from share_reading_gaps g using given r where g.vault_id = r.id and g.block_number = r.number)
    insert into share_readings (vault_id, block_number, block_timestamp, block_hash, price_numerator, price_exponent)
    select id, number, to_timestamp(at), hex_bytes(hash), price, exponent from given on conflict do nothing`
}

/** Notes why blocks could not be read now. */
export async function recordFailed(
  db: Queryable,
  failed: readonly WantedReading[],
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  if (failed.length === 0) return
  await db`
    update share_reading_gaps g set reason = ${reason}, tried_at = ${now}
    from unnest(${failed.map(({ vaultId }) => vaultId)}::int[], ${failed.map(({ blockNumber }) => blockNumber)}::bigint[])
      as r (id, number)
    where g.vault_id = r.id and g.block_number = r.number`
}

/** Readings of orphaned blocks go with them, and the mints are looked at again. */
export const readingObservations: Observations = {
  name: 'share readings',
  rewind: async (tx, { chainId, number }) => {
    const above = tx`
      using ${vaultsOf(tx)} v where v.chain_id = ${chainId} and v.id = r.vault_id`
    await tx`delete from share_readings r ${above} and r.block_number > ${number}`
    await tx`delete from share_reading_gaps r ${above} and r.block_number > ${number}`
    await tx`delete from share_reading_progress r ${above} and r.checked_to > ${number}`
  },
}
