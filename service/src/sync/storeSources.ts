import type { Fragment, Queryable } from '../postgres/pool.js'
import { chainsOf } from '../rpc/storeChains.js'
import type { DatedLine } from './configuration.js'

/** How far the sources of projections are read, as statements of other rooms read it. */
export const sourcesOf = (db: Queryable): Fragment => db.view`(
  select chain_id, projection, source, from_block, synced_to, synced from sources)`

/**
 * A text that changes with everything that decides the reading and derivation of a chain: the configuration, and which sources
 * are read as far as the rest. Cheap enough for every look at the chain.
 */
export async function findConfigurationVersion(db: Queryable, chainId: number): Promise<string> {
  const rows = await db<{ version: string }[]>`
    select concat_ws(':', (select transaction_id from configuration_version),
      (select joins from chain_cursors where chain_id = ${chainId})) as version`
  return rows[0]?.version ?? ''
}

/** Tells every process that sources have joined. */
export async function noteJoin(db: Queryable, chainId: number): Promise<void> {
  await db`update chain_cursors set joins = joins + 1 where chain_id = ${chainId}`
}

/** Depth from which on blocks of a chain are confirmed. */
export async function findConfirmations(db: Queryable, chainId: number): Promise<number> {
  const rows = await db<
    { confirmations: number }[]
  >`select confirmations from ${chainsOf(db)} c where chain_id = ${chainId}`
  return rows[0]?.confirmations ?? 1
}

/** The configuration lines of a projection, and the block it is derived up to if it lags behind the chain. */
export type Derivation = { name: string; lines: DatedLine[]; derivedTo: number }

export async function listDerivations(db: Queryable, chainId: number): Promise<Derivation[]> {
  return db<Derivation[]>`
    select name, configuration as lines, derived_to as "derivedTo" from projections where chain_id = ${chainId}`
}

/** Keeps the configuration the rows of a projection rest on; a new one is derived up to below `startBlock`. */
export async function recordLines(
  db: Queryable,
  input: { chainId: number; name: string; lines: readonly DatedLine[]; startBlock: number },
): Promise<void> {
  const { chainId, name, lines, startBlock } = input
  await db`
    insert into projections (chain_id, name, configuration, derived_to)
    values (${chainId}, ${name}, ${JSON.stringify(lines)}::text::jsonb, ${startBlock - 1})
    on conflict (chain_id, name) do update set configuration = excluded.configuration`
}

export async function recordDerivedTo(db: Queryable, chainId: number, name: string, derivedTo: number): Promise<void> {
  await db`update projections set derived_to = ${derivedTo} where chain_id = ${chainId} and name = ${name}`
}

/** Takes the progress of lagging projections back with the chain. */
export async function rewindDerivations(db: Queryable, chainId: number, number: number): Promise<void> {
  await db`update projections set derived_to = ${number} where chain_id = ${chainId} and derived_to > ${number}`
}

/** How far a source is read. */
export type SourceProgress = { projection: string; key: string; fromBlock: number; syncedTo: number; synced: boolean }

export async function listSources(db: Queryable, chainId: number): Promise<SourceProgress[]> {
  return db<SourceProgress[]>`
    select projection, source as key, from_block as "fromBlock", synced_to as "syncedTo", synced
    from sources where chain_id = ${chainId}`
}

/** Begins to read sources; those that are read already stay as they are. */
export async function createSources(db: Queryable, chainId: number, sources: readonly SourceProgress[]): Promise<void> {
  if (sources.length === 0) return
  const column = <V>(read: (source: SourceProgress) => V): V[] => sources.map(read)
  await db`
    insert into sources (chain_id, projection, source, from_block, synced_to, synced)
    select ${chainId}, t.* from unnest(${column((each) => each.projection)}::text[], ${column((each) => each.key)}::text[],
      ${column((each) => each.fromBlock)}::bigint[], ${column((each) => each.syncedTo)}::bigint[],
      ${column((each) => each.synced)}::boolean[]) as t (projection, source, from_block, synced_to, synced)
    on conflict do nothing`
}

/** Which source of which projection. */
export type SourceName = Pick<SourceProgress, 'projection' | 'key'>

/** Sources to be found by their names. */
export const nameSource = ({ projection, key }: SourceName): string => `${projection} ${key}`

/** Reads a source again, from an earlier block on; until that is done it does not count. */
export async function restartSource(
  db: Queryable,
  chainId: number,
  { projection, key }: SourceName,
  fromBlock: number,
): Promise<void> {
  await db`
    update sources set from_block = ${fromBlock}, synced_to = ${fromBlock - 1}, synced = false
    where chain_id = ${chainId} and projection = ${projection} and source = ${key}`
}

/** Records how far sources are read. Returns how many of them were at `from`; all of them must be. */
export async function recordSourceProgress(
  db: Queryable,
  chainId: number,
  sources: readonly SourceName[],
  progress: { from: number; syncedTo: number; synced: boolean },
): Promise<number> {
  const { count } = await db`
    update sources s set synced_to = ${progress.syncedTo}, synced = ${progress.synced}
    from unnest(${sources.map(({ projection }) => projection)}::text[], ${sources.map(({ key }) => key)}::text[])
      as t (projection, source)
    where s.chain_id = ${chainId} and s.projection = t.projection and s.source = t.source
      and s.synced_to = ${progress.from} and not s.synced`
  return count
}

/** Forgets progress above a block whose raw data was removed. */
export async function rewindSourceProgress(db: Queryable, chainId: number, number: number): Promise<void> {
  await db`
    update sources set synced_to = least(synced_to, greatest(${number}, from_block - 1)) where chain_id = ${chainId}`
}
