import T, { type Static, type TArray, type TSchema } from 'typebox'

/** A schema whose member a file may leave out. */
export type Optional<S extends TSchema> = ReturnType<typeof T.Optional<S>>

/** One column of a table that imports write. */
export type StoredColumn<V, S extends TSchema | undefined = TSchema | undefined> = {
  /** Its member in an imported file; absent: the import computes it. */
  readonly file: S
  /** Written where the file says nothing; absent: null. */
  readonly absent?: unknown
  /** A file that says nothing leaves the value that is there. */
  readonly kept: boolean
  /** Never set: carries the type of the value as it is read. */
  readonly value?: V
}

// biome-ignore lint/suspicious/noExplicitAny: columns of every type stand side by side
export type Described = { readonly [member: string]: StoredColumn<any> }

/** A table described once: what an import writes, what a file may say and what is read follow from it. */
export type ImportedTable<C extends Described = Described> = {
  readonly name: string
  /** Members whose values identify a row; none where rows are only replaced as a whole. */
  readonly key: readonly string[]
  readonly columns: C
}

export type RecordOf<T extends ImportedTable> = {
  -readonly [member in keyof T['columns']]: T['columns'][member] extends StoredColumn<infer V> ? V : never
}

type Said<C extends Described> = {
  [member in keyof C as C[member]['file'] extends TSchema ? member : never]: C[member]['file'] & TSchema
}

export function describeImported<C extends Described>(
  name: string,
  key: readonly (keyof C & string)[],
  columns: C,
): ImportedTable<C> {
  return { name, key, columns }
}

/** The members of a row in a file; the import resolves references. */
export function fileMembersOf<C extends Described>({ columns }: ImportedTable<C>): Said<C> {
  const said = Object.entries(columns).flatMap(([member, { file }]) => (file ? [[member, file] as const] : []))
  return Object.fromEntries(said) as Said<C>
}

/** A value the import works out. */
export const found = <V>(): StoredColumn<V, undefined> => ({ file: undefined, kept: false })

/** A value every entry of a file has. */
export const required = <S extends TSchema>(file: S): StoredColumn<Static<S>, S> => ({ file, kept: false })

/** A value a file may leave out: then it is `absent`. */
export const optional = <S extends TSchema, const A>(file: S, absent: A): StoredColumn<Static<S> | A, Optional<S>> => ({
  file: T.Optional(file),
  absent,
  kept: false,
})

/** The same, but a value that is there stays when the file leaves it out. */
export const kept = <S extends TSchema, const A>(file: S, absent: A): StoredColumn<Static<S> | A, Optional<S>> => ({
  file: T.Optional(file),
  absent,
  kept: true,
})

/** A list a file may leave out: then it stays as it is. */
export const list = <S extends TSchema>(file: S): StoredColumn<readonly Static<S>[], Optional<TArray<S>>> => ({
  file: T.Optional(T.Array(file)),
  absent: [],
  kept: true,
})

/** A decimal: a number in the file, text when it is read, so that no digit is lost. */
export const decimal = <S extends TSchema, A extends string | null>(
  file: S,
  absent: A,
): StoredColumn<string | A, Optional<S>> => ({ file: T.Optional(file), absent, kept: false })

/** An instant: RFC 3339 in the file. Left out it stays; of a new row it is the time of the import. */
export const instant = <S extends TSchema>(file: S): StoredColumn<Date, Optional<S>> => ({
  file: T.Optional(file),
  kept: true,
})
