import { OutboundError } from '../../kernel/outbound.js'
import type { Node } from '../../rpc/node.js'
import type { Header } from '../../rpc/raw.js'
import { judgeReorg } from '../localChain.js'
import { removeObservations } from '../observations.js'
import type { Ancestor, Search, Standing, State } from '../state.js'
import { lowerFinalized, moveCursor, recordChecked, recordReorg, recordRetractedCount } from '../storeCursors.js'
import { listHeadersDown, removeRawAbove } from '../storeRaw.js'
import { spoilRebuild } from '../storeRebuilds.js'
import { rewindDerivations, rewindSourceProgress } from '../storeSources.js'
import type { Reading, Writing } from './step.js'

/** Stored headers compared at once in the search for a common ancestor. */
export const ancestorBatch = 16

/**
 * The result. `search`: search further down, or again. `rewind`: take back the blocks above the ancestor. `same`: the tip is
 * the node's block after all. `refuse` and `disagree`: nothing is taken back, and the reason is stored.
 */
export type ForkRead =
  | { kind: 'search'; search: Search }
  | { kind: 'rewind'; ancestor: Ancestor }
  | { kind: 'same' }
  | { kind: 'refuse'; reason: string }
  | { kind: 'disagree'; reason: string }

/** The state of the search; it begins at the tip. */
export function searchOf({ search, cursor }: State): Search {
  return search ?? { from: cursor.blockNumber, by: 'first' }
}

/** Compares stored headers with a node's, from the state of the search downwards. */
export async function readFork(by: Reading, state: State, stored: readonly Header[]): Promise<ForkRead> {
  const search = searchOf(state)
  if (!state.search) await assertSameChain(by.node, state)
  if (search.by !== 'other') return judge(state, search, await match(by.node, state, search, stored))
  const other = by.node.secondary()
  if (!other) return searchAgain(by, state, search.first)
  try {
    return judge(state, search, await match(other, state, search, stored))
  } catch (error) {
    by.log.warn({ chainId: state.chain.chainId, err: error }, 'no second node answers; the first is asked again')
    return searchAgain(by, state, search.first)
  }
}

/** A url that began to serve another chain since it was last asked is no reorganisation. */
async function assertSameChain(node: Node, { chain }: State): Promise<void> {
  if ((await node.chainId()) === chain.chainId) return
  node.markUnreliable()
  throw new OutboundError('malformed', 'a node serves another chain now')
}

/** The newest of the stored blocks that the node has too; undefined: no block is left; a number: look below it. */
async function match(
  node: Node,
  { cursor }: State,
  { from }: Search,
  stored: readonly Header[],
): Promise<Ancestor | number | undefined> {
  // Every block since the first was replaced: begin again, if none of them was final.
  if (stored.length === 0) return from < cursor.startBlock ? { number: cursor.startBlock - 1, hash: '' } : undefined
  const theirs = await Promise.all(stored.map(({ number }) => node.findHeader(number)))
  const found = stored.find((header, index) => theirs[index]?.hash === header.hash)
  return found ? { number: found.number, hash: found.hash } : (stored.at(-1)?.number ?? 0) - 1
}

/** Judges the result of a search. */
function judge(state: State, search: Search, found: Ancestor | number | undefined): ForkRead {
  const { chain, cursor } = state
  if (typeof found === 'number') return { kind: 'search', search: { ...search, from: found } }
  if (search.by !== 'first') return compareReads(search.first, found)
  if (!found) return { kind: 'refuse', reason: 'the node has another chain than this database, without a common block' }
  if (found.number === cursor.blockNumber) return { kind: 'same' }
  const verdict = judgeReorg({
    ancestor: found.number,
    head: cursor.blockNumber,
    confirmations: chain.confirmations,
    finalized: cursor.finalizedNumber,
    finalityDepth: chain.finalityDepth,
  })
  if (verdict === 'apply') return { kind: 'rewind', ancestor: found }
  if (verdict === 'recheck') return { kind: 'search', search: { from: cursor.blockNumber, by: 'other', first: found } }
  const command = `openearn chains rewind ${chain.chainId} --to ${found.number}`
  const reason = `the node replaced final blocks above ${found.number}; check it, then run: ${command}`
  return { kind: 'refuse', reason }
}

/** The second read, of the same node after a while. */
async function searchAgain(by: Reading, { chain, cursor }: State, first: Ancestor | undefined): Promise<ForkRead> {
  await by.clock.sleep(chain.reorgRecheckSeconds * 1000)
  return { kind: 'search', search: { from: cursor.blockNumber, by: 'same', ...(first ? { first } : {}) } }
}

/** Blocks are taken back only if both reads find the same ancestor. */
function compareReads(first: Ancestor | undefined, again: Ancestor | undefined): ForkRead {
  if (first && again?.number === first.number) return { kind: 'rewind', ancestor: first }
  const at = (found: Ancestor | undefined) => found?.number ?? 'nowhere'
  const reason = `two reads disagree about where the chain forked: above ${at(first)}, above ${at(again)}`
  return { kind: 'disagree', reason }
}

/** Takes back everything above the ancestor, with a record. `byOperator` takes finality back too. */
export async function commitFork(
  to: Writing,
  state: Standing,
  { ancestor, byOperator = false }: { ancestor: Ancestor; byOperator?: boolean },
): Promise<void> {
  const { tx, clock } = to
  const { cursor } = state
  const { chainId } = cursor
  const reorgId = await recordReorg(tx, {
    ...{ chainId, detectedAt: clock.now(), ancestorNumber: ancestor.number, ancestorHash: ancestor.hash },
    ...{ oldNumber: cursor.blockNumber, oldHash: cursor.blockHash },
  })
  await rewindRows(to, state, { ancestor, byOperator, reorgId })
  const above = { chainId, number: ancestor.number, tip: cursor.blockNumber }
  const [held] = await listHeadersDown(tx, chainId, ancestor.number, 1)
  await removeRawAbove(tx, above)
  await removeObservations(tx, state.held.taken.full, above)
  await rewindSourceProgress(tx, chainId, ancestor.number)
  await spoilRebuild(tx, chainId, ancestor.number + 1)
  const blockTimestamp = held?.number === ancestor.number ? new Date(held.timestamp * 1000) : null
  const { number: blockNumber, hash: blockHash } = ancestor
  await moveCursor(tx, { chainId, blockNumber, blockHash, blockTimestamp, at: clock.now() })
  const checkedTo = Math.max(
    Math.min(cursor.checkedTo, ancestor.number),
    Math.min(cursor.checkedTo, cursor.followedFrom - 1),
  )
  await recordChecked(tx, chainId, checkedTo)
  if (byOperator) await lowerFinalized(tx, chainId, ancestor.number)
}

/** Takes back derived rows and observations, and returns how many ledger entries were removed. */
async function rewindRows(
  { tx, reactions, observed }: Writing,
  { cursor, held }: Standing,
  { ancestor, byOperator, reorgId }: { ancestor: Ancestor; byOperator: boolean; reorgId: number },
): Promise<void> {
  const { chainId } = cursor
  for (const reaction of reactions) await reaction.onRewind?.(tx, chainId, ancestor.number)
  const above = { chainId, number: ancestor.number, tip: cursor.blockNumber }
  let retracted = 0
  for (const { projection } of held.taken.opened.toReversed())
    retracted += await projection.rewind(tx, above, { reorgId, byOperator })
  await recordRetractedCount(tx, reorgId, retracted)
  await rewindDerivations(tx, chainId, ancestor.number)
  for (const observations of observed) await observations.rewind(tx, above)
}
