import type { Recover } from '@openearn/attribution'
import type { Context } from '../src/postgres/context.js'
import { listProjections } from '../src/server/projections.js'
import { computeStateHash } from '../src/server/stateHash.js'
import type { StoreOptions } from '../src/sync/chainStore.js'
import type { Projections } from '../src/sync/projection.js'
import { type RebuildInput, type RebuildResult, rebuildChain as rebuildWith } from '../src/sync/rebuild.js'
import { rewindChain as rewindWith } from '../src/sync/rewind.js'
import { createSink, type Sink } from './sink.js'

export type PipelineOptions = Omit<StoreOptions, 'projections'> & { projections?: Projections; recover?: Recover }

/** The pipeline of a chain with everything the service derives. */
export function createPipeline(
  ctx: Pick<Context, 'db' | 'clock' | 'log'>,
  { recover, ...options }: PipelineOptions,
): Sink {
  return createSink(ctx, { projections: listProjections(recover ? { recover } : {}), ...options })
}

export function rewindChain(
  ctx: Pick<Context, 'db' | 'clock' | 'log'>,
  input: Omit<Parameters<typeof rewindWith>[1], 'projections'> & { projections?: Projections },
): ReturnType<typeof rewindWith> {
  return rewindWith(ctx, { projections: listProjections(), ...input })
}

/** Rebuilds a chain; answers the hash of its state as well. */
export async function rebuildChain(
  ctx: Pick<Context, 'db' | 'clock'>,
  input: Omit<RebuildInput, 'projections'> & { projections?: Projections; recover?: Recover },
): Promise<RebuildResult & { hash: string }> {
  const { recover, ...rest } = input
  const done = await rebuildWith(ctx, { projections: listProjections(recover ? { recover } : {}), ...rest })
  return { ...done, hash: await computeStateHash(ctx.db, input.chainId) }
}
