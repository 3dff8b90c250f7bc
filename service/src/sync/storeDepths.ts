import type { Fragment, Queryable } from '../postgres/pool.js'
import { chainsOf } from '../rpc/storeChains.js'

const depthRows = (db: Queryable): Fragment => db.view`(
  select c.chain_id, c.block_number, c.block_timestamp, c.finalized_number, ch.confirmations, ch.clock,
    least(c.block_number, greatest(
      greatest(c.head_number, c.block_number) - ch.confirmations + 1, coalesce(c.finalized_number, -1))) as confirmed
  from chain_cursors c join ${chainsOf(db)} ch on ch.chain_id = c.chain_id)`

/**
 * How deep each chain is confirmed, below the newest block that is known: a set of `chain_id` and `confirmed`, the last block that
 * is. No view, so that a statement over many rows is planned for its values.
 */
export const depths = (db: Queryable): Fragment => db`${depthRows(db)}`

/** The clock of each chain that is read, and when its newest confirmed block was made (or one before it, where its header is not kept). */
export const chainTimes = (db: Queryable): Fragment => db.view`(
  select d.chain_id, d.clock, case when d.confirmed >= d.block_number then d.block_timestamp else (
    select b.timestamp from blocks b where b.chain_id = d.chain_id and b.number <= d.confirmed
    order by b.number desc limit 1) end as confirmed_at
  from ${depthRows(db)} d)`

export type Depth = {
  /** The last block that is derived, and the last one that is confirmed. */
  blockNumber: number
  confirmed: number
  /** When that one was made, or a block before it where its header is not kept. */
  confirmedAt: Date | null
  confirmations: number
  /** Mean time between the last blocks; null where too few are kept. */
  blockSeconds: number | null
}

/** How far a chain is read; undefined where it is not. */
export async function findDepth(db: Queryable, chainId: number): Promise<Depth | undefined> {
  const [row] = await db<Depth[]>`
    select d.block_number as "blockNumber", d.confirmed, d.confirmations,
      case when d.confirmed >= d.block_number then d.block_timestamp else (
        select b.timestamp from blocks b where b.chain_id = d.chain_id and b.number <= d.confirmed
        order by b.number desc limit 1) end as "confirmedAt",
      (select (extract(epoch from d.block_timestamp - b.timestamp) / nullif(d.block_number - b.number, 0))::float8
        from blocks b where b.chain_id = d.chain_id and b.number >= d.block_number - 100
        order by b.number limit 1) as "blockSeconds"
    from ${depths(db)} d where d.chain_id = ${chainId}`
  return row
}

/** Up to when a chain is confirmed, and up to when that is final too; null: not at all. `confirmed` is the last such block. */
export type Reach = { chainId: number; confirmed: number; confirmedAt: Date | null; finalAt: Date | null }

/**
 * How far the rows of some projections are of confirmed, and of final, blocks. The time is that of a block before the last one
 * where its header is not kept. A chain that is not read is left out.
 */
export async function listReach(
  db: Queryable,
  { chainIds, projections }: { chainIds: readonly number[]; projections: readonly string[] },
): Promise<Reach[]> {
  const timeOf = (number: Fragment) => db`
    case when ${number} >= d.block_number then d.block_timestamp else (
      select b.timestamp from blocks b where b.chain_id = d.chain_id and b.number <= ${number}
      order by b.number desc limit 1) end`
  return db<Reach[]>`
    select d.chain_id as "chainId", r.confirmed, ${timeOf(db`r.confirmed`)} as "confirmedAt", ${timeOf(db`r.final`)} as "finalAt"
    from ${depths(db)} d
    cross join lateral (
      select case when count(*) = ${projections.length}::int then min(p.derived_to) else -1 end as number from projections p
      where p.chain_id = d.chain_id and p.name = any(${[...projections]}::text[])) p
    cross join lateral (
      select least(d.confirmed, p.number) as confirmed,
        least(d.confirmed, p.number, coalesce(d.finalized_number, -1)) as final) r
    where d.chain_id = any(${[...chainIds]}::bigint[])`
}
