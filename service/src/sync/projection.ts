import type { Fragment, Queryable, Transaction } from '../postgres/pool.js'
import type { Table } from '../postgres/table.js'
import type { RawBlock, RawLog, RawTransaction } from '../rpc/raw.js'
import type { View } from '../rpc/views.js'
import type { DatedLine } from './configuration.js'

/** Logs a projection reads. */
export type Source = {
  /** Its name among the sources of its projection. The progress of the source is stored under it. */
  key: string
  /** Contracts, lower-case. */
  addresses: readonly string[]
  /** First topics. */
  topics: readonly string[]
  fromBlock: number
  /** Those of the topics whose transactions are kept with their calldata. */
  calldata: readonly string[]
  /**
   * Its logs (marks) are kept only in transactions that another source keeps. Returns whether the receipt of such a
   * transaction may have some; pure.
   */
  beside?: (transaction: Pick<RawTransaction, 'to' | 'input'>) => boolean
  /**
   * Whether a kept transaction with these kept logs needs its call tree; pure. Sources with the same condition share one
   * function. Absent: never.
   */
  needsTrace?: NeedsTrace
  /** Wallets whose code at the block matters in such a transaction; pure, and shared like `needsTrace`. */
  keepers?: ListKeepers
}

export type ListKeepers = (transaction: RawTransaction, logs: readonly RawLog[]) => readonly string[]

export type NeedsTrace = (transaction: RawTransaction, logs: readonly RawLog[]) => boolean

/** The part of a chain that a rewind takes back: the blocks above `number`, up to the derived `tip`. */
export type Above = { chainId: number; number: number; tip: number }

/** Where rows are written: the table itself, or its twin during a rebuild. */
export type Place = <Row>(table: Table<Row>) => Table<Row>

/** The tables themselves. */
export const inPlace: Place = (table) => table

// biome-ignore lint/suspicious/noExplicitAny: tables of any rows
export type AnyTable = Table<any>

/** A query of the rows of a chain, each a `line` of text, in an order that is the same on every database. */
export type StateLines = (db: Queryable, chainId: number) => Fragment

/** A table of a projection. */
export type DerivedTable = {
  table: AnyTable
  /** The condition of rows that are kept as records and never derived. */
  isRecord?: (db: Queryable) => Fragment
  /**
   * How the table is part of the hash of the state: its lines, or the reason why it is not. Absent: each row as a whole, so
   * that a new table is part of it.
   */
  state?: StateLines | { leftOut: string }
}

/** Rows of the needed projections for the same block, by name. */
export type Results = ReadonlyMap<string, unknown>

/** Results of contract views at a block and at its parent; undefined where a view failed. */
export type Answers = { before: readonly (bigint | undefined)[]; after: readonly (bigint | undefined)[] }

/** Contract views to read at a block and at its parent, and the function that reads their results. */
export type Question<Said> = { blockNumber: number; views: readonly View[]; read: (answers: Answers) => Said }

/**
 * The contract reads of a projection, in addition to logs. The results are stored with the blocks, so that a rebuild calls no
 * node; `derive` finds them among the observations of the block, under the name of the projection.
 */
export type Asking<Config, Said> = {
  /** The views to read at blocks that are not derived yet. */
  want(
    db: Queryable,
    input: { chainId: number; config: Config; blocks: readonly RawBlock[] },
  ): Promise<readonly Question<Said>[]>
  /** Stores results; results that are stored already stay. */
  record(
    db: Queryable,
    chainId: number,
    blocks: readonly { blockNumber: number; answers: readonly Said[] }[],
  ): Promise<void>
  /** Stored results of blocks in [from, to], by block. */
  list(db: Queryable, range: StoredRange): Promise<ReadonlyMap<number, readonly Said[]>>
  /** Removes the results of orphaned blocks. */
  remove(db: Queryable, range: StoredRange): Promise<void>
}

type StoredRange = { chainId: number; from: number; to: number }

/** The input of a batch of blocks. */
export type Batch<Config, State> = {
  chainId: number
  config: Config
  state: State
  blocks: readonly RawBlock[]
  place: Place
}

/**
 * Everything a room derives from a chain: what it reads, which rows follow, and how they are taken back. The same functions
 * run live and in a rebuild, so the two agree. `Config` decides its rows together with the chain, `State` is its knowledge of
 * the rows before a block, `Rows` are the rows of one block.
 */
