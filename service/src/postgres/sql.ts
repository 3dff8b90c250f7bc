import { once } from '../kernel/async/once.js'

/** A statement as the server is asked: text with `$1`, `$2` … and their values, in its text form. */
export type Statement = {
  readonly text: string
  readonly values: readonly Encoded[]
  /** The name it is prepared under; undefined for one whose text is put together anew each time. */
  readonly name?: string | undefined
}

export type Encoded = string | Buffer | null

/** Rows as the caller reads them, how many there were or were changed, and the names of their columns. */
export type Rows<T extends readonly unknown[]> = T & {
  readonly count: number
  readonly columns: readonly { readonly name: string }[]
}

// biome-ignore lint/suspicious/noExplicitAny: the columns of a statement are known to who wrote it
export type Row = Record<string, any>

const partsOf = Symbol('parts')
const kindOf = Symbol('kind')

/** A piece of a statement. It does nothing by itself. */
export type Fragment = {
  readonly [partsOf]: {
    readonly strings: TemplateStringsArray
    readonly parts: readonly Part[]
    readonly isView?: true
  }
}
/** A name or a list of names of tables or columns, quoted. */
export type Identifier = { readonly [kindOf]: 'identifier'; readonly text: string }
/** A value that travels as JSON. */
export type Json = { readonly [kindOf]: 'json'; readonly text: string }

export type Value = string | number | bigint | boolean | Date | Uint8Array | Json | null | readonly Value[]
export type Part = Value | Fragment | Identifier | readonly Fragment[]

/**
 * A statement that runs once, when it is first waited for; or, nested in another, a fragment of that one, which never
 * runs by itself.
 */
export type Query<T extends readonly unknown[] = Row[]> = Promise<Rows<T>> &
  Fragment & {
    /** Its rows in chunks of `size`, without ever holding all of them. */
    cursor(size: number): AsyncIterable<T>
    /** Of `copy … from stdin`: where its lines are written. */
    copyIn(): Promise<CopyIn>
  }

/** Lines of one table on their way into it. A failure is thrown by whichever call comes next. */
export type CopyIn = { write(lines: string): Promise<void>; end(): Promise<void> }

/** The call form of every statement: db`select …`. */
export type Sql = {
  <T extends readonly unknown[] = Row[]>(strings: TemplateStringsArray, ...parts: readonly Part[]): Query<T>
  (names: string | readonly string[]): Identifier
  json(value: unknown): Json
  /** Rows a room shows to others: text without values, the same each time, so that a statement with it is prepared too. */
  view(strings: TemplateStringsArray, ...views: readonly Fragment[]): Fragment
  /** Text as it is, several statements if there are no values: for migrations, and names of databases. */
  unsafe<T extends readonly unknown[] = Row[]>(text: string, values?: readonly Value[]): Promise<Rows<T>>
  /** The rows of one statement's text as it is, in chunks of `size`. */
  unsafeCursor<T extends readonly unknown[] = Row[]>(text: string, size: number): AsyncIterable<T>
}

/** Who runs statements: a pool or a transaction. */
export type Runner = {
  run(statement: Statement): Promise<Rows<Row[]>>
  cursor(statement: Statement, size: number): AsyncIterable<Row[]>
  copyIn(statement: Statement): Promise<CopyIn>
}

export function createSql(runner: Runner): Sql {
  const call = (first: TemplateStringsArray | string | readonly string[], ...parts: readonly Part[]) =>
    typeof first === 'string' || !('raw' in first) ? identify(first) : toQuery(runner, first, parts)
  const members: Pick<Sql, 'json' | 'view' | 'unsafe' | 'unsafeCursor'> = {
    json: (value) => ({ [kindOf]: 'json', text: JSON.stringify(value) }),
    view: (strings, ...parts) => {
      if (!parts.every(isView)) throw new TypeError('a view holds nothing but text and other views')
      return { [partsOf]: { strings, parts, isView: true } }
    },
    unsafe: async (text, values = []) => (await runner.run({ text, values: values.map(encode) })) as never,
    unsafeCursor: (text, size) => runner.cursor({ text, values: [] }, size) as never,
  }
  return Object.assign(call, members) as Sql
}

