import { hasBits } from '../../rpc/bloom.js'
import type { Header, RawBlock } from '../../rpc/raw.js'
import { applyBlocks } from '../apply.js'
import { ForkFound } from '../failures.js'
import { fetchBlock } from '../fetch.js'
import { decideStep } from '../localChain.js'
import { recordObservations } from '../observations.js'
import type { Standing, State } from '../state.js'
import { headBatch, moveCursor } from '../storeCursors.js'
import { recordBlocks, removeEmptyHeaders } from '../storeRaw.js'
import { applyPutOff } from './confirm.js'
import type { Above, Reading, Writing } from './step.js'
import { noteAwaited } from './traces.js'

/** The next blocks of the head, each by its hash, as far as they stand on the tip. */
export async function readBlocks({ node }: Reading, state: State): Promise<Above> {
  const { head, cursor, memory } = state
  const { list } = state.held.taken
  const from = cursor.blockNumber + 1
  const to = Math.min(head.number, from + headBatch - 1)
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  // The head is known; the links show whether it follows the blocks read before it.
  const headers =
    to === head.number ? [...(await node.listHeaders(numbers.slice(0, -1))), head] : await node.listHeaders(numbers)
  const linked = listLinked({ number: cursor.blockNumber, hash: cursor.blockHash }, headers)
  const tip = linked.at(-1)
  if (!tip) throw new ForkFound()
  memory.makesBlooms ||= linked.some(({ bloom }) => bloom && hasBits(bloom))
  const { makesBlooms } = memory
  return { blocks: await Promise.all(linked.map((header) => fetchBlock(node, header, list, { makesBlooms }))), tip }
}

/**
 * Final blocks without logs whose headers are kept. A node that was restored from a backup has a head below the tip; whether
 * it has our chain or another one, only a header of that height tells.
 */
const emptyKept = 1_000

/** The headers that stand on a tip, one on the other. */
function listLinked(tip: { number: number; hash: string }, headers: readonly Header[]): Header[] {
  const linked: Header[] = []
  for (const header of headers) {
    if (decideStep(linked.at(-1) ?? tip, header, () => undefined).kind !== 'append') break
    linked.push(header)
  }
  return linked
}

/** Stores blocks above the tip, derives them and the blocks that they confirm, and moves the cursor. */
export async function commitBlocks(to: Writing, state: Standing, { blocks, tip }: Above): Promise<void> {
  const { tx, clock, reactions } = to
  const { cursor } = state
  const { chainId } = cursor
  const { opened, list } = state.held.taken
  await recordBlocks(tx, chainId, withTip(blocks, tip))
  await recordObservations(tx, { chainId, all: opened, blocks })
  await noteAwaited(to, state, blocks, list)
  const atHead = opened.filter(({ projection }) => projection.at === 'head')
  const rows = await applyBlocks(tx, chainId, atHead, blocks)
  await applyPutOff(to, state, tip.number, { from: cursor.blockNumber + 1, blocks, rows })
  for (const reaction of reactions) await reaction.onBlocks?.(tx, chainId, blocks, rows)
  await moveCursor(tx, {
    ...{ chainId, blockNumber: tip.number, blockHash: tip.hash },
    ...{ blockTimestamp: new Date(tip.timestamp * 1000), at: clock.now() },
  })
  if (cursor.finalizedNumber !== null)
    await removeEmptyHeaders(tx, chainId, Math.min(cursor.finalizedNumber, tip.number) - emptyKept)
}

/** The tip's header is always kept, also when it carries nothing. */
function withTip(blocks: readonly RawBlock[], tip: Header): readonly RawBlock[] {
  return blocks.at(-1)?.number === tip.number ? blocks : [...blocks, { ...tip, logs: [], transactions: [] }]
}
