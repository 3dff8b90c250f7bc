import { bool, hex, instant, int8, nullable, uuid } from '../../postgres/columns.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, type RowOf, selectList } from '../../postgres/table.js'
import type { Observations } from '../../sync/projection.js'

const sightingsTable = describeTable('action_sightings', {
  actionId: [uuid],
  transactionHash: [hex],
  chainId: [int8],
  /** False for a swap that only goes with the action's own call. */
  isMain: [bool],
  /** Null, with the two below, where no block is known to have it. */
  blockNumber: [nullable(int8)],
  blockHash: [nullable(hex)],
  success: [nullable(bool)],
  /** Read when its block was final already. */
  isFinal: [bool],
  foundAt: [instant],
})

/** A transaction that was found to carry an action, in the block it was found in. */
export type ActionSighting = RowOf<typeof sightingsTable>

/** Most transactions kept of one action: a wallet may send the same calldata any number of times. */
const sightingsMax = 100

/** The transactions an action was found in, in the order they were found. */
export async function listSightings(db: Queryable, actionId: string): Promise<ActionSighting[]> {
  return db<ActionSighting[]>`
    select ${selectList(db, sightingsTable)} from action_sightings where action_id = ${actionId}
    order by found_at, transaction_hash`
}

/** The actions that were found in a transaction, on one chain or on any. */
export async function listSightingsIn(
  db: Queryable,
  transactionHash: string,
  chainId?: number,
): Promise<ActionSighting[]> {
  return db<ActionSighting[]>`
    select ${selectList(db, sightingsTable)} from action_sightings
    where transaction_hash = hex_bytes(${transactionHash}) ${chainId === undefined ? db`` : db`and chain_id = ${chainId}`}
    order by found_at, action_id`
}

/** Keeps that a transaction carries an action, or where it stands now; of an action that has too many nothing. */
export async function recordSighting(tx: Transaction, sighting: ActionSighting): Promise<void> {
  const { actionId, transactionHash, chainId, isMain, blockNumber, blockHash, success, isFinal, foundAt } = sighting
  await tx`
    insert into action_sightings
      (action_id, transaction_hash, chain_id, is_main, block_number, block_hash, success, is_final, found_at)
    select ${actionId}, hex_bytes(${transactionHash}), ${chainId}, ${isMain}, ${blockNumber}::bigint,
      hex_bytes(${blockHash}::text), ${success}::boolean, ${isFinal}, ${foundAt}
    where (select count(*) from action_sightings
      where action_id = ${actionId} and transaction_hash <> hex_bytes(${transactionHash})) < ${sightingsMax}
    on conflict (action_id, transaction_hash) do update set block_number = excluded.block_number,
      block_hash = excluded.block_hash, success = excluded.success, is_final = excluded.is_final`
}

const scansTable = describeTable('input_scans', { chainId: [int8], fromBlock: [int8], toBlock: [int8] })

/** The blocks whose inputs are scanned: those above `fromBlock` up to `toBlock`. */
export type InputScan = RowOf<typeof scansTable>

export async function findInputScan(db: Queryable, chainId: number): Promise<InputScan | undefined> {
  const rows = await db<InputScan[]>`select ${selectList(db, scansTable)} from input_scans where chain_id = ${chainId}`
  return rows[0]
}

/** Starts the scan of a chain above a block; one that is there goes on. */
export async function createInputScan(db: Queryable, chainId: number, block: number): Promise<void> {
  await db`
    insert into input_scans (chain_id, from_block, to_block) values (${chainId}, ${block}, ${block})
    on conflict do nothing`
}

/** Moves a scan on; false where it stands elsewhere by now. */
export async function moveInputScan(
  tx: Transaction,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<boolean> {
  const moved = await tx`update input_scans set to_block = ${to} where chain_id = ${chainId} and to_block = ${from}`
  return moved.count > 0
}

/**
 * A reorganisation removes the places of transactions in orphaned blocks; which transactions carry an action stays known. Orphaned
 * blocks are scanned again.
 */
export const sightingObservations: Observations = {
  name: 'action sightings',
  rewind: async (tx, { chainId, number }) => {
    await tx`
      update action_sightings set block_number = null, block_hash = null, success = null, is_final = false
      where chain_id = ${chainId} and block_number > ${number}`
    await tx`
      update input_scans set from_block = least(from_block, ${number}::bigint), to_block = least(to_block, ${number}::bigint)
      where chain_id = ${chainId}`
  },
}
