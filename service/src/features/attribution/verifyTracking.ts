import { notFound, unavailable } from '../../kernel/errors.js'
import { written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { listTransactionAttributions } from '../ledger/index.js'
import { listActions } from '../plans/index.js'
import { addProblems, addState, findClaim, toMetadata } from './claim.js'
import { keepCarriers } from './keepCarriers.js'
import type { Tracking } from './schema.js'
import { type AttributionContext, getSupportedChain, hasDistributor, type JudgeContext, lookAt } from './transaction.js'

/** Verifies the attribution a mined transaction carries, with everything needed to check the answer by hand. */
export async function verifyTracking(
  ctx: AttributionContext & JudgeContext,
  input: { chainId: number; txHash: string },
): Promise<Tracking | Written<Tracking>> {
  const { chainId } = getSupportedChain(ctx, input.chainId)
  const found = await lookAt(ctx, { hash: input.txHash.toLowerCase(), chainId, withEvents: true })
  if (!found?.transaction.mined)
    throw notFound('this chain has no such mined transaction', { context: { retryable: true } })
  const { verdict } = found
  if (verdict.status === 'busy') throw unavailable('too many transactions are being inspected; try again shortly', soon)
  if (verdict.status === 'complex') throw unavailable('this transaction is too complex to be inspected')
  const { statements, inspection, events } = verdict.judgement
  const claim = findClaim(statements, (code) => hasDistributor(ctx, code))
  if (!claim) throw notFound('the transaction carries no attribution')
  const { actionId } = claim
  const isOurs = claim.signatureValid && claim.proven
  const action = isOurs && actionId !== undefined ? (await listActions(ctx.db, [actionId]))[0] : undefined
  const watched = await listTransactionAttributions(ctx.db, input.txHash, chainId)
  const { blockNumber, blockHash, transactionIndex, success } = found.transaction.mined
  const shown = addProblems(addState(inspection, found.transaction), watched)
  const tracking: Tracking = {
    tag: claim.tag,
    metadata: toMetadata(claim, action),
    signatureValid: claim.signatureValid,
    error: claim.error,
    proof: { chainId, blockNumber, blockHash, transactionIndex, success, inspection: shown, events },
  }
  const write = await keepCarriers(ctx, found)
  return write ? written(tracking, write) : tracking
}

const soon = { retryAfterSeconds: 2 }
