import { inspect } from '../../chain/attribution/index.js'
import { notFound } from '../../kernel/errors.js'
import { findAction } from '../actions/index.js'
import { findClaim, formatTag, toMetadata } from './claim.js'
import { decodeEvents } from './decodeEvents.js'
import type { Tracking } from './schema.js'
import {
  type AttributionContext,
  findTransaction,
  getSupportedChain,
  isRegistered,
  judgeTransaction,
} from './transaction.js'

/** Verifies the attribution a mined transaction carries, with everything needed to check the answer by hand. */
export async function verifyTracking(
  ctx: AttributionContext,
  input: { chainId: number; txHash: string },
): Promise<Tracking> {
  const { chainId } = getSupportedChain(ctx, input.chainId)
  const transaction = await findTransaction(ctx, input.txHash.toLowerCase(), chainId)
  if (!transaction?.mined) throw notFound('this chain has no such mined transaction', { context: { retryable: true } })
  const attribution = await judgeTransaction(ctx, transaction)
  const claim = findClaim(attribution, (code) => isRegistered(ctx, code))
  if (!claim) throw notFound('the transaction carries no attribution')
  const { actionId } = claim.reading
  const isOurs = claim.signatureValid && claim.reading.kind === 'erc8021' && actionId !== undefined
  const action = isOurs ? await findAction(ctx.db, actionId) : undefined
  const { blockNumber, blockHash, transactionIndex, logs } = transaction.mined
  return {
    tag: formatTag(claim),
    metadata: toMetadata(claim, action),
    signatureValid: claim.signatureValid,
    error: claim.error,
    proof: {
      chainId,
      blockNumber,
      blockHash,
      transactionIndex,
      inspection: inspect(attribution, transaction.input),
      events: decodeEvents(logs),
    },
  }
}
