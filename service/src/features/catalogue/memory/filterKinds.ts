import T, { type Static, type TSchema } from 'typebox'
import type { Optional } from '../../../postgres/imported.js'
import { type Bits, keepAny, keepBetween, keepContaining, keepEqual, keepOnly, remove } from './bits.js'
import type { Column, Index } from './columns.js'

/** A filter: its column, and how it selects positions by the requested value. */
export type Selection = {
  readonly column: Column<unknown>
  /** Applied after the others, to what they left. */
  readonly last: boolean
  keep(bits: Bits, column: unknown, value: unknown): void
}

/** A filter: the parameter that asks for it, and what it leaves. */
export type Filter<S extends TSchema> = Selection & { readonly query: Optional<S> }

function defineFilter<S extends TSchema, C>(
  query: S,
  column: Column<C>,
  keep: (bits: Bits, column: C, value: Static<S>) => void,
  last = false,
): Filter<S> {
  return {
    query: T.Optional(query),
    column,
    last,
    // The column is the one above, made; the value has passed the parameter's schema.
    keep: (bits, made, value) => keep(bits, made as C, value as Static<S>),
  }
}

/** When true, only opportunities with the flag; false filters nothing. */
export const onlyTrue = (what: string, column: Column<Bits>) =>
  defineFilter(
    T.Boolean({ description: `When true, only opportunities with ${what}; false filters nothing` }),
    column,
    (bits, flags, value) => {
      if (value) keepOnly(bits, flags)
    },
  )

/** True: those with the flag. False: the others. Null or absent: all. */
export const either = (description: string, column: Column<Bits>) =>
  defineFilter(T.Boolean({ nullable: true, description }), column, (bits, flags, value) => {
    if (value) keepOnly(bits, flags)
    else remove(bits, flags)
  })

/** Opportunities with any of the values asked for; `parse` makes keys of the column of their texts. */
export const anyOf = <S extends TSchema, K>(
  query: S,
  column: Column<Index<K>>,
  parse: (value: Static<S>) => readonly K[],
) =>
  defineFilter(query, column, (bits, index, value) => {
    keepAny(
      bits,
      parse(value).flatMap((key) => index.get(key) ?? []),
    )
  })

/** Opportunities whose text is the one asked for, letter for letter. */
export const exactly = (description: string, column: Column<readonly string[]>) =>
  defineFilter(T.String({ description }), column, (bits, texts, text) => keepEqual(bits, texts, text))

/** Opportunities whose figure is at least the one asked for. */
export const atLeast = (description: string, column: Column<Float64Array>) =>
  defineFilter(T.Number({ description }), column, (bits, figures, min) =>
    keepBetween(bits, figures, min, Number.POSITIVE_INFINITY),
  )

/** Opportunities whose figure is at most the one asked for. */
export const atMost = (description: string, column: Column<Float64Array>) =>
  defineFilter(T.Number({ description }), column, (bits, figures, max) =>
    keepBetween(bits, figures, Number.NEGATIVE_INFINITY, max),
  )

/** Opportunities with the text in theirs, which are lower-case. The dearest filter: it looks at what others left. */
export const containing = (description: string, column: Column<readonly string[]>) =>
  defineFilter(
    T.String({ description }),
    column,
    (bits, texts, part) => keepContaining(bits, texts, part.toLowerCase()),
    true,
  )
