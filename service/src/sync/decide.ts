import type { Memory, State, Step } from './state.js'
import { type Cursor, headBatch, isAtHead } from './storeCursors.js'

/** The parts of the state that decide the next step. */
export type Facts = Pick<
  State,
  'hashAtHead' | 'isForked' | 'done' | 'isMore' | 'areTracesAwaited' | 'nowMs' | 'pace' | 'result'
> & {
  cursor: Pick<Cursor, 'blockNumber' | 'blockHash' | 'checkedTo' | 'finalizedNumber'>
  head: Pick<State['head'], 'number' | 'hash'>
  final: Pick<State['final'], 'number'>
  held: {
    taken: { opened: readonly { projection: { at: 'head' | 'confirmed' } }[]; sources: readonly { synced: boolean }[] }
  }
  memory: Pick<Memory, 'again'> & { suspect: Pick<Memory['suspect'], 'untilMs'> }
}

/**
 * The next step of a turn; pure. To a chain that is derived up to its tip, a new head is one of four things:
 *
 * 1. The head is the tip, or a block below it that is ours. There is nothing new.
 * 2. The head is at or below the tip and has another hash than the block we hold: the chain has forked. `fork` finds the
 *    common ancestor, and takes back everything above it.
 * 3. The head is above the tip, and the blocks between may still change: `blocks` reads each by its hash. The first must
 *    stand on the tip, each other one on the one before; else it is case 2.
 * 4. The head is so far above the tip that the next blocks are final: `range` reads a window of them. The tip must still
 *    be a block of the node; else it is case 2.
 *
 * The head comes first: on a chain that has forked, reading the past of a source would never match. After it come
 * the projections that wait for confirmations (`confirm`), then the past of sources that were added later (`past`), one window a
 * turn. Only a chain that follows its head has time for traces that come late and for a second look at final blocks.
 */
export function decide(facts: Facts): Step {
  const { cursor, head, done } = facts
  const { opened, sources } = facts.held.taken
  if (facts.result) return 'rest'
  if (facts.isForked || isOther(facts)) return 'fork'
  const isAdvanced = done.includes('range') || done.includes('blocks')
  if (!isAdvanced && head.number > cursor.blockNumber) return isDeep(facts) ? 'range' : 'blocks'
  if (!done.includes('confirm') && opened.some(({ projection }) => projection.at === 'confirmed')) return 'confirm'
  if (!done.includes('past') && !facts.isMore && sources.some(({ synced }) => !synced)) return 'past'
  if (!isLive(facts) || facts.isMore) return 'rest'
  if (!done.includes('traces') && facts.areTracesAwaited) return 'traces'
  if (!done.includes('recheck') && isRecheckDue(facts)) return 'recheck'
  return 'rest'
}

/** Whether the chain follows its head. */
export function isLive({ head, cursor }: Pick<Facts, 'head' | 'cursor'>): boolean {
  return isAtHead({ blockNumber: cursor.blockNumber, headNumber: head.number })
}

/** Case 2: we hold another block at the height of the head. */
function isOther({ head, cursor, hashAtHead, done }: Facts): boolean {
  if (done.length > 0 || head.number > cursor.blockNumber || cursor.blockHash === '') return false
  return hashAtHead !== undefined && hashAtHead !== head.hash
}

/** Case 4: the next block is final, and not one of the last before the head. */
function isDeep({ cursor, head, final }: Facts): boolean {
  return cursor.blockNumber < deepEnd({ head, final })
}

/** The last block that is read in windows of the past. */
export function deepEnd({ head, final }: Pick<Facts, 'head' | 'final'>): number {
  return Math.min(final.number ?? -1, head.number - headBatch)
}

/** Final blocks wait for a second look, enough of them or for long enough, and no node was caught lying just now. */
function isRecheckDue({ cursor, memory, pace, nowMs }: Facts): boolean {
  if (nowMs < (memory.suspect.untilMs ?? 0)) return false
  const waiting = Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber) - cursor.checkedTo
  return waiting > 0 && (waiting >= pace.againBlocks || nowMs - memory.again.atMs >= pace.againMs)
}
