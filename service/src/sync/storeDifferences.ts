import type { Transaction } from '../postgres/pool.js'
import type { AnyTable } from './projection.js'

/** A row that derivation gave before and does not give any more, or gives now and did not before. */
export type RowChange = { table: string; change: 'gone' | 'new'; row: string }

/** Rows of a table that differ: how many, and the first of them. */
export type TableDifference = { table: string; gone: number; new: number; rows: RowChange[] }

const heldName = ({ name }: AnyTable): string => `held_${name}`

/** Holds the rows tables have of a chain until the transaction ends. */
export async function holdRows(tx: Transaction, chainId: number, tables: readonly AnyTable[]): Promise<void> {
  for (const table of tables)
    await tx`
      create temp table ${tx(heldName(table))} on commit drop as
      select * from ${tx(table.name)} where chain_id = ${chainId}`
}

/** Differences between the earlier rows and the present rows. */
export async function listDifferences(
  tx: Transaction,
  chainId: number,
  tables: readonly AnyTable[],
  rowsMax: number,
): Promise<TableDifference[]> {
  const found: TableDifference[] = []
  for (const table of tables) {
    const held = tx`select * from ${tx(heldName(table))}`
    const now = tx`select * from ${tx(table.name)} where chain_id = ${chainId}`
    const rows = await tx<{ change: RowChange['change']; row: string; count: number }[]>`
      with gone as (${held} except all ${now}), new as (${now} except all ${held})
      (select 'gone' as change, to_jsonb(gone)::text as row, count(*) over () as count from gone limit ${rowsMax})
      union all
      (select 'new' as change, to_jsonb(new)::text as row, count(*) over () as count from new limit ${rowsMax})`
    const of = (change: RowChange['change']) => rows.find((each) => each.change === change)?.count ?? 0
    if (rows.length > 0)
      found.push({
        ...{ table: table.name, gone: of('gone'), new: of('new') },
        rows: rows.map(({ change, row }) => ({ table: table.name, change, row })),
      })
  }
  return found
}
