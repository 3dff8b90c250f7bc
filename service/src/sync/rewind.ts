import type { Context } from '../postgres/context.js'
import { openStore } from './chainStore.js'
import { CursorMoved } from './failures.js'
import type { Projections } from './projection.js'
import { createMemory } from './state.js'
import type { Reaction } from './steps/step.js'
import { findCursor } from './storeCursors.js'
import { listHeadersDown } from './storeRaw.js'

/** How often a rewind starts again because the watcher moved in between. */
const attemptsMax = 10

/**
 * Takes a chain back to the newest block kept at or below `to`, on an operator's word and below final too: everything
 * above it goes as in a reorganisation, with a record, and the watcher reads on from there. Returns the new tip.
 */
export async function rewindChain(
  ctx: Pick<Context, 'db' | 'clock' | 'log'>,
  input: { chainId: number; projections: Projections; to: number; reactions?: readonly Reaction[] },
): Promise<{ blockNumber: number; removedBlocks: number }> {
  const { chainId, projections, to, reactions = [] } = input
  const store = openStore(ctx, { chainId, projections, reactions })
  const memory = createMemory(ctx.clock)
  for (let attempt = 1; ; attempt++) {
    const cursor = await findCursor(ctx.db, chainId)
    if (!cursor) throw new Error(`chain ${chainId} was never watched`)
    try {
      const tip = { number: cursor.blockNumber, hash: cursor.blockHash, parentHash: '', timestamp: 0 }
      const { held } = await store.begin(tip, memory.held)
      memory.held = held
      const [kept] = await listHeadersDown(ctx.db, chainId, Math.min(to, cursor.blockNumber), 1)
      const ancestor = kept ?? { number: cursor.startBlock - 1, hash: '' }
      await store.commit({ cursor, held, memory }, { step: 'fork', ancestor, byOperator: true })
      return { blockNumber: ancestor.number, removedBlocks: cursor.blockNumber - ancestor.number }
    } catch (error) {
      // The watcher goes on meanwhile.
      if (!(error instanceof CursorMoved) || attempt >= attemptsMax) throw error
    }
  }
}
