import { invalidArgument, invalidInput, notFound, unavailable } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { readTransaction } from '../../rpc/transaction.js'
import { type AttributionContext, getSupportedChain, type JudgeContext, lookAt } from '../attribution/index.js'
import { findAction } from '../plans/index.js'
import type { Order } from './orderState.js'
import { isTradeOf } from './projection.js'
import { getOwnOrder } from './swapOrder.js'

export const executionStates = ['pending', 'confirmed', 'failed'] as const

type ReportContext = AttributionContext & JudgeContext
type ReportInput = { actionId?: string; orderId?: string; chainId: number; txHash: string }
type Report = {
  accepted: boolean
  status: (typeof executionStates)[number]
  actionId: string | null
  orderId: string | null
}

/** The state of a transaction that is reported to carry an action, or to fill an order, of the caller's organization. */
export async function reportSwapExecution(ctx: ReportContext, input: ReportInput, caller: Caller): Promise<Report> {
  const hash = input.txHash.toLowerCase()
  if ((input.actionId === undefined) === (input.orderId === undefined))
    throw invalidInput([{ path: 'body', message: 'must have exactly one of actionId and orderId' }])
  if (input.orderId !== undefined) {
    const order = await getOwnOrder(ctx.db, input.orderId, caller)
    const at = getAt(ctx, { word: 'order', asked: input.chainId, own: order.chainId })
    return { accepted: true, status: await findStatusOfOrder(order, hash, at), actionId: null, orderId: order.id }
  }
  const actionId = (input.actionId ?? '').toLowerCase()
  const action = await findAction(ctx.db, actionId)
  if (action?.organizationId !== caller.organizationId) throw notFound('no such action')
  const at = getAt(ctx, { word: 'action', asked: input.chainId, own: action.chainId })
  return { accepted: true, status: await findStatusOfAction(ctx, actionId, hash, at), actionId, orderId: null }
}

/** Where a transaction is looked for, and how deep it has to be. */
type Place = { chain: Chain; confirmations: number }

function getAt(ctx: ReportContext, { word, asked, own }: { word: string; asked: number; own: number }): Place {
  const { chainId, confirmations } = getSupportedChain(ctx, asked)
  if (own !== chainId) throw invalidArgument(`this ${word} is for chain ${own}`, { context: { chainId: own } })
  const chain = ctx.chains.get(chainId)
  if (!chain) throw unavailable('this installation has no access to this chain')
  return { chain, confirmations: confirmations ?? 1 }
}

type Mined = { blockNumber: number; success: boolean }

/** The state by the chain alone: `mined` if it is final. */
async function findDepth({ chain, confirmations }: Place, mined: Mined | undefined) {
  const head = await readHead(chain)
  if (!mined || head.number - mined.blockNumber + 1 < confirmations) return 'pending'
  return mined.success ? 'mined' : 'failed'
}

async function findStatusOfOrder(order: Order, hash: string, place: Place): Promise<Report['status']> {
  const mined = (await readTransaction(place.chain, hash))?.mined
  const depth = await findDepth(place, mined)
  if (depth !== 'mined') return depth
  return mined?.logs.some((log) => isTradeOf(log, order)) ? 'confirmed' : 'failed'
}

async function findStatusOfAction(
  ctx: ReportContext,
  actionId: string,
  hash: string,
  place: Place,
): Promise<Report['status']> {
  const found = await lookAt(ctx, { hash, chainId: place.chain.chainId })
  const depth = await findDepth(place, found?.transaction.mined)
  if (!found || depth !== 'mined') return depth === 'mined' ? 'pending' : depth
  const { verdict } = found
  if (verdict.status === 'busy')
    throw unavailable('too many transactions are being inspected; try again shortly', { retryAfterSeconds: 2 })
  if (verdict.status === 'complex') return 'failed'
  const { inspection } = verdict.judgement
  const named = `0x${actionId.replaceAll('-', '')}`
  const carries = [inspection, ...inspection.stacked].some(
    ({ signature, metadata }) => signature.valid && metadata?.['i'] === named,
  )
  return carries ? 'confirmed' : 'failed'
}
