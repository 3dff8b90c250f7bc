import type { RawBlock } from '../rpc/raw.js'
import type { AnyTable, DerivedTable, Projection, Results } from './projection.js'
import { type PartOf, removeDerived, writeDerived } from './storeDerived.js'

/**
 * The rows of a projection as another one needs them. `empty`: the rows of a block without any. `part`: a condition that
 * selects, in the tables of a projection that follows, the rows of some sources, for a rewind of these sources alone.
 */
export type Result<Rows> = {
  name: string
  empty: Rows
  part?: PartOf
}

// biome-ignore lint/suspicious/noExplicitAny: what each holds is known to itself alone
type Needs = Readonly<Record<string, Result<any>>>
/** The rows of needed projections, by the names a definition gives them. */
type Given<N extends Needs> = { readonly [Name in keyof N]: N[Name] extends Result<infer Rows> ? Rows : never }

type Said = 'name' | 'tables' | 'needs' | 'derive'

/** The members that a projection states; the others have defaults. */
export type Definition<Config, State, Rows, N extends Needs> = Partial<Omit<Projection<Config, State, Rows>, Said>> & {
  name: string
  /** Its one table, or all of them. */
  table?: AnyTable
  tables?: readonly DerivedTable[]
  needs?: N
  /** Rows of one block, with the rows that needed projections give of it; pure. Advances the state. */
  derive(block: RawBlock, input: { chainId: number; config: Config; state: State; needs: Given<N> }): Rows
}

/**
 * A projection with defaults. One that follows another states `name`, `table`, `needs` and `derive`. By default it has no
 * configuration, no logs of its own and no state. It is derived when blocks are confirmed, or at the head if it needs no
 * other projection. It writes the rows of each block into its table, and a rewind deletes the rows above a block by the
 * column `block_number`.
 */
export function defineProjection<
  Config = null,
  State = null,
  Rows = unknown,
  const N extends Needs = Record<never, never>,
>(definition: Definition<Config, State, Rows, N>): Projection<Config, State, Rows> {
  const { table, needs, derive, tables = table ? [{ table }] : [], ...own } = definition
  if (own.configuration && !own.lines) throw new Error(`projection ${own.name} does not say its configuration in lines`)
  const needed: readonly Result<unknown>[] = Object.values(needs ?? {})
  const parts = needed.flatMap(({ part }) => part ?? [])
  return {
    at: needed.length > 0 ? 'confirmed' : 'head',
    tables,
    needs: needed.map(({ name }) => name),
    configuration: async () => null as Config,
    lines: () => [{ line: 'rules 1', from: 0 }],
    sources: () => [],
    restrict: (config) => config,
    open: () => null as State,
    load: async () => undefined,
    size: () => 0,
    write: (db, rows, input) => writeDerived(db, tables, rows, input),
    rewind: (tx, above, by) => removeDerived(tx, tables, above, { ...by, parts }),
    ...own,
    derive: (block, { results, ...input }) => derive(block, { ...input, needs: give(needs ?? ({} as N), results) }),
  }
}

/** The rows of needed projections. A `Result` has the type of what its projection gives. */
function give<N extends Needs>(needs: N, results: Results): Given<N> {
  const given = Object.entries(needs).map(([key, { name, empty }]) => [key, results.get(name) ?? empty])
  return Object.fromEntries(given) as Given<N>
}
