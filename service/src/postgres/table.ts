import type { ColumnType } from './columns.js'
import type { CopyIn, Fragment, Queryable, Transaction } from './pool.js'

/**
 * One description of a table: what its columns are called here and there, and of what type they are. From it come the
 * statement that inserts rows, the lines of COPY, what is read, and the comparison with rows derived again.
 */
export type Table<Row> = {
  readonly name: string
  readonly columns: readonly Column[]
  readonly fields: { readonly [field in keyof Row]: Column }
  /** Texts of statements, each made once: the same text is prepared once. */
  readonly statements: Map<string, TemplateStringsArray>
}

// biome-ignore lint/suspicious/noExplicitAny: what a column holds is known where its table is described
type Column = { readonly field: string; readonly column: string; readonly type: ColumnType<any> }
// biome-ignore lint/suspicious/noExplicitAny: the same
type Described = Record<string, readonly [type: ColumnType<any>, column?: string]>

/** The value a row of a table is read as and written from. */
export type RowOf<T> = T extends Table<infer Row> ? Row : never

type DescribedRow<D extends Described> = { [field in keyof D]: D[field][0] extends ColumnType<infer T> ? T : never }

/** Describes a table: each field with its type, and its column where that is not the field in snake case. */
export function describeTable<D extends Described>(name: string, described: D): Table<DescribedRow<D>> {
  const columns = Object.entries(described).map(([field, [type, column]]) => ({
    field,
    column: column ?? columnName(field),
    type,
  }))
  const fields = Object.fromEntries(columns.map((column) => [column.field, column]))
  return { name, columns, fields: fields as Table<DescribedRow<D>>['fields'], statements: new Map() }
}

/** The column of a field: `baseToken` is `base_token`. */
export function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Stands in the text of a statement where a value goes. */
const hole = '\u0000'

/** The text of a statement, made when it is first asked for. */
function statementOf(table: Table<never>, key: string, write: () => string): TemplateStringsArray {
  const known = table.statements.get(key)
  if (known) return known
  const parts = write().split(hole)
  const strings = Object.assign(parts, { raw: parts })
  table.statements.set(key, strings)
  return strings
}

const namesOf = (columns: readonly Column[]) => columns.map(({ column }) => column).join(', ')
const arraysOf = (columns: readonly Column[]) => columns.map(({ type }) => `${hole}::${type.element}[]`).join(', ')
const sent = ({ field, type }: Column, row: unknown) => type.send((row as Record<string, unknown>)[field])

/** The call of a statement whose text was put together here. */
type Call = <T>(strings: TemplateStringsArray, ...values: readonly unknown[]) => T
const callOf = (db: Queryable) => db as unknown as Call

type NoFields = Record<never, never>

/**
 * Inserts rows; no statement runs without rows. `shared` holds the fields all rows have in common, `conflict` is the text
 * after `on conflict`. Returns how many rows were inserted or updated.
 */
export async function insertRows<Row, Shared extends Partial<Row> = NoFields>(
  db: Queryable,
  table: Table<Row>,
  rows: readonly Omit<Row, keyof Shared>[],
  options: { shared?: Shared; conflict?: string } = {},
): Promise<number> {
  if (rows.length === 0) return 0
  const { shared = {}, conflict } = options
  const common = table.columns.filter(({ field }) => field in shared)
  const own = table.columns.filter(({ field }) => !(field in shared))
  const strings = statementOf(table as Table<never>, `insert ${namesOf(common)}; ${conflict}`, () => {
    const stored = [
      ...own.map(({ type, column }) => type.store(`t.${column}`)),
      ...common.map(({ type, column }) => type.store(`s.${column}`)),
    ]
    const values = common.map(({ type }) => `${hole}::${type.element}`).join(', ')
    return [
      `insert into ${table.name} (${namesOf([...own, ...common])}) select ${stored.join(', ')}`,
      `from unnest(${arraysOf(own)}) as t (${namesOf(own)})`,
      common.length === 0 ? '' : `cross join (values (${values})) as s (${namesOf(common)})`,
      conflict === undefined ? '' : `on conflict ${conflict}`,
    ].join('\n')
  })
  const arrays = own.map((column) => rows.map((row) => sent(column, row)))
  const { count } = await callOf(db)<Promise<{ count: number }>>(
    strings,
    ...arrays,
    ...common.map((column) => sent(column, shared)),
  )
  return count
}

function setOf(columns: readonly Column[]): string {
  const stored = columns.map(({ type, column }) => `${type.store(`t.${column}`)} as ${column}`)
  return `(select ${stored.join(', ')} from unnest(${arraysOf(columns)}) as t (${namesOf(columns)}))`
}

/** Some fields of rows as a set a statement can join: `(select …)`, with the names of the table's columns. */
export function rowSet<Row, Field extends keyof Row & string>(
  db: Queryable,
  table: Table<Row>,
  fields: readonly Field[],
  rows: readonly NoInfer<Pick<Row, Field>>[],
): Fragment {
  const columns = fields.map((field) => table.fields[field])
  const strings = statementOf(table as Table<never>, `set ${fields.join()}`, () => setOf(columns))
  return callOf(db)<Fragment>(strings, ...columns.map((column) => rows.map((row) => sent(column, row))))
}

/**
 * The expressions between `select` and `from` that read rows of a table for `parseRows`. `of` is the name
 * the statement gives the table, `without` are fields that are not read.
 */
