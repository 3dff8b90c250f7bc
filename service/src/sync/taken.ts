import type { Queryable } from '../postgres/pool.js'
import type { AnyProjection, Opened, Source } from './projection.js'
import type { SourceProgress } from './storeSources.js'
import { createWatchList, type WatchList } from './watchList.js'

/** A projection with everything beside the chain that decides its rows, and all its sources. */
export type Configured = { projection: AnyProjection; config: unknown; sources: readonly Source[] }

/** The configuration as a process works by it. */
export type Taken = {
  full: readonly Configured[]
  sources: readonly SourceProgress[]
  /** What is derived: of sources that are read as far as the chain. */
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

/** Projections with those of their sources that are read. */
export function openSynced(
  full: readonly Configured[],
  isRead: (projection: string, key: string) => boolean,
): Opened[] {
  return full.map(({ projection, config }) => ({
    projection,
    config: projection.restrict(config, (key: string) => isRead(projection.name, key)),
  }))
}

export function takeUp(full: readonly Configured[], sources: readonly SourceProgress[]): Taken {
  const synced = new Set(sources.flatMap((each) => (each.synced ? [`${each.projection} ${each.key}`] : [])))
  const opened = openSynced(full, (name, key) => synced.has(`${name} ${key}`))
  return { full, sources, opened, list: watchOf(opened) }
}

/** What projections read. */
export function watchOf(opened: readonly Opened[]): WatchList {
  return createWatchList(opened.flatMap(({ projection, config }) => projection.sources(config)))
}

/** The first block of the first source; undefined where there is none. */
export function startBlockOf(full: readonly Configured[]): number | undefined {
  const starts = full.flatMap(({ sources }) => sources.flatMap(({ fromBlock, beside }) => (beside ? [] : [fromBlock])))
  return starts.length > 0 ? starts.reduce((least, start) => Math.min(least, start)) : undefined
}
