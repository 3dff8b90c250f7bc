import type { Context } from '../postgres/context.js'
import { inTransaction } from '../postgres/pool.js'
import type { Node } from '../rpc/node.js'
import { CursorMoved } from './follow.js'
import type { Projections } from './projection.js'
import { compareAgain, keptSince, repair } from './recheck.js'
import { readRequests } from './requestReadings.js'
import { findCursor, lockCursor } from './storeCursors.js'
import { listHeadersDown } from './storeRaw.js'
import { openRefetch, type Refetch, recordRefetch, removeRefetch } from './storeRefetch.js'
import { findConfigurationVersion, listSources } from './storeSources.js'
import { loadConfigurations, takeUp } from './taken.js'

/** Blocks compared at a time. */
const windowMax = 500
/** Times a window is begun anew because the watcher or the configuration moved in between. */
const attemptsMax = 10

export type RefetchProgress = Refetch & { seconds: number; blocks: number; secondsLeft: number }

/**
 * Asks a node again for a range of blocks, compares their logs with the raw store, and puts right and derives again what
 * differs, each window in one transaction. What is done is kept: begun again after a break, it goes on from there.
 */
export async function refetchRange(
  ctx: Pick<Context, 'db' | 'clock'>,
  input: {
    chainId: number
    projections: Projections
    from: number
    to: number
    node: Node
    onProgress?: (progress: RefetchProgress) => void
  },
): Promise<Refetch> {
  const { db, clock } = ctx
  const startMs = clock.monotonicMs()
  let state = await openRefetch(db, input.chainId, input.from, input.to)
  const begunAt = state.doneTo
  while (state.doneTo < state.to) {
    state = await refetchWindow(ctx, input, state)
    const seconds = (clock.monotonicMs() - startMs) / 1000
    const blocks = state.doneTo - begunAt
    input.onProgress?.({ ...state, seconds, blocks, secondsLeft: (seconds * (state.to - state.doneTo)) / blocks })
  }
  await removeRefetch(db, state)
  return state
}

async function refetchWindow(
  ctx: Pick<Context, 'db'>,
  { node, projections }: { node: Node; projections: Projections },
  state: Refetch,
): Promise<Refetch> {
  const { db } = ctx
  const { chainId } = state
  const range = { from: state.doneTo + 1, to: Math.min(state.to, state.doneTo + windowMax) }
  for (let attempt = 1; ; attempt++) {
    const cursor = await findCursor(db, chainId)
    if (!cursor || cursor.blockNumber < range.to)
      throw new Error(`chain ${chainId} has not been read up to block ${range.to}: there is nothing to compare with`)
    const version = await findConfigurationVersion(db, chainId)
    const full = await loadConfigurations(db, chainId, projections.derived)
    const taken = takeUp(full, await listSources(db, chainId))
    const { opened, list } = taken
    try {
      const looked = await compareAgain({
        db,
        node,
        cursor,
        range,
        list,
        isKept: keptSince(taken),
        isDoubted: () => true,
        withMarks: true,
      })
      const blocks = await readRequests(db, { chainId, node, opened: full, blocks: looked.blocks })
      const found = { ...looked, blocks }
      const first = blocks[0]?.number
      const next = {
        ...state,
        doneTo: range.to,
        missingLogs: state.missingLogs + found.missing.length,
        extraLogs: state.extraLogs + found.extra.length,
        firstWrong: state.firstWrong ?? first ?? null,
      }
      await inTransaction(db, async (tx) => {
        const held = await lockCursor(tx, chainId)
        // The chain may have gone on meanwhile, but not back; and a source that joined was not looked for.
        const [tip] = await listHeadersDown(tx, chainId, cursor.blockNumber, 1)
        const isOther = tip?.number === cursor.blockNumber && tip.hash !== cursor.blockHash
        if (!held || held.blockNumber < cursor.blockNumber || isOther) throw new CursorMoved('the chain went back')
        if ((await findConfigurationVersion(tx, chainId)) !== version)
          throw new CursorMoved('the configuration has changed')
        await repair(tx, { chainId, found, all: opened, to: held.blockNumber })
        await recordRefetch(tx, next)
      })
      return next
    } catch (error) {
      if (!(error instanceof CursorMoved) || attempt >= attemptsMax) throw error
    }
  }
}
