import type { Transaction } from '../postgres/pool.js'
import { takeTwin, twinOf } from '../postgres/table.js'
import type { AnyProjection, AnyTable, Place } from './projection.js'

const twins = new Map<AnyTable, AnyTable>()

/** The twin table in which a rebuild writes; always the same object for a table, because it caches statements. */
export const beside: Place = (table) => {
  const known = twins.get(table) ?? twinOf(table)
  twins.set(table, known)
  return known as typeof table
}

/** Replaces the rows of a projection for a chain by those of its twin tables. */
export async function takeTwins(
  tx: Transaction,
  chainId: number,
  { tables }: Pick<AnyProjection, 'tables'>,
): Promise<void> {
  for (const { table, isRecord } of tables)
    await takeTwin(tx, table, isRecord ? tx`chain_id = ${chainId} and not ${isRecord(tx)}` : tx`chain_id = ${chainId}`)
}

/** Empties the twin tables. */
export async function clearTwins(tx: Transaction, { tables }: Pick<AnyProjection, 'tables'>): Promise<void> {
  for (const { table } of tables) await tx`truncate ${tx(beside(table).name)}`
}
