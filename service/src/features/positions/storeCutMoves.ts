import type { CutMove } from '../../derive/rows.js'
import { hex, int4, int8, numeric } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, insertRows } from '../../postgres/table.js'
import type { Above, Place } from '../../sync/projection.js'

export const cutMovesTable = describeTable('cut_moves', {
  chainId: [int8],
  vaultId: [int4],
  wallet: [hex],
  blockNumber: [int8],
  transactionIndex: [int4],
  amount: [numeric],
})

/** Remembers what was cut. */
export async function recordCutMoves(
  db: Queryable,
  chainId: number,
  rows: readonly CutMove[],
  place: Place,
): Promise<void> {
  await insertRows(db, place(cutMovesTable), rows, { shared: { chainId } })
}

/** Forgets what was cut above a block, up to where the chain is derived; `vaultIds` limits it to some vaults. */
export async function removeCutMovesAbove(
  db: Queryable,
  { chainId, number, tip }: Above,
  vaultIds?: readonly number[],
): Promise<void> {
  await db`
    delete from cut_moves where chain_id = ${chainId} and block_number between ${number + 1} and ${Math.max(number, tip)}
      and (${vaultIds === undefined}::boolean or vault_id = any(${[...(vaultIds ?? [])]}::int[]))`
}
