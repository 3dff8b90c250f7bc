import type { Node } from '../rpc/node.js'
import type { Header } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { finalNumber } from './localChain.js'
import type { Final, Memory, Pace, WatchSettings } from './state.js'
import type { Cursor } from './storeCursors.js'

export type { Pace }

/** Up to where blocks are final. A node is asked only when its head has moved, and at most every `pace.finalMs`. */
export async function readFinal(
  by: { node: Node; chain: Pick<WatchSettings, 'finalityDepth'>; pace: Pick<Pace, 'finalMs'> },
  at: { cursor: Cursor; head: Header; nowMs: number; memory: Memory },
): Promise<Final> {
  const { node, chain, pace } = by
  const { cursor, head, nowMs, memory } = at
  const previous = cursor.finalizedNumber
  if (head.number <= cursor.headNumber && previous !== null) return { number: previous }
  if (!memory.told || previous === null || nowMs - memory.told.atMs >= pace.finalMs) {
    const header = await node.findHeader('finalized').catch((error: unknown) => {
      // A node that does not know the tag refuses the call; then depth decides.
      if (error instanceof RpcError) return undefined
      throw error
    })
    memory.told = { header, atMs: nowMs }
  }
  const finalized = memory.told.header
  // From a node ahead of the one that returned the head: it proves nothing about this head's branch, unless that node agrees now.
  const isAhead = finalized !== undefined && finalized.number > head.number
  if (isAhead && (await node.findHeader(head.number))?.hash !== head.hash) return { number: previous }
  const found = isAhead ? head : finalized
  const { finalityDepth } = chain
  const number = finalNumber({ head: head.number, finalized: found?.number ?? null, finalityDepth, previous })
  return found?.number === number ? { number, hash: found.hash } : { number }
}
