import { invalidArgument, invalidInput, notFound, unavailable } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { readHead } from '../../rpc/blocks.js'
import { type AttributionContext, getSupportedChain, type JudgeContext, lookAt } from '../attribution/index.js'
import { findAction } from '../plans/index.js'

export const executionStates = ['pending', 'confirmed', 'failed'] as const

type ReportInput = { actionId?: string; orderId?: string; chainId: number; txHash: string }
type Report = {
  accepted: boolean
  status: (typeof executionStates)[number]
  actionId: string | null
  orderId: string | null
}

/** What the chain says of a transaction that is said to carry an action of the caller's organization. */
export async function reportSwapExecution(
  ctx: AttributionContext & JudgeContext,
  input: ReportInput,
  { organizationId }: Caller,
): Promise<Report> {
  if ((input.actionId === undefined) === (input.orderId === undefined))
    throw invalidInput([{ path: 'body', message: 'must have exactly one of actionId and orderId' }])
  if (input.actionId === undefined) throw notFound('no such order')
  const actionId = input.actionId.toLowerCase()
  const action = await findAction(ctx.db, actionId)
  if (action?.organizationId !== organizationId) throw notFound('no such action')
  const { chainId, confirmations } = getSupportedChain(ctx, input.chainId)
  if (action.chainId !== chainId)
    throw invalidArgument(`this action is for chain ${action.chainId}`, { context: { chainId: action.chainId } })
  const status = await findStatus(ctx, { chainId, confirmations, actionId, hash: input.txHash.toLowerCase() })
  return { accepted: true, status, actionId, orderId: null }
}

async function findStatus(
  ctx: AttributionContext & JudgeContext,
  of: { chainId: number; confirmations: number | null; actionId: string; hash: string },
): Promise<Report['status']> {
  const { chainId, hash } = of
  const chain = ctx.chains.get(chainId)
  if (!chain) throw unavailable('this installation has no access to this chain')
  const [found, head] = await Promise.all([lookAt(ctx, { hash, chainId }), readHead(chain)])
  const mined = found?.transaction.mined
  if (!found || !mined || head.number - mined.blockNumber + 1 < (of.confirmations ?? 1)) return 'pending'
  if (!mined.success) return 'failed'
  const { verdict } = found
  if (verdict.status === 'busy')
    throw unavailable('too many transactions are looked at now; try again shortly', { retryAfterSeconds: 2 })
  if (verdict.status === 'complex') return 'failed'
  const { inspection } = verdict.judgement
  const named = `0x${of.actionId.replaceAll('-', '')}`
  const carries = [inspection, ...inspection.stacked].some(
    ({ signature, metadata }) => signature.valid && metadata?.['i'] === named,
  )
  return carries ? 'confirmed' : 'failed'
}
