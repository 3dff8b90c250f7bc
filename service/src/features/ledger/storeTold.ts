import type { Fragment, Queryable } from '../../postgres/pool.js'
import type { ActivityRow } from './activity.js'
import { readEntriesOf } from './storePages.js'

export type Told = {
  /** Entries up to this block were told. */
  toldTo: number
  /** Entries up to this block are told as late. */
  lateTo: number
  /** Told entries were changed since. */
  isChanged: boolean
}

/** How far a chain was told; undefined before the first time. */
export async function findTold(db: Queryable, chainId: number): Promise<Told | undefined> {
  const [row] = await db<Told[]>`
    select told_to as "toldTo", late_to as "lateTo",
      exists (select from ledger_changes c where c.chain_id = t.chain_id) as "isChanged"
    from ledger_told t where chain_id = ${chainId}`
  return row
}

export async function recordTold(
  db: Queryable,
  told: { chainId: number; toldTo: number; lateTo: number },
): Promise<void> {
  await db`
    insert into ledger_told (chain_id, told_to, late_to) values (${told.chainId}, ${told.toldTo}, ${told.lateTo})
    on conflict (chain_id) do update set told_to = excluded.told_to`
}

/** The entries of a chain in (after, to], in the order of its logs. */
export async function listEntriesOf(
  db: Queryable,
  { chainId, after, to }: { chainId: number; after: number; to: number },
): Promise<ActivityRow[]> {
  return readEntriesOf(
    db,
    db`(select * from interactions where chain_id = ${chainId} and block_number > ${after} and block_number <= ${to})`,
  )
}

/** Whether an entry that stands is the one that was told: the same log gave both. */
const isSame = (db: Queryable): Fragment => db`
  (now.id, now.vault_id, now.kind, now.block_number, now.block_hash, now.transaction_hash, now.log_index, now.wallet,
    now.distributor_id, now.attribution, now.assets, now.shares, now.is_swap)
  = (told.id, told.vault_id, told.kind, told.block_number, told.block_hash, told.transaction_hash, told.log_index,
    told.wallet, told.distributor_id, told.attribution, told.assets, told.shares, told.is_swap)`

/**
 * Takes up to `most` entries out of the noted changes, and compares what was told of them with what stands up to block
 * `toldTo`. Returns the told entries that do not stand any more, and those that stand and were not told.
 */
export async function takeChanges(
  db: Queryable,
  { chainId, toldTo, most }: { chainId: number; toldTo: number; most: number },
): Promise<{ gone: ActivityRow[]; came: ActivityRow[] }> {
  const rows = await db<{ id: string }[]>`
    select id from ledger_changes where chain_id = ${chainId} group by id order by min(seq) limit ${most}`
  const ids = db`${rows.map(({ id }) => id)}::uuid[]`
  // The first change of an entry tells whether it was told before.
  const told = db`(
    select distinct on (id) * from ledger_changes where chain_id = ${chainId} and id = any(${ids}) order by id, seq)`
  const now = db`(select * from interactions where id = any(${ids}) and block_number <= ${toldTo})`
  const gone = await readEntriesOf(
    db,
    db`(select told.* from ${told} told where told.is_gone
      and not exists (select from ${now} now where ${isSame(db)}))`,
  )
  const came = await readEntriesOf(
    db,
    db`(select now.* from ${now} now
      where not exists (select from ${told} told where told.is_gone and ${isSame(db)}))`,
  )
  await db`delete from ledger_changes where chain_id = ${chainId} and id = any(${ids})`
  return { gone, came }
}
