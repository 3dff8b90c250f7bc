import { type DerivedRows, emptyRows } from '../../derive/rows.js'
import type { Queryable } from '../../postgres/pool.js'
import { parseRows, selectList } from '../../postgres/table.js'
import { balanceChangesTable, lotChangesTable } from './storePositions.js'

/**
 * What blocks in [from, to] changed of balances and lots, by block, each wallet's changes in the order they happened. It is
 * all that a later projection takes of positions: requests, entries and signatures are left out.
 */
export async function recallChanges(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<ReadonlyMap<number, DerivedRows>> {
  const byBlock = new Map<number, DerivedRows>()
  const rowsOf = (number: number): DerivedRows => {
    const known = byBlock.get(number) ?? emptyRows()
    byBlock.set(number, known)
    return known
  }
  const balances = await db<object[]>`
    select ${selectList(db, balanceChangesTable)} from balance_changes
    where chain_id = ${chainId} and block_number between ${from} and ${to} order by block_number, transaction_index`
  for (const { chainId: _, ...row } of parseRows(balanceChangesTable, balances))
    rowsOf(row.blockNumber).balanceChanges.push(row)
  const lots = await db<object[]>`
    select ${selectList(db, lotChangesTable)} from lot_changes
    where chain_id = ${chainId} and block_number between ${from} and ${to} order by block_number, transaction_index`
  for (const { chainId: _, ...row } of parseRows(lotChangesTable, lots)) rowsOf(row.blockNumber).lotChanges.push(row)
  return byBlock
}
