import type { Queryable } from '../postgres/pool.js'

/** A running rebuild. */
export type Rebuild = {
  chainId: number
  /** The projections and their configuration, as a text. */
  rests: string
  doneTo: number
  events: number
  readsTo: number
  spoiled: boolean
}

export async function findRebuild(db: Queryable): Promise<Rebuild | undefined> {
  const rows = await db<Rebuild[]>`
    select chain_id as "chainId", rests, done_to as "doneTo", events, reads_to as "readsTo", spoiled from rebuilds`
  return rows[0]
}

export async function createRebuild(db: Queryable, rebuild: Rebuild): Promise<void> {
  const { chainId, rests, doneTo, events, readsTo } = rebuild
  await db`
    insert into rebuilds (chain_id, rests, done_to, events, reads_to)
    values (${chainId}, ${rests}, ${doneTo}, ${events}, ${readsTo})`
}

/**
 * Records the progress of a rebuild. Returns whether it may continue: its input is unchanged, and no other process, which
 * saw the lock as free, has advanced it.
 */
export async function recordRebuilt(
  db: Queryable,
  { chainId, from, doneTo, events }: Pick<Rebuild, 'chainId' | 'doneTo' | 'events'> & { from: number },
): Promise<boolean> {
  const { count } = await db`
    update rebuilds set done_to = ${doneTo}, events = ${events}
    where chain_id = ${chainId} and done_to = ${from} and not spoiled`
  return count === 1
}

export async function removeRebuilds(db: Queryable): Promise<void> {
  await db`delete from rebuilds`
}

/** To be called by code that changes, from a block on, the data of a rebuild: the rebuild then starts again. */
export async function spoilRebuild(db: Queryable, chainId: number, from: number): Promise<void> {
  await db`update rebuilds set spoiled = true where chain_id = ${chainId} and reads_to >= ${from} and not spoiled`
}

/** From here on a rebuild reads up to this block. */
export async function recordReach(db: Queryable, chainId: number, readsTo: number): Promise<void> {
  await db`update rebuilds set reads_to = ${readsTo} where chain_id = ${chainId}`
}