export function selectList<Row>(
  db: Queryable,
  table: Table<Row>,
  options: { of?: string; without?: readonly (keyof Row)[] } = {},
): Fragment {
  const { of, without = [] } = options
  const key = `select ${of} ${without.join()}`
  return callOf(db)<Fragment>(statementOf(table as Table<never>, key, () => listOf(table, options)))
}

function listOf<Row>(table: Table<Row>, options: { of?: string; without?: readonly (keyof Row)[] }): string {
  const { of, without = [] } = options
  return table.columns
    .filter(({ field }) => !without.includes(field as keyof Row))
    .map(({ field, column, type }) => `${type.load(of === undefined ? column : `${of}.${column}`)} as "${field}"`)
    .join(', ')
}

/**
 * The rows of a table that have one of the keys in some fields; empty without keys. `tail` is appended to the statement, in
 * which the table is named `r`, with a `?` for each of `values`. The statement is one text, so that it is prepared.
 */
export async function findRows<Row, Field extends keyof Row & string, Without extends keyof Row & string = never>(
  db: Queryable,
  table: Table<Row>,
  fields: readonly Field[],
  keys: readonly Pick<Row, Field>[],
  options: { without?: readonly Without[]; tail?: string; values?: readonly (string | number)[] } = {},
): Promise<Omit<Row, Without>[]> {
  if (keys.length === 0) return []
  const { without = [], tail = '', values = [] } = options
  const columns = fields.map((field) => table.fields[field])
  const strings = statementOf(table as Table<never>, `find ${fields.join()} ${without.join()} ${tail}`, () =>
    [
      `select ${listOf(table, { of: 'r', without })}`,
      `from ${setOf(columns)} k join ${table.name} r using (${namesOf(columns)})`,
      tail.replaceAll('?', hole),
    ].join('\n'),
  )
  const arrays = columns.map((column) => keys.map((key) => sent(column, key)))
  return parseRows(table, await callOf(db)<Promise<object[]>>(strings, ...arrays, ...values))
}

/** Values of what was read. */
export function parseRows<Row>(table: Table<Row>, loaded: Iterable<object>): Row[] {
  const parsed = table.columns.flatMap(({ field, type }) => (type.parse ? [{ field, parse: type.parse }] : []))
  return Array.from(loaded, (each) => {
    const row = { ...each } as Record<string, unknown>
    for (const { field, parse } of parsed) if (field in row) row[field] = parse(row[field] as never)
    return row as Row
  })
}

/** Rows on their way into a table, much faster than inserts. */
export type CopyOfRows<Row> = { write(rows: Iterable<Row>): Promise<void>; end(): Promise<void> }

/** Characters of lines written at once. */
const chunkMax = 1 << 18

/** Opens COPY into a table; `shared` holds the fields all rows have in common. */
export async function copyRows<Row, Shared extends Partial<Row> = NoFields>(
  db: Queryable,
  table: Table<Row>,
  options: { shared?: Shared } = {},
): Promise<CopyOfRows<Omit<Row, keyof Shared>>> {
  const { shared = {} } = options
  const common = table.columns.filter(({ field }) => field in shared)
  const own = table.columns.filter(({ field }) => !(field in shared))
  const columns = [...common, ...own]
  const strings = statementOf(table as Table<never>, `copy ${namesOf(common)}`, () => {
    return `copy ${table.name} (${namesOf(columns)}) from stdin`
  })
  const start = common.map(({ field, type }) => `${type.line((shared as Record<string, unknown>)[field])}\t`).join('')
  const lines = await callOf(db)<{ copyIn(): Promise<CopyIn> }>(strings).copyIn()
  return {
    write: async (rows) => {
      let text = ''
      for (const row of rows) {
        text += start
        for (const [index, { field, type }] of own.entries())
          text += `${index === 0 ? '' : '\t'}${type.line((row as Record<string, unknown>)[field])}`
        text += '\n'
        if (text.length < chunkMax) continue
        await lines.write(text)
        text = ''
      }
      if (text !== '') await lines.write(text)
    },
    end: lines.end,
  }
}

/** The twin of a table, in which a rebuild derives its rows. */
export function twinOf<Row>(table: Table<Row>): Table<Row> {
  return { ...table, name: `rebuilt_${table.name}`, statements: new Map() }
}

/**
 * Makes some rows of a table those of its twin. Rows that are the same in every column stay where they are, and mostly all
 * are: taking them out and putting them back costs thrice as much, and leaves as much to vacuum as there is history.
 */
export async function takeTwin<Row>(tx: Transaction, table: Table<Row>, among: Fragment): Promise<void> {
  const [old, rebuilt] = [tx(table.name), tx(`rebuilt_${table.name}`)]
  // Columns that are never null are compared by `=`, which PostgreSQL can hash.
  const isSame = table.columns.map(({ column, type }) =>
    type.isNullable ? `and n.${column} is not distinct from o.${column}` : `and n.${column} = o.${column}`,
  )
  const same = callOf(tx)<Fragment>(statementOf(table as Table<never>, 'same', () => isSame.join(' ')))
  await tx`delete from ${old} o where ${among} and not exists (select from ${rebuilt} n where true ${same})`
  const [left] = await tx<{ missing: number }[]>`
    select (select count(*) from ${rebuilt}) - (select count(*) from ${old} where ${among}) as missing`
  if (left?.missing !== 0) await tx`insert into ${old} select * from ${rebuilt} on conflict do nothing`
}
