import { mayCarryAttribution } from '@openearn/attribution'
import { inTransaction } from '../../postgres/pool.js'
import type { Chain } from '../../rpc/chains.js'
import { type BlockInputs, readBlockInputs } from '../../rpc/transaction.js'
import { findCursor, lockCursor } from '../../sync/storeCursors.js'
import { findBlockHash } from '../../sync/storeRaw.js'
import { listCarriers, toSighting } from './carriers.js'
import { type ActionSighting, createInputScan, findInputScan, moveInputScan, recordSighting } from './storeSightings.js'
import { type AttributionContext, type JudgeContext, lookAt } from './transaction.js'

type ScanContext = AttributionContext & JudgeContext

/** Blocks that are scanned before what was found is written. */
const blocksMax = 20

/**
 * Reads the inputs of new blocks for suffixes of ours, on the chains that are set to it, as far as they are derived: so an
 * action is found in a transaction that leaves no event of a vault, or reverted.
 */
export async function scanInputs(ctx: ScanContext): Promise<void> {
  for (const chain of ctx.chains.values())
    for (let isMore = chain.scanInputs === true; isMore; ) isMore = await scanSome(ctx, chain)
}

/** Scans the next blocks of a chain; false where there is none, or where it forks just now. */
async function scanSome(ctx: ScanContext, chain: Chain): Promise<boolean> {
  const { chainId } = chain
  const cursor = await findCursor(ctx.db, chainId)
  if (!cursor) return false
  await createInputScan(ctx.db, chainId, cursor.blockNumber)
  const from = (await findInputScan(ctx.db, chainId))?.toBlock ?? cursor.blockNumber
  const to = Math.min(from + blocksMax, cursor.blockNumber)
  if (to <= from) return false
  const blocks: (BlockInputs & { number: number })[] = []
  for (let number = from + 1; number <= to; number++) blocks.push({ number, ...(await readBlockInputs(chain, number)) })
  const found: ActionSighting[] = []
  for (const block of blocks) {
    const sightings = await listFound(ctx, chainId, block, cursor.finalizedNumber ?? -1)
    if (!sightings) return false
    found.push(...sightings)
  }
  return inTransaction(ctx.db, async (tx) => {
    // A reorganisation waits for this, or is over.
    const now = await lockCursor(tx, chainId)
    if (!now || now.blockNumber < to) return false
    for (const { number, hash } of blocks) {
      const held = await findBlockHash(tx, chainId, number)
      // Of what is final and without a log of ours no header is kept.
      if (held === undefined ? number > (now.finalizedNumber ?? -1) : held !== hash) return false
    }
    if (!(await moveInputScan(tx, { chainId, from, to }))) return false
    for (const sighting of found) await recordSighting(tx, sighting)
    return to < now.blockNumber
  })
}

/** The actions that the transactions of a block carry; undefined if one is in another block by now, or cannot be judged yet. */
async function listFound(
  ctx: ScanContext,
  chainId: number,
  { hash: blockHash, inputs }: BlockInputs,
  finalTo: number,
): Promise<ActionSighting[] | undefined> {
  const found: ActionSighting[] = []
  for (const { transactionHash, input } of inputs) {
    if (!mayCarryAttribution(input)) continue
    const looked = await lookAt(ctx, { hash: transactionHash, chainId })
    if (looked?.transaction.mined?.blockHash !== blockHash || looked.verdict.status === 'busy') return undefined
    for (const { action, carrier } of await listCarriers(ctx, looked))
      found.push(toSighting(action, carrier, { finalTo, at: ctx.clock.now() }))
  }
  return found
}
