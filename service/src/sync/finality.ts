import type { Clock } from '../kernel/clock.js'
import type { Node } from '../rpc/node.js'
import type { Header } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { finalNumber } from './localChain.js'
import type { Cursor } from './storeCursors.js'

/**
 * How often a node is asked beside its head, in milliseconds: what is final, and final blocks again; these earlier where
 * so many wait.
 */
export type Pace = { finalMs: number; againMs: number; againBlocks: number }

/** Up to where blocks are final, and the hash of the last of them where the node names it. */
export type Final = { number: number | null; hash?: string }

/** Tells up to where blocks are final. A node is asked only when its head has moved, and at most every `everyMs`. */
export function createFinality(options: {
  node: Node
  clock: Pick<Clock, 'monotonicMs'>
  finalityDepth: number
  everyMs: number
}): (cursor: Cursor, head: Header) => Promise<Final> {
  const { node, clock, finalityDepth, everyMs } = options
  /** What the node said was final, and when it was asked. */
  let told: { header: Header | undefined; atMs: number } | undefined
  return async (cursor, head) => {
    const previous = cursor.finalizedNumber
    if (head.number <= cursor.headNumber && previous !== null) return { number: previous }
    const nowMs = clock.monotonicMs()
    if (!told || previous === null || nowMs - told.atMs >= everyMs) {
      const header = await node.findHeader('finalized').catch((error: unknown) => {
        // A node that does not know the tag refuses the call; then depth decides.
        if (error instanceof RpcError) return undefined
        throw error
      })
      told = { header, atMs: nowMs }
    }
    const finalized = told.header
    // Of a node ahead of the one that told the head: it says nothing about this head's branch, unless that one agrees now.
    const isAhead = finalized !== undefined && finalized.number > head.number
    if (isAhead && (await node.findHeader(head.number))?.hash !== head.hash) return { number: previous }
    const found = isAhead ? head : finalized
    const number = finalNumber({ head: head.number, finalized: found?.number ?? null, finalityDepth, previous })
    return found?.number === number ? { number, hash: found.hash } : { number }
  }
}
