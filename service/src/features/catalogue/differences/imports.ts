import type { Queryable } from '../../../postgres/pool.js'
import { countCatalogue } from '../operator/storeOperator.js'
import { compareEntries, type Difference, type Entry } from './compareEntries.js'
import { readEntries } from './storeEntries.js'

/**
 * Looks at the catalogue before and after a command, as the log of changes wants it: the second look tells the differences from the
 * first as well.
 */
export function lookAtCatalogue(): (db: Queryable) => Promise<unknown> {
  let first: Entry[] | undefined
  return async (db) => {
    const [counts, entries] = [await countCatalogue(db), await readEntries(db)]
    if (first) return { ...counts, ...compareEntries(first, entries) }
    first = entries
    return counts
  }
}

/** A change of the log that an import made. */
type Change = { id: string; at: Date; osUser: string; command: string; after: unknown }

export type ImportTold = Omit<Change, 'after'> & {
  /** Null: it was imported before differences were kept. */
  differences: Difference[] | null
  /** Differences that are left out. */
  more: number
  added: number
  changed: number
  removed: number
}

/** Tells imports of the log of changes. */
export function tellImports(changes: readonly Change[]): ImportTold[] {
  return changes.map(({ id, at, osUser, command, after }) => {
    const { differences = null, more = 0 } = (after ?? {}) as { differences?: Difference[]; more?: number }
    const count = (change: Difference['change']) => (differences ?? []).filter((each) => each.change === change).length
    const counts = { added: count('added'), changed: count('changed'), removed: count('removed') }
    return { id, at, osUser, command, differences, more, ...counts }
  })
}
