import type { Queryable } from '../postgres/pool.js'
import type { AnyProjection, Opened, Source } from './projection.js'
import { nameSource, type SourceName, type SourceProgress } from './storeSources.js'
import { createWatchList, type WatchList } from './watchList.js'

/** A projection with its configuration and all its sources. */
export type Configured = { projection: AnyProjection; config: unknown; sources: readonly Source[] }

/** The configuration as a process works by it. */
export type Taken = {
  full: readonly Configured[]
  sources: readonly SourceProgress[]
  /** The projections, limited to sources that are read as far as the chain. */
  opened: readonly Opened[]
  list: WatchList
}

export async function loadConfigurations(
  db: Queryable,
  chainId: number,
  projections: readonly AnyProjection[],
): Promise<Configured[]> {
  const configs = await Promise.all(projections.map((projection) => projection.configuration(db, chainId)))
  return projections.map((projection, index) => {
    const config: unknown = configs[index]
    return { projection, config, sources: projection.sources(config) }
  })
}

/** Projections with some of their sources. */
export function openWith(full: readonly Configured[], sources: readonly SourceName[]): Opened[] {
  const names = new Set(sources.map(nameSource))
  return full.map(({ projection, config }) => ({
    projection,
    config: projection.restrict(config, (key: string) => names.has(nameSource({ projection: projection.name, key }))),
  }))
}

export function takeUp(full: readonly Configured[], sources: readonly SourceProgress[]): Taken {
  const synced = sources.filter((source) => source.synced)
  // A synced source stays watched while a related source is still catching up.
  return { full, sources, opened: openWith(full, synced), list: watchAlone(full, synced) }
}

/** The watch list of some sources, with the sources of marks. */
export function watchAlone(full: readonly Configured[], sources: readonly SourceName[]): WatchList {
  const names = new Set(sources.map(nameSource))
  return createWatchList(
    full.flatMap(({ projection, sources: own }) =>
      own.filter(({ key, beside }) => beside || names.has(nameSource({ projection: projection.name, key }))),
    ),
    full.flatMap(({ sources: own }) => own),
  )
}

/** The first block of the earliest source; undefined without sources. */
export function startBlockOf(full: readonly Configured[]): number | undefined {
  const starts = full.flatMap(({ sources }) => sources.flatMap(({ fromBlock, beside }) => (beside ? [] : [fromBlock])))
  return starts.length > 0 ? starts.reduce((least, start) => Math.min(least, start)) : undefined
}
