import type { Header } from '../rpc/raw.js'
import type { Engine } from './engine.js'
import type { State } from './state.js'
import type { Cursor } from './storeCursors.js'

/** The time without a node that shows our tip, after which the chain is stalled: the longer of the two. */
const patience = { blocks: 10, leastMs: 60_000 }

/** Whether the head is below the tip. It lags, was restored from a backup, or has another chain. */
export function isBehind({ head, cursor }: { head: Pick<Header, 'number'>; cursor: Cursor }): boolean {
  return cursor.blockHash !== '' && head.number < cursor.blockNumber
}

/**
 * Whether a node whose head is below the tip has another chain, where the header at that height is not kept: the newest
 * header kept below is compared.
 */
export async function isOtherBelow({ node, store }: Engine, state: State): Promise<boolean> {
  const { head, hashAtHead } = state
  if (hashAtHead !== undefined || !isBehind(state)) return false
  const [kept] = await store.load('fork', { ...state, search: { from: head.number, by: 'first' } })
  const theirs = kept && (await node.findHeader(kept.number))
  return kept !== undefined && theirs !== undefined && theirs.hash !== kept.hash
}

/** Asks another url where the head of this one is below the tip. Returns whether the other one is asked from now on. */
export async function leaveLate({ node, log, chain }: Engine, { head, cursor }: State): Promise<boolean> {
  // No response is no evidence.
  const theirs = await node
    .secondary()
    ?.findHeader('latest')
    .catch(() => undefined)
  if (!theirs || theirs.number <= head.number) return false
  node.markUnreliable()
  const about = { chainId: chain.chainId, head: head.number, tip: cursor.blockNumber, theirs: theirs.number }
  log.warn(about, 'a node is behind the blocks that are read already: left')
  return true
}

/** Whether the time without a node that shows our tip is long enough to call the chain stalled. */
export async function isMissedTooLong({ store, clock }: Engine, { cursor }: State): Promise<boolean> {
  const forMs = cursor.tipMissedSince ? clock.now().getTime() - cursor.tipMissedSince.getTime() : 0
  if (forMs < patience.leastMs) return false
  return forMs >= patience.blocks * (await store.meanBlockSeconds()) * 1000
}

/** The reason of a chain whose nodes are behind it. */
export function describeBehind({ head, cursor }: State): string {
  const blocks = cursor.blockNumber - head.number
  const behind = blocks === 1 ? 'a block' : `${blocks} blocks`
  return (
    `the node is ${behind} behind block ${cursor.blockNumber}, which was read before: it lags, or was restored from a ` +
    'backup; check it, or add another --rpc'
  )
}
