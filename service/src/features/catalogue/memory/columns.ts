import { mapInSteps, type Steps } from '../../../kernel/async/inSlices.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { type Bits, emptyBits, setBit } from './bits.js'
import type { CatalogueBase, CatalogueSnapshot } from './snapshot.js'

/** For every value of a dimension, the positions that have it. */
export type Index<K> = ReadonlyMap<K, Bits>

/**
 * The input of a filter, computed from the listed opportunities by position. A `pushed` column holds figures that jobs push:
 * it is computed for every snapshot, the others once for all snapshots with the same base.
 */
export type Column<C> = { readonly pushed: boolean; make(listed: readonly OpportunityRecord[]): Steps<C> }

/** Columns that are made. */
export type Made = { get<C>(column: Column<C>): C }

/** The columns that stay while only pushed figures change. */
export type Columns = Made & {
  readonly size: number
  /** The opportunities that a distributor shows. */
  shownBy(distributorId: string): Bits
}

type Read<V> = (record: OpportunityRecord) => V

/** The positions for which `test` holds. */
export const flag = (test: Read<boolean>, pushed = false): Column<Bits> => ({
  pushed,
  *make(listed) {
    const bits = emptyBits(listed.length)
    yield* mapInSteps(listed, (record, position) => {
      if (test(record)) setBit(bits, position)
    })
    return bits
  },
})

/** The positions of every value. */
export const index = <K>(read: Read<Iterable<K>>): Column<Index<K>> => ({
  pushed: false,
  *make(listed) {
    const index = new Map<K, Bits>()
    yield* mapInSteps(listed, (record, position) => {
      for (const value of read(record)) {
        const bits = index.get(value) ?? emptyBits(listed.length)
        index.set(value, bits)
        setBit(bits, position)
      }
    })
    return index
  },
})

/** A number a position. */
export const numbers = (read: Read<number>, pushed = false): Column<Float64Array> => ({
  pushed,
  *make(listed) {
    return Float64Array.from(yield* mapInSteps(listed, read))
  },
})

/** A text a position. */
export const texts = (read: Read<string>): Column<readonly string[]> => ({
  pushed: false,
  *make(listed) {
    return yield* mapInSteps(listed, read)
  },
})

const known = new WeakMap<CatalogueBase, Columns>()

/** Those of the given columns that jobs do not push; made once for a snapshot's base. */
export function* columnsOf(
  snapshot: CatalogueSnapshot,
  listed: readonly OpportunityRecord[],
  columns: readonly Column<unknown>[],
): Steps<Columns> {
  const found = known.get(snapshot.base)
  if (found) return found
  const made = yield* makeAll(
    listed,
    columns.filter(({ pushed }) => !pushed),
  )
  const shown = yield* listShown(snapshot, listed)
  const size = listed.length
  const all = { ...made, size, shownBy: (distributorId: string) => shown.get(distributorId) ?? emptyBits(size) }
  known.set(snapshot.base, all)
  return all
}

/** Those of the given columns that jobs push. */
export function* makePushed(listed: readonly OpportunityRecord[], columns: readonly Column<unknown>[]): Steps<Made> {
  return yield* makeAll(
    listed,
    columns.filter(({ pushed }) => pushed),
  )
}

function* makeAll(listed: readonly OpportunityRecord[], columns: readonly Column<unknown>[]): Steps<Made> {
  const values = new Map<unknown, unknown>()
  for (const column of columns) values.set(column, yield* column.make(listed))
  return {
    get<C>(column: Column<C>): C {
      if (!values.has(column)) throw new RangeError('a filter looks at a column that is not made')
      // The value under a column is the one it made.
      return values.get(column) as C
    },
  }
}

function* listShown(snapshot: CatalogueSnapshot, listed: readonly OpportunityRecord[]): Steps<Index<string>> {
  const positions = new Map(yield* mapInSteps(listed, ({ id }, position) => [id, position] as const))
  const shown = new Map<string, Bits>()
  for (const [distributorId, opportunityIds] of snapshot.distributorOpportunities) {
    const bits = emptyBits(listed.length)
    yield* mapInSteps(opportunityIds, (id) => {
      const position = positions.get(id)
      if (position !== undefined) setBit(bits, position)
    })
    shown.set(distributorId, bits)
  }
  return shown
}
