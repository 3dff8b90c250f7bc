import type { Database } from '../src/postgres/pool.js'
import type { Random } from './simulation/random.js'
import { type History, start } from './usdDaysHistory.js'

/** Changes of facts as services make them: what comes late, what is taken back, what is read again. */

type Place = { db: Database; vaultId: number; block: number; at: Date; random: Random }

const distributors = ['acme', 'beta']
const hash = (block: number) => `\\x${block.toString(16).padStart(64, '0')}`

const changes: Record<string, (place: Place) => Promise<unknown>> = {
  'a price that comes late': ({ db, vaultId, at, random }) => db`
    update vault_snapshots set price_usd = ${random.pick(['1', '0.5', '1.25'])}
    where vault_id = ${vaultId} and block_timestamp = (
      select max(block_timestamp) from vault_snapshots where vault_id = ${vaultId} and block_timestamp <= ${at})`,
  'a snapshot of the past': ({ db, vaultId, block, at, random }) => db`
    insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
      price_numerator, price_usd, block_hash)
    select ${block}, ${at}, vault_id, price_exponent, total_assets, total_supply, price_numerator + ${random.int(0, 999)}::int,
      price_usd, ${hash(block)}::bytea
    from vault_snapshots where vault_id = ${vaultId} order by block_timestamp limit 1 on conflict do nothing`,
  'snapshots of orphaned blocks': ({ db, vaultId, block }) =>
    db`delete from vault_snapshots where vault_id = ${vaultId} and block_number > ${block}`,
  'a mint': ({ db, vaultId, block, at, random }) => db`
    insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash, shares,
      assets)
    select chain_id, ${block}, ${at}, id, 99, ${hash(block)}::bytea, ${hash(block)}::bytea, 10::numeric ^ receipt_decimals,
      ${random.chance(0.5) ? null : '7'}::numeric
    from vaults where id = ${vaultId} on conflict do nothing`,
  'mints of orphaned blocks': ({ db, vaultId, block }) =>
    db`delete from share_mints where vault_id = ${vaultId} and block_number > ${block}`,
  'a block that is read at last': ({ db, vaultId }) => db`
    with read as (delete from share_reading_gaps where vault_id = ${vaultId} returning *)
    insert into share_readings (vault_id, block_number, block_timestamp, block_hash, price_numerator, price_exponent)
    select vault_id, block_number, block_timestamp, block_hash, 1, 6 from read on conflict do nothing`,
  'blocks that are to be tried again': ({ db, vaultId, random }) => db`
    update share_reading_gaps set tried_at = ${random.pick(['-infinity', '2026-12-01'])} where vault_id = ${vaultId}`,
  'a block that cannot be read': ({ db, vaultId }) => db`
    insert into share_reading_gaps (vault_id, block_number, block_timestamp, block_hash, reason, tried_at)
    select vault_id, block_number, block_timestamp, block_hash, 'no archive', '2026-12-01' from share_mints m
    where vault_id = ${vaultId} and assets is null and not exists (
      select from share_readings r where r.vault_id = m.vault_id and r.block_number = m.block_number)
    on conflict do nothing`,
  'readings of orphaned blocks': ({ db, vaultId, block }) =>
    db`delete from share_readings where vault_id = ${vaultId} and block_number > ${block}`,
  'a lot': ({ db, vaultId, block, at, random }) =>
    replaceLots(db, vaultId, async () => {
      await db`
        insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, distributor_id,
          before, after)
        select chain_id, ${block}, ${at}, id, 99, '\\x0909', ${random.pick(distributors)}, 0, ${random.int(1, 10 ** 9)}::int
        from vaults where id = ${vaultId} on conflict do nothing`
    }),
  'lots of orphaned blocks': ({ db, vaultId, block }) =>
    replaceLots(db, vaultId, async () => {
      await db`delete from lot_changes where vault_id = ${vaultId} and block_number > ${block}`
    }),
  'a reading of what the vault is': ({ db, vaultId, block, at, random }) => db`
    insert into vault_identities (vault_id, block_number, block_hash, block_timestamp, asset, receipt_token, asset_decimals,
      receipt_decimals)
    select v.id, ${block}, ${hash(block)}::bytea, ${at}, case when ${random.chance(0.5)} then '0xee' else v.asset end,
      v.receipt_token, v.asset_decimals, v.receipt_decimals
    from vaults v where v.id = ${vaultId} on conflict do nothing`,
  'readings of what the vault is, of orphaned blocks': ({ db, vaultId, block }) =>
    db`delete from vault_identities where vault_id = ${vaultId} and block_number > ${block}`,
}

/** Changes lots of a vault, and the sums that follow from them, in one transaction. */
async function replaceLots(db: Database, vaultId: number, change: () => Promise<void>): Promise<void> {
  await change()
  await db`delete from attributed_steps where vault_id = ${vaultId}`
  await db`
    insert into attributed_steps (chain_id, first_block, last_block, vault_id, step, distributor_id, shares)
    select chain_id, min(block_number), max(block_number), vault_id, floor(extract(epoch from block_timestamp) / 900)::int,
      distributor_id, sum(sum(after - before)) over (partition by distributor_id
        order by floor(extract(epoch from block_timestamp) / 900)::int)
    from lot_changes c where vault_id = ${vaultId} and block_number <= (
      select derived_to from projections p where p.chain_id = c.chain_id and p.name = 'metrics')
    group by chain_id, vault_id, distributor_id, floor(extract(epoch from block_timestamp) / 900)::int`
}

/** Changes some fact of a history that is stored. Returns which. */
export async function changeFacts(db: Database, random: Random, history: History): Promise<string> {
  const told = random.pick(history.chains)
  const [vault] = await db<{ id: number }[]>`
    select id from vaults where chain_id = ${told.chainId} order by id offset ${random.int(0, 1)} limit 1`
  const what = random.pick(Object.keys(changes))
  const block = random.int(1, told.head)
  const at = new Date((start + block * told.seconds) * 1_000)
  await changes[what]?.({ db, vaultId: vault?.id ?? 0, block, at, random })
  return `${what} at ${block} of vault ${vault?.id}`
}

/** What is stored of whole days, in the order of its keys, and how many of them no mark names. */
export async function listStored(db: Database): Promise<{ days: unknown[]; sums: unknown[]; unmarked: number }> {
  const days = await db`select * from usd_days order by vault_id, day`
  const sums = await db`select * from usd_day_sums order by distributor_id, vault_id, day`
  const [row] = await db<{ unmarked: number }[]>`
    select count(*)::int as unmarked from usd_days d where not exists (
      select from usd_day_marks m where (m.vault_id = d.vault_id or m.vault_id = any(d.bases))
        and m.from_at < to_timestamp((d.day + 1) * 86400::bigint) and m.to_at > to_timestamp(d.day * 86400::bigint))`
  return { days: [...days], sums: [...sums], unmarked: row?.unmarked ?? 0 }
}
