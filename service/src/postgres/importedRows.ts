import type { ImportedTable, RecordOf } from './imported.js'
import type { Queryable } from './pool.js'
import { columnName } from './table.js'

/** Rows to write, by member; members that are no column of the table are left out. */
export type NewRow = Readonly<Record<string, unknown>>

/** Values of rows that neither the file nor the present row names, in addition to those of the table's description. */
type Absent = Readonly<Record<string, unknown>>

/** A page is taken in within half a millisecond. */
const pageRows = 100

/** The columns of a table under the names of their members, for the list of a select. */
export function selectList({ name, columns }: ImportedTable): string {
  return Object.keys(columns)
    .map((member) => `${name}.${columnName(member)} as "${member}"`)
    .join(', ')
}

/** The rows of a table; `rest` is what follows the table's name. */
export async function readRows<T extends ImportedTable>(tx: Queryable, table: T, rest = ''): Promise<RecordOf<T>[]> {
  return tx.unsafe<RecordOf<T>[]>(`select ${selectList(table)} from ${table.name} ${rest}`)
}

/** The same in pages: the driver parses a whole result at once, and other work waits meanwhile. */
export async function readRowPages<T extends ImportedTable>(
  tx: Queryable,
  table: T,
  rest = '',
): Promise<RecordOf<T>[]> {
  return readPages(tx, `select ${selectList(table)} from ${table.name} ${rest}`, (row: RecordOf<T>) => row)
}

/** Maps the rows of a statement, page by page. */
export async function readPages<R, M>(tx: Queryable, text: string, make: (row: R) => M): Promise<M[]> {
  const made: M[] = []
  for await (const page of tx.unsafeCursor<R[]>(text, pageRows)) for (const row of page) made.push(make(row))
  return made
}

/** Adds rows, or replaces those with the same key. */
export async function upsertRows(tx: Queryable, table: ImportedTable, rows: readonly NewRow[], absent: Absent = {}) {
  if (rows.length === 0) return
  const { name, key, columns } = table
  const same = key.map((member) => `o.${columnName(member)} = r.${columnName(member)}`).join(' and ')
  const changed = Object.keys(columns).filter((member) => !key.includes(member))
  const names = changed.map(columnName)
  await tx.unsafe(
    `${insertInto(table, true)}
    left join ${name} o on ${same}
    on conflict (${key.map(columnName).join(', ')}) do update set
      ${names.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    [toJson(table, rows), toJson(table, [absentOf(table, absent)])],
  )
}

/** Replaces the rows that belong to the owners by the given ones; `owner` is the member that names one. */
export async function replaceRows(
  tx: Queryable,
  table: ImportedTable,
  owner: string,
  ownerIds: readonly unknown[],
  rows: readonly NewRow[],
): Promise<void> {
  if (ownerIds.length === 0) return
  const { name } = table
  const owners = ownerIds.map((id) => ({ [owner]: id }))
  const column = columnName(owner)
  await tx.unsafe(
    `delete from ${name} using jsonb_populate_recordset(null::${name}, $1::text::jsonb) r
    where ${name}.${column} = r.${column}`,
    [toJson(table, owners)],
  )
  if (rows.length === 0) return
  await tx.unsafe(insertInto(table, false), [toJson(table, rows), toJson(table, [absentOf(table, {})])])
}

/**
 * Rows of `$1` with what they leave out of the one of `$2`, and of the row `o` that is there where the column keeps it.
 * The columns' types are the table's own.
 */
function insertInto({ name, columns }: ImportedTable, keeps: boolean): string {
  const members = Object.entries(columns).map(([member, { kept }]) => ({ column: columnName(member), kept }))
  const values = members.map(({ column, kept }) =>
    keeps && kept ? `coalesce(r.${column}, o.${column}, d.${column})` : `coalesce(r.${column}, d.${column})`,
  )
  return `insert into ${name} (${members.map(({ column }) => column).join(', ')})
    select ${values.join(', ')}
    from jsonb_populate_recordset(null::${name}, $1::text::jsonb) r
    cross join jsonb_populate_recordset(null::${name}, $2::text::jsonb) d`
}

function absentOf({ columns }: ImportedTable, more: Absent): NewRow {
  return { ...Object.fromEntries(Object.entries(columns).map(([member, { absent }]) => [member, absent])), ...more }
}

function toJson({ columns }: ImportedTable, rows: readonly NewRow[]): string {
  const members = Object.keys(columns).map((member) => [member, columnName(member)] as const)
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(members.map(([member, column]) => [column, row[member] ?? undefined]))),
  )
}
