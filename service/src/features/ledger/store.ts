import type { Queryable } from '../../postgres/pool.js'

export type WatchedTransaction = {
  chainId: number
  blockNumber: number
  blockHash: string
  timestamp: Date
  from: string
  to: string | null
  distributorId: string | null
  codes: string[]
  schema: string | null
  signatureValid: boolean | null
  /** The action of ours its signed suffix names. */
  actionId: string | null
  /** Why something its calldata says does not count. */
  problems: string[]
  retracted: boolean
}

/** What the watcher saw of a transaction, once per block it was in; orphaned blocks are marked. Newest last. */
export async function listWatched(db: Queryable, txHash: string, chainId?: number): Promise<WatchedTransaction[]> {
  return db<WatchedTransaction[]>`
    select chain_id as "chainId", block_number as "blockNumber", block_hash as "blockHash",
      block_timestamp as timestamp, sender as "from", target as "to", distributor_id as "distributorId", codes, schema,
      signature_valid as "signatureValid", action_id as "actionId", problems,
      retracted
    from watched where transaction_hash = ${txHash.toLowerCase()}
      ${chainId === undefined ? db`` : db`and chain_id = ${chainId}`}
    order by chain_id, retracted desc, block_number`
}
