import type { Context } from '../postgres/context.js'
import { type Database, inTransaction, type Transaction } from '../postgres/pool.js'
import type { Node } from '../rpc/node.js'
import { CursorMoved } from './failures.js'
import type { Range } from './fetch.js'
import { listQuestions, mayObserve, readAnswers } from './observations.js'
import type { Projections } from './projection.js'
import type { Held } from './state.js'
import { compareAgain, type Found, keptSince, loadStored, repair, type StoredRange } from './steps/recheck.js'
import { type Cursor, findCursor, lockCursor } from './storeCursors.js'
import { listHeadersDown } from './storeRaw.js'
import { openRefetch, type Refetch, recordRefetch, removeRefetch } from './storeRefetch.js'
import { findConfigurationVersion, listSources } from './storeSources.js'
import { loadConfigurations, takeUp } from './taken.js'

/** Blocks compared at a time. */
const windowMax = 500
/** How often a window starts again because the watcher or the configuration moved in between. */
const attemptsMax = 10

export type RefetchProgress = Refetch & { seconds: number; blocks: number; secondsLeft: number }

/**
 * Reads a range of blocks from a node again and compares the logs with the raw store. Differences are corrected and derived
 * again, each window in one transaction. After a break it continues at the first window that is not done.
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
  { db }: Pick<Context, 'db'>,
  { node, projections }: { node: Node; projections: Projections },
  state: Refetch,
): Promise<Refetch> {
  const range = { from: state.doneTo + 1, to: Math.min(state.to, state.doneTo + windowMax) }
  for (let attempt = 1; ; attempt++) {
    const at = await loadWindow(db, { chainId: state.chainId, range, projections })
    try {
      const found = await readWindow(db, node, at)
      const next = {
        ...state,
        doneTo: range.to,
        missingLogs: state.missingLogs + found.missing.length,
        extraLogs: state.extraLogs + found.extra.length,
        firstWrong: state.firstWrong ?? found.blocks[0]?.number ?? null,
      }
      await inTransaction(db, (tx) => commitWindow(tx, at, { found, next }))
      return next
    } catch (error) {
      if (!(error instanceof CursorMoved) || attempt >= attemptsMax) throw error
    }
  }
}

/** Where a window is compared: the chain, its configuration, and what is stored of the window. */
type At = { cursor: Cursor; held: Held; stored: StoredRange }

async function loadWindow(
  db: Database,
  { chainId, range, projections }: { chainId: number; range: Range; projections: Projections },
): Promise<At> {
  const cursor = await findCursor(db, chainId)
  if (!cursor || cursor.blockNumber < range.to)
    throw new Error(`chain ${chainId} has not been read up to block ${range.to}: there is nothing to compare with`)
  const version = await findConfigurationVersion(db, chainId)
  const full = await loadConfigurations(db, chainId, projections.derived)
  const taken = takeUp(full, await listSources(db, chainId))
  const stored = await loadStored(db, { chainId, range, list: taken.list, withMarks: true })
  return { cursor, held: { version, taken }, stored }
}

async function readWindow(db: Database, node: Node, { cursor, held: { taken }, stored }: At): Promise<Found> {
  const { list, full } = taken
  const isKept = keptSince(taken)
  const found = await compareAgain({ node, cursor, stored, list, isKept, isDoubted: () => true })
  if (!mayObserve(node, found.blocks)) return found
  const asked = await listQuestions(db, { chainId: cursor.chainId, opened: full, blocks: found.blocks })
  return { ...found, blocks: await readAnswers(node, found.blocks, asked) }
}

async function commitWindow(
  tx: Transaction,
  { cursor, held }: At,
  { found, next }: { found: Found; next: Refetch },
): Promise<void> {
  const { chainId, blockNumber, blockHash } = cursor
  const now = await lockCursor(tx, chainId)
  // The chain may have gone on meanwhile, but not back; and a source that joined was not looked for.
  const [tip] = await listHeadersDown(tx, chainId, blockNumber, 1)
  const isOther = tip?.number === blockNumber && tip.hash !== blockHash
  if (!now || now.blockNumber < blockNumber || isOther) throw new CursorMoved('the chain went back')
  if ((await findConfigurationVersion(tx, chainId)) !== held.version)
    throw new CursorMoved('the configuration has changed')
  await repair({ tx }, { chainId, found, all: held.taken.opened, to: now.blockNumber })
  await recordRefetch(tx, next)
}