function toQuery(runner: Runner, strings: TemplateStringsArray, parts: readonly Part[]): Query {
  const run = once(() => runNow(runner, strings, parts))
  return {
    // biome-ignore lint/suspicious/noThenProperty: it runs when it is waited for
    then: (onDone, onError) => run().then(onDone, onError),
    catch: (onError) => run().catch(onError),
    finally: (onEnd) => run().finally(onEnd),
    cursor: (size) => runner.cursor(compose(strings, parts), size),
    copyIn: async () => runner.copyIn(compose(strings, parts)),
    [partsOf]: { strings, parts },
    [Symbol.toStringTag]: 'Query',
  }
}

/** A value that cannot be sent rejects like any other failure. */
async function runNow(runner: Runner, strings: TemplateStringsArray, parts: readonly Part[]): Promise<Rows<Row[]>> {
  return runner.run(compose(strings, parts))
}

function identify(names: string | readonly string[]): Identifier {
  const list = typeof names === 'string' ? [names] : names
  return { [kindOf]: 'identifier', text: list.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ') }
}

/** Texts of templates that hold nothing but values, each with its name: the same place in the code is the same text. */
const fixed = new WeakMap<TemplateStringsArray, { text: string; name: string }>()
let names = 0

/** Names of the texts that a template has with views in it. */
const viewing = new WeakMap<TemplateStringsArray, Map<string, string>>()

/** The statement of a template and its parts. */
export function compose(strings: TemplateStringsArray, parts: readonly Part[]): Statement {
  const values: Encoded[] = []
  if (parts.some(isComposed)) {
    const text = composeInto(values, strings, parts)
    return parts.every((part) => !isComposed(part) || isView(part))
      ? { text, values, name: nameText(strings, text) }
      : { text, values }
  }
  for (const part of parts) values.push(encode(part as Value))
  let known = fixed.get(strings)
  if (!known) {
    known = { text: strings.reduce((text, piece, index) => `${text}$${index}${piece}`), name: `s${++names}` }
    fixed.set(strings, known)
  }
  return { text: known.text, values, name: known.name }
}

function nameText(strings: TemplateStringsArray, text: string): string {
  const named = viewing.get(strings) ?? new Map<string, string>()
  viewing.set(strings, named)
  const name = named.get(text) ?? `s${++names}`
  named.set(text, name)
  return name
}

function composeInto(values: Encoded[], strings: TemplateStringsArray, parts: readonly Part[]): string {
  let text = strings[0] ?? ''
  for (const [index, part] of parts.entries()) {
    if (isFragment(part)) text += composeInto(values, part[partsOf].strings, part[partsOf].parts)
    else if (isFragments(part))
      for (const { [partsOf]: each } of part) text += `${composeInto(values, each.strings, each.parts)} `
    else if (isIdentifier(part)) text += part.text
    else text += `$${values.push(encode(part as Value))}`
    text += strings[index + 1] ?? ''
  }
  return text
}

const isObject = (part: unknown): part is object => typeof part === 'object' && part !== null
const isFragment = (part: Part): part is Fragment => isObject(part) && partsOf in part
const isIdentifier = (part: Part): part is Identifier =>
  isObject(part) && kindOf in part && part[kindOf] === 'identifier'
const isFragments = (part: Part): part is readonly Fragment[] => Array.isArray(part) && part.some(isFragment)
const isView = (part: Part) => isFragment(part) && part[partsOf].isView === true
const isComposed = (part: Part) => isFragment(part) || isIdentifier(part) || isFragments(part)

/** A value as PostgreSQL reads it. Its type is the one its place in the statement has. */
export function encode(value: Value): Encoded {
  if (value === null) return null
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'object':
      if (value instanceof Date) return value.toISOString()
      if (value instanceof Uint8Array) return toBuffer(value)
      if (Array.isArray(value)) return encodeArray(value)
      if (kindOf in value) return value.text
  }
  // Told apart from null on purpose: a member that is missing must not become an empty column.
  throw new TypeError(`a statement was given ${value === undefined ? 'undefined' : typeof value} as a value`)
}

const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function encodeArray(items: readonly Value[]): string {
  let text = '{'
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Value
    if (index > 0) text += ','
    if (item === null) text += 'NULL'
    else if (typeof item === 'number' || typeof item === 'bigint' || typeof item === 'boolean') text += item
    else if (Array.isArray(item)) text += encodeArray(item)
    else {
      const encoded = encode(item)
      text += typeof encoded === 'string' ? quote(encoded) : `"\\\\x${encoded?.toString('hex') ?? ''}"`
    }
  }
  return `${text}}`
}

const special = /["\\]/
const quote = (text: string) => (special.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`)
