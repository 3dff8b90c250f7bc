import { readHead } from '../../rpc/blocks.js'
import { findCursor } from '../../sync/storeCursors.js'
import { isConfirmed } from './actionStatus.js'
import { type AttributionContext, orUndefined } from './transaction.js'

/** How far a chain is derived, confirmed and final, by what its watcher has seen; -1: nothing is. */
export type Depth = {
  confirmedTo: number
  finalTo: number
  /** Whether a block is confirmed; where the watcher has not seen so much, by the word of a node. */
  isConfirmed(blockNumber: number): Promise<boolean>
}

export async function openDepth(ctx: AttributionContext, chainId: number): Promise<Depth> {
  const cursor = await findCursor(ctx.db, chainId)
  const confirmations = ctx.catalogue.current().chains.get(chainId)?.confirmations ?? 1
  const seen = cursor?.headNumber ?? -1
  let asked: Promise<number> | undefined
  return {
    confirmedTo: cursor ? Math.min(cursor.blockNumber, cursor.headNumber - confirmations + 1) : -1,
    finalTo: cursor?.finalizedNumber ?? -1,
    isConfirmed: async (blockNumber) => {
      if (isConfirmed(blockNumber, seen, confirmations)) return true
      asked ??= readHeadNumber(ctx, chainId)
      return isConfirmed(blockNumber, await asked, confirmations)
    },
  }
}

/** The height a node is at; -1 where it does not say. */
async function readHeadNumber(ctx: AttributionContext, chainId: number): Promise<number> {
  const chain = ctx.chains.get(chainId)
  const head = chain && (await orUndefined(() => readHead(chain)))
  return head?.number ?? -1
}
