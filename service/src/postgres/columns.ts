/**
 * A type of column: how a value travels to the database and back. Sets of values travel as arrays, one a column, or as
 * lines of COPY. SQL turns what travelled into what the column holds.
 */
export type ColumnType<T> = {
  /** Type of the array's elements. */
  readonly element: string
  readonly send: (value: T) => string | number | boolean | null
  /** SQL that makes the column's value of an element, and what is read of the column. */
  readonly store: (element: string) => string
  readonly load: (column: string) => string
  /** Makes the value of what the driver reads; absent where they are the same. */
  readonly parse?: ((loaded: never) => T) | undefined
  /** The value in a line of COPY. */
  readonly line: (value: T) => string
  readonly isNullable: boolean
}

const same = (sql: string) => sql
const asItIs = { store: same, load: same, isNullable: false }

function plain<T extends string | number>(element: string): ColumnType<T> {
  const line = (value: T) => (typeof value === 'string' ? escapeLine(value) : String(value))
  return { ...asItIs, element, send: (value) => value, line }
}

const special = /[\\\t\n\r]/
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
function escapeLine(value: string): string {
  return special.test(value) ? value.replace(/[\\\t\n\r]/g, (each) => escapes[each] ?? each) : value
}

export const int4 = plain<number>('int')
/** Below 2^53. */
export const int8 = plain<number>('bigint')
export const uuid = plain<string>('uuid')
export const text = plain<string>('text')
/** Text of a closed list. */
export const oneOf = <T extends string>(): ColumnType<T> => plain<T>('text')

/** Text of a closed list that is camel case here: every list is kebab case in its table. */
export const kebab = <T extends string>(): ColumnType<T> => ({
  ...oneOf<T>(),
  send: (value) => value.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  parse: (loaded: string) => loaded.replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase()) as T,
  line: (value) => value.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
})

/** A number with a fraction, as text. */
export const decimal = plain<string>('numeric')

/** An exact amount. */
export const numeric: ColumnType<bigint> = {
  ...asItIs,
  element: 'numeric',
  send: (value) => value.toString(),
  parse: (loaded: string) => BigInt(loaded),
  line: (value) => value.toString(),
}

/** An address, a hash or data: lower-case 0x text here, bytes in the table. */
export const hex: ColumnType<string> = {
  ...text,
  store: (element) => `hex_bytes(${element})`,
  load: (column) => `hex_text(${column})`,
  line: (value) => `\\\\x${value.slice(2)}`,
}

export const bool: ColumnType<boolean> = {
  ...asItIs,
  element: 'boolean',
  send: (value) => value,
  line: (value) => (value ? 't' : 'f'),
}

/** Unix seconds here, an instant in the table. */
export const seconds: ColumnType<number> = {
  ...int8,
  store: (element) => `to_timestamp(${element})`,
  load: (column) => `extract(epoch from ${column})::bigint`,
  line: formatSeconds,
}

/** An instant. */
export const instant: ColumnType<Date> = {
  ...asItIs,
  element: 'timestamptz',
  send: (value) => value.toISOString(),
  line: (value) => value.toISOString(),
}

/** A list of texts, never null. It travels as JSON: an array of arrays must be rectangular. */
export const texts: ColumnType<readonly string[]> = {
  ...asItIs,
  element: 'text',
  send: (value) => JSON.stringify(value),
  store: (element) => `array(select jsonb_array_elements_text(${element}::jsonb))`,
  line: (value) => escapeLine(`{${value.map((each) => `"${each.replace(/["\\]/g, '\\$&')}"`).join(',')}}`),
}

export function nullable<T>(type: ColumnType<T>): ColumnType<T | null> {
  const parse = type.parse as ((loaded: unknown) => T) | undefined
  return {
    ...type,
    send: (value) => (value === null ? null : type.send(value)),
    parse: parse && ((loaded: unknown) => (loaded === null ? null : parse(loaded))),
    line: (value) => (value === null ? '\\N' : type.line(value)),
    isNullable: true,
  }
}

/** Rows of one block share their instant, so the text of the last one is kept. */
let last = { at: Number.NaN, text: '' }
function formatSeconds(at: number): string {
  if (at !== last.at) last = { at, text: new Date(at * 1000).toISOString() }
  return last.text
}