export type Projection<Config, State, Rows> = {
  name: string
  /** It alone writes them. */
  tables: readonly DerivedTable[]
  /** Projections whose rows of the same block it takes. */
  needs: readonly string[]
  /** Whether blocks are derived when they come, or once they are as deep as the chain's confirmations. */
  at: 'head' | 'confirmed'
  /** The present configuration: everything but the chain that decides its rows. */
  configuration(db: Queryable, chainId: number): Promise<Config>
  /** The same as dated lines: two configurations give the same rows below the earliest line they do not share. */
  lines(config: Config): readonly DatedLine[]
  sources(config: Config): readonly Source[]
  /** The configuration limited to some sources: sources that lag behind the rest are not derived. */
  restrict(config: Config, isRead: (key: string) => boolean): Config
  /**
   * Whether the past of these sources, up to an instant, concerns no row of others: then it is derived alone when they
   * join. Absent: it may.
   */
  standsAlone?(config: Config, timestamp: number): boolean
  /** An empty state. `isWhole`: no rows exist before, so an absent item does not exist. */
  open(isWhole: boolean): State
  // biome-ignore lint/suspicious/noExplicitAny: what the answers say is known to the projection alone
  observations?: Asking<Config, any>
  /** Loads the state that these blocks need and that is not loaded yet. */
  load(db: Queryable, batch: Batch<Config, State>): Promise<void>
  /** Rows of one block; pure. Advances the state. */
  derive(block: RawBlock, input: { chainId: number; config: Config; state: State; results: Results }): Rows
  /** Writes the rows of blocks, in order. `isLive` is false in a rebuild, which makes no new choices. */
  write(
    db: Queryable,
    rows: readonly Rows[],
    input: { chainId: number; config: Config; place: Place; isLive: boolean },
  ): Promise<void>
  /** In a rebuild: writes all rows at once that follow from other rows. */
  settle?(tx: Transaction, input: { chainId: number; place: Place }): Promise<void>
  /** The number of items in a state; a rebuild drops a state that has too many. */
  size(state: State): number
  /**
   * Its rows of blocks in [from, to], by number, for a later projection that is derived when they are confirmed. Parts that
   * no table stores may be derived from the blocks again.
   */
  recall?(
    db: Queryable,
    range: { chainId: number; from: number; to: number; config: Config; blocks: readonly RawBlock[] },
  ): Promise<ReadonlyMap<number, Rows>>
  /**
   * Events for others about confirmed rows; pure. Only for a projection at `confirmed`. They are written in the transaction
   * that confirms the block: again if a block is confirmed again, and not in a rebuild.
   */
  events?(rows: readonly Rows[], input: { chainId: number; config: Config }): readonly unknown[]
  /**
   * Takes its rows back to the end of a block. `reorgId` names the record of the reorganisation that orphaned them, if any;
   * `only` limits it to the sources of a configuration. `beside`: the configuration of every projection in this rewind, by
   * name.
   */
  rewind(
    tx: Transaction,
    above: Above,
    by: { reorgId?: number; byOperator?: boolean; only?: Config; beside?: ReadonlyMap<string, unknown> },
  ): Promise<number>
}

// biome-ignore lint/suspicious/noExplicitAny: what each holds is known to itself alone
export type AnyProjection = Projection<any, any, any>

/**
 * A projection of observations: the job of its room writes responses of nodes and providers, and a reorganisation removes those
 * of orphaned blocks. A rebuild never touches it.
 */
export type Observations = { name: string; rewind(tx: Transaction, above: Above): Promise<void> }

/** The projections of an installation; each follows those that it needs. */
export type Projections = { derived: readonly AnyProjection[]; observed: readonly Observations[] }

/** Throws if a needed projection comes later, is missing, or cannot be recalled for a projection at `confirmed`. */
export function assertOrder(derived: readonly AnyProjection[]): void {
  const known = new Map<string, AnyProjection>()
  for (const projection of derived) {
    for (const name of projection.needs) {
      const needed = known.get(name)
      if (!needed) throw new Error(`projection ${projection.name} needs ${name}, which is not listed before it`)
      if (projection.at === 'confirmed' && needed.at === 'head' && !needed.recall)
        throw new Error(
          `projection ${projection.name} needs rows of ${name} later than they are derived: it has no recall`,
        )
      if (projection.at === 'head' && needed.at === 'confirmed')
        throw new Error(`projection ${projection.name} needs rows of ${name} before they are derived`)
    }
    if (projection.events && projection.at === 'head')
      throw new Error(`projection ${projection.name} tells events, but is not derived once blocks are confirmed`)
    if (known.has(projection.name)) throw new Error(`there are two projections ${projection.name}`)
    known.set(projection.name, projection)
  }
}

/** A projection with its configuration. */
export type Opened = { projection: AnyProjection; config: unknown }

/** All projections that must be derived again together with some: those they need, and those that need them. */
export function joinNeeds<T extends { projection: AnyProjection }>(all: readonly T[], names: ReadonlySet<string>): T[] {
  const joined = new Set(names)
  for (let size = -1; size !== joined.size; ) {
    size = joined.size
    for (const { projection } of all)
      if (joined.has(projection.name) || projection.needs.some((name) => joined.has(name)))
        for (const name of [projection.name, ...projection.needs]) joined.add(name)
  }
  return all.filter(({ projection }) => joined.has(projection.name))
}

/** Some projections and those they need. */
export function listNeeded<T extends { projection: AnyProjection }>(
  all: readonly T[],
  names: ReadonlySet<string>,
): T[] {
  const needed = new Set(names)
  for (const { projection } of all.toReversed())
    if (needed.has(projection.name)) for (const name of projection.needs) needed.add(name)
  return all.filter(({ projection }) => needed.has(projection.name))
}
