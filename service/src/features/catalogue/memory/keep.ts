import { isDeepStrictEqual } from 'node:util'
import { mapInSteps, type Steps } from '../../../kernel/async/inSlices.js'

/**
 * Rows by key. A row that equals the known row under its key is replaced by the known object, and if all rows are known, the
 * known map itself is returned: values computed from an object, such as its bytes, are cached by its identity.
 */
export function* keepRows<K, R extends object>(
  known: ReadonlyMap<K, R> | undefined,
  rows: readonly R[],
  keyOf: (row: R) => K,
): Steps<ReadonlyMap<K, R>> {
  const kept = new Map<K, R>()
  yield* mapInSteps(rows, (row) => {
    const key = keyOf(row)
    kept.set(key, keep(known?.get(key), row))
  })
  return known && (yield* holdsAll(known, kept)) ? known : kept
}

/** Sets under their keys; those that are all known are the known map itself. */
export function* keepSets(
  known: ReadonlyMap<string, ReadonlySet<string>> | undefined,
  pairs: Iterable<readonly [string, string]>,
): Steps<ReadonlyMap<string, ReadonlySet<string>>> {
  const sets = new Map<string, Set<string>>()
  yield* mapInSteps(pairs, ([key, value]) => {
    const set = sets.get(key)
    if (set) set.add(value)
    else sets.set(key, new Set([value]))
  })
  if (known?.size !== sets.size) return sets
  for (const [key, set] of sets) {
    const other = known.get(key)
    if (other?.size !== set.size) return sets
    const missing = yield* mapInSteps(set, (value) => !other.has(value))
    if (missing.includes(true)) return sets
  }
  return known
}

function* holdsAll<K, R>(known: ReadonlyMap<K, R>, rows: ReadonlyMap<K, R>): Steps<boolean> {
  if (known.size !== rows.size) return false
  const differs = yield* mapInSteps(rows, ([key, row]) => known.get(key) !== row)
  return !differs.includes(true)
}

/** The known one where it says all that the new one says. */
export function keep<R extends object>(known: R | undefined, made: R): R {
  return known && says(known, made) ? known : made
}

/** Whether every member of `row` is the same in `known`, which may have more. */
export function says<R extends object>(known: R, row: R): boolean {
  if (known === row) return true
  for (const member in row) {
    const [was, is] = [known[member], row[member]]
    if (was !== is && !(isObject(was) && isObject(is) && isDeepStrictEqual(was, is))) return false
  }
  return true
}

/** The same of rows in their order. */
export function sayAll<R extends object>(known: readonly R[], rows: readonly R[]): boolean {
  return known.length === rows.length && rows.every((row, index) => says(known[index] as R, row))
}

/** Whether the members of `parts` are those of `known`, the same objects. */
export function isAll<P extends object>(known: P, parts: P): boolean {
  for (const member in parts) if (known[member] !== parts[member]) return false
  return true
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null
