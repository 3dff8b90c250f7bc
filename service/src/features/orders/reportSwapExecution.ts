import { invalidArgument, invalidInput, notFound, unavailable } from '../../kernel/errors.js'
import { type Caller, type Write, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { readTransaction } from '../../rpc/transaction.js'
import {
  type AttributionContext,
  decideActionStatus,
  findCarrierState,
  findTransaction,
  getSupportedChain,
  type JudgeContext,
  readCarrier,
} from '../attribution/index.js'
import { type ActionRow, listActions } from '../plans/index.js'
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
export async function reportSwapExecution(
  ctx: ReportContext,
  input: ReportInput,
  caller: Caller,
): Promise<Report | Written<Report>> {
  const hash = input.txHash.toLowerCase()
  if ((input.actionId === undefined) === (input.orderId === undefined))
    throw invalidInput([{ path: 'body', message: 'must have exactly one of actionId and orderId' }])
  if (input.orderId !== undefined) {
    const order = await getOwnOrder(ctx.db, input.orderId, caller)
    const at = getAt(ctx, { word: 'order', asked: input.chainId, own: order.chainId })
    return { accepted: true, status: await findStatusOfOrder(order, hash, at), actionId: null, orderId: order.id }
  }
  const actionId = (input.actionId ?? '').toLowerCase()
  const action = (await listActions(ctx.db, [actionId]))[0]
  if (action?.organizationId !== caller.organizationId) throw notFound('no such action')
  const at = getAt(ctx, { word: 'action', asked: input.chainId, own: action.chainId })
  const { status, write } = await findStatusOfAction(ctx, action, hash, at)
  const report: Report = { accepted: true, status, actionId, orderId: null }
  return write ? written(report, write) : report
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

/** The state of the transaction as one of the action, by the rule that all operations share, and the record of it. */
async function findStatusOfAction(
  ctx: ReportContext,
  action: ActionRow,
  hash: string,
  place: Place,
): Promise<{ status: Report['status']; write?: Write<Transaction> }> {
  const { chainId } = place.chain
  const carrier = await readCarrier(ctx, action, hash)
  if (!carrier) {
    const mined = (await findTransaction(ctx, hash, chainId))?.mined
    return { status: (await findDepth(place, mined)) === 'pending' ? 'pending' : 'failed' }
  }
  const { state, write } = await findCarrierState(ctx, action, carrier)
  const { mined } = carrier.transaction
  // A revert that may still be taken back is no answer yet.
  const isOpen = state === 'reverted' && (await findDepth(place, mined)) === 'pending'
  const status = isOpen
    ? 'pending'
    : statusOf[decideActionStatus([{ state, isMain: true }], { isLookedThrough: false })]
  return { status, ...(write ? { write } : {}) }
}

/** The word of a report for each status of an action. */
const statusOf = {
  built: 'pending',
  submitted: 'pending',
  expired: 'pending',
  verified: 'confirmed',
  reverted: 'failed',
} as const
