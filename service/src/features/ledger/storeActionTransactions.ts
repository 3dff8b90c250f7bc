import type { Queryable } from '../../postgres/pool.js'

/** A transaction that carries an action, in the block it is in; `retracted`: in one the chain took back. */
export type ActionTransaction = { transactionHash: string; blockNumber: number; retracted: boolean }

/** Most transactions told of one action: a wallet may send the same calldata any number of times. */
const transactionsMax = 100

/** The transactions the watcher saw carry an action, each once, newest last. */
export async function listActionTransactions(
  db: Queryable,
  action: { id: string; chainId: number },
): Promise<ActionTransaction[]> {
  const rows = await db<ActionTransaction[]>`
    select * from (
      select distinct on (transaction_hash) hex_text(transaction_hash) as "transactionHash",
        block_number as "blockNumber", retracted
      from transaction_attributions where action_id = ${action.id} and chain_id = ${action.chainId}
      order by transaction_hash, retracted, block_number desc) t
    order by "blockNumber" desc, "transactionHash" limit ${transactionsMax}`
  return rows.reverse()
}
