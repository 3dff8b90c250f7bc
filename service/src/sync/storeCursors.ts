import { instant, int8, nullable, oneOf, text } from '../postgres/columns.js'
import type { Fragment, Queryable } from '../postgres/pool.js'
import { describeTable, type RowOf, selectList } from '../postgres/table.js'

export type ChainState = 'backfilling' | 'live' | 'stalled'

const cursorsTable = describeTable('chain_cursors', {
  chainId: [int8],
  startBlock: [int8],
  blockNumber: [int8],
  /** Empty before the first block. */
  blockHash: [text],
  blockTimestamp: [nullable(instant)],
  headNumber: [int8],
  finalizedNumber: [nullable(int8)],
  /** From this block on every block's logs are compared with its header before they are derived. */
  followedFrom: [int8],
  /** The last block of the second look. */
  checkedTo: [int8],
  state: [oneOf<ChainState>()],
  reason: [nullable(text)],
  updatedAt: [instant],
  /** The head of a node that did not show our tip; null where it does. */
  nodeHead: [nullable(int8)],
  /** Since when no node showed our tip. */
  tipMissedSince: [nullable(instant)],
})

/** How far a chain is derived, and its head. */
export type Cursor = RowOf<typeof cursorsTable>

/** Blocks at the head that are derived in one transaction. */
export const headBatch = 32

/** Whether a chain is derived as far as its head; the past of sources that joined later may still be read. Pure. */
export function isAtHead({ blockNumber, headNumber }: Pick<Cursor, 'blockNumber' | 'headNumber'>): boolean {
  return headNumber - blockNumber <= headBatch
}

/** How far chains are derived, as statements of other rooms read it. */
export const cursorsOf = (db: Queryable): Fragment => db.view`(
  select chain_id, start_block, block_number, block_hash, block_timestamp, head_number, finalized_number, checked_to, state,
    reason, updated_at, node_head, tip_missed_since
  from chain_cursors)`

const columns = (db: Queryable) => selectList(db, cursorsTable)

export async function findCursor(db: Queryable, chainId: number): Promise<Cursor | undefined> {
  const rows = await db<Cursor[]>`select ${columns(db)} from chain_cursors where chain_id = ${chainId}`
  return rows[0]
}

export async function listCursors(db: Queryable): Promise<Cursor[]> {
  return db<Cursor[]>`select ${columns(db)} from chain_cursors order by chain_id`
}

/** The cursor, locked until the transaction ends. */
export async function lockCursor(db: Queryable, chainId: number): Promise<Cursor | undefined> {
  const rows = await db<Cursor[]>`select ${columns(db)} from chain_cursors where chain_id = ${chainId} for update`
  return rows[0]
}

/** Starts a chain just below its first block; an existing cursor stays. */
export async function createCursor(
  db: Queryable,
  chainId: number,
  startBlock: number,
  at: Date,
  followedFrom = startBlock,
): Promise<void> {
  const from = Math.max(startBlock, followedFrom)
  await db`
    insert into chain_cursors
      (chain_id, start_block, block_number, block_hash, head_number, followed_from, checked_to, updated_at)
    values (${chainId}, ${startBlock}, ${startBlock - 1}, '', ${startBlock - 1}, ${from}, ${from - 1}, ${at})
    on conflict do nothing`
}

export type CursorMove = {
  chainId: number
  blockNumber: number
  blockHash: string
  blockTimestamp: Date | null
  at: Date
}

export async function moveCursor(db: Queryable, move: CursorMove): Promise<void> {
  await db`
    update chain_cursors set block_number = ${move.blockNumber}, block_hash = ${move.blockHash},
      block_timestamp = ${move.blockTimestamp}, head_number = greatest(head_number, ${move.blockNumber}), updated_at = ${move.at},
      node_head = null, tip_missed_since = null
    where chain_id = ${move.chainId}`
}

/**
 * Records the head of a node without moving the cursor. Does nothing if the cursor has moved, because the findings are then
 * stale. Finality never goes back. `nodeHead` is the head of a node that did not show our tip.
 */
export async function recordHead(
  db: Queryable,
  head: {
    chainId: number
    cursor: Pick<Cursor, 'blockNumber' | 'blockHash'>
    headNumber: number
    finalizedNumber: number | null
    state: ChainState
    reason: string | null
    nodeHead?: number | null
    at: Date
  },
): Promise<void> {
  const nodeHead = head.nodeHead ?? null
  await db`
    update chain_cursors set head_number = ${head.headNumber}, node_head = ${nodeHead},
      tip_missed_since = case when ${nodeHead}::bigint is not null then coalesce(tip_missed_since, ${head.at}) end,
      finalized_number = greatest(finalized_number, ${head.finalizedNumber}), state = ${head.state},
      reason = ${head.reason}, updated_at = ${head.at}
    where chain_id = ${head.chainId} and block_number = ${head.cursor.blockNumber}
      and block_hash = ${head.cursor.blockHash}`
}

/** Blocks up to this one have been looked at again, or, where it is lower than before, are to be from there on. */
export async function recordChecked(db: Queryable, chainId: number, checkedTo: number): Promise<void> {
  await db`update chain_cursors set checked_to = ${checkedTo} where chain_id = ${chainId}`
}

/** Records that a chain cannot go on by itself, and why. */
export async function recordStall(db: Queryable, chainId: number, reason: string, at: Date): Promise<void> {
  await db`
    update chain_cursors set state = 'stalled', reason = ${reason}, updated_at = ${at} where chain_id = ${chainId}`
}

export type Reorg = {
  chainId: number
  detectedAt: Date
  ancestorNumber: number
  ancestorHash: string
  oldNumber: number
  oldHash: string
}

/** Records a reorganisation; returns its id. */
export async function recordReorg(db: Queryable, reorg: Reorg): Promise<number> {
  const rows = await db<{ id: number }[]>`
    insert into chain_reorgs
      (chain_id, detected_at, ancestor_number, ancestor_hash, old_number, old_hash, retracted_interactions)
    values (${reorg.chainId}, ${reorg.detectedAt}, ${reorg.ancestorNumber}, ${reorg.ancestorHash}, ${reorg.oldNumber},
      ${reorg.oldHash}, 0) returning id`
  const [row] = rows
  if (!row) throw new Error('a recorded reorganisation has no id')
  return row.id
}

export async function recordRetractedCount(db: Queryable, reorgId: number, count: number): Promise<void> {
  await db`update chain_reorgs set retracted_interactions = ${count} where id = ${reorgId}`
}

/**
 * After an operator's rewind: nothing above the block is final any more, and the chain is no longer stalled. A chain of
 * which nothing was known to be final stays so.
 */
export async function lowerFinalized(db: Queryable, chainId: number, number: number): Promise<void> {
  await db`
    update chain_cursors set finalized_number = case when finalized_number > ${number} then ${number} else finalized_number end,
      head_number = ${number},
      state = 'backfilling', reason = null
    where chain_id = ${chainId}`
}
