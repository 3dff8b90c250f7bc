import type { Fragment, Queryable } from '../postgres/pool.js'
import { copyRows, insertRows } from '../postgres/table.js'
import type { Above, AnyTable, DerivedTable, Place } from './projection.js'

/** The sources whose rows alone are taken back, and the configuration of every projection in the rewind, by name. */
type Part = { only?: unknown; beside?: ReadonlyMap<string, unknown> }

/** A condition: rows that follow from these sources of a projection. */
export type PartOf = (db: Queryable, by: Part) => Fragment

/** Writes the rows of blocks, lists of rows or single ones, into the one table of a projection. */
export async function writeDerived(
  db: Queryable,
  tables: readonly DerivedTable[],
  rows: readonly unknown[],
  { chainId, place, isLive }: { chainId: number; place: Place; isLive: boolean },
): Promise<void> {
  const table = place(onlyTable(tables))
  const all = rows.flat().filter((row) => row !== null && row !== undefined) as Record<string, unknown>[]
  if (all.length === 0) return
  if (isLive) {
    await insertRows(db, table, all, { shared: { chainId } })
    return
  }
  const copy = await copyRows(db, table, { shared: { chainId } })
  await copy.write(all)
  await copy.end()
}

function onlyTable(tables: readonly DerivedTable[]): AnyTable {
  const [first, ...others] = tables
  if (!first || others.length > 0) throw new Error('a projection of several tables says itself how they are written')
  return first.table
}

/** Removes the rows above a block from the tables of a projection. Keeps records. Returns 0: no ledger entry went. */
export async function removeDerived(
  db: Queryable,
  tables: readonly DerivedTable[],
  { chainId, number, tip }: Above,
  { parts, ...by }: Part & { parts: readonly PartOf[] },
): Promise<number> {
  const [from, to] = [number + 1, Math.max(number, tip)]
  const [part] = parts
  if (by.only !== undefined && !part)
    throw new Error('a projection whose sources may be taken back alone says itself how')
  for (const { table, isRecord } of tables)
    await db`
      delete from ${db(table.name)} where chain_id = ${chainId} and block_number between ${from} and ${to}
        ${isRecord ? db`and not ${isRecord(db)}` : db``} ${by.only !== undefined && part ? db`and ${part(db, by)}` : db``}`
  return 0
}
