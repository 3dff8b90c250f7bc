import { EarnError, mayRetry } from '../client/error.js'
import { buildSwapOrder, getSwapOrderStatus, submitSwapOrder } from '../client/generated/operations.js'
import type { BuildSwapOrderParams, BuiltSwapOrder } from '../client/generated/types.js'
import {
  askOrder,
  askOrderApproval,
  askOrderCancellation,
  checkOrder,
  NotReady,
  type OrderAsked,
  Refused,
} from '../wallet/ask.js'
import { readFailure, sentNothing } from '../wallet/provider.js'
import { quoteBest } from '../wallet/reads.js'
import { findFacts, nowOf, type World } from '../wallet/world.js'
import { readReceipt, takePlace } from './chain.js'
import { type Base, change, isHex, isOwn, newId, type Problem, type Request, type Word } from './state.js'

export type OrderStatus =
  | 'building'
  | 'ready'
  | 'approving'
  | 'approval-sent'
  | 'signing'
  | 'submitting'
  | 'open'
  | 'filled'
  | 'partially-filled'
  | 'cancelled'
  | 'expired'
  | 'refused'

/** An order: its approvals, its signature, and what becomes of it. */
export type OrderFlow = Base & {
  kind: 'order'
  status: OrderStatus
  params: BuildSwapOrderParams & { amountIn: string }
  key: string
  built?: BuiltSwapOrder | undefined
  /** The least amount that was compared with an own quote. */
  least?: string | undefined
  /** Unix milliseconds of the machine that asked for it. */
  builtAt?: number | undefined
  position: number
  asked?: Request | undefined
  hash?: string | undefined
  /** Of the order, once the service has it. The signature itself is not kept. */
  filledIn?: string | undefined
  filledOut?: string | undefined
  cancelHash?: string | undefined
}

/** Own quote and that of the service differ by this at most, beyond the slippage. */
const toleranceBps = 100

const unasked = new WeakSet<object>()
/** Signatures that were given and not submitted yet. A reload forgets them, and the wallet is asked anew: the order is the same. */
const signatures = new WeakMap<object, string>()

/** Brings an order one step further. */
export async function advanceOrder(flow: OrderFlow, world: World, word: Word | undefined): Promise<OrderFlow> {
  try {
    return await steps[flow.status](flow, world, word)
  } catch (error) {
    if (error instanceof Refused) return refuse(flow, { code: 'NOT_AS_ASKED', text: error.message })
    if (error instanceof NotReady)
      return back(flow, { code: error.reason === 'chain' ? 'WRONG_CHAIN' : 'WRONG_ACCOUNT', text: error.message })
    if (error instanceof TypeError && flow.status === 'building')
      return refuse(flow, { code: 'NOT_TRUSTED', text: error.message })
    if (error instanceof EarnError && !mayRetry(error) && ['building', 'submitting'].includes(flow.status))
      return refuse(flow, { code: error.reason ?? error.status, text: error.message })
    const { code, message } = readFailure(error)
    const isAsked = ['approving', 'signing'].includes(flow.status) && !(error instanceof EarnError)
    if (isAsked && (flow.status === 'signing' || sentNothing({ code, message })))
      return back(flow, { code: code === 4001 ? 'REJECTED' : 'NOT_TAKEN', text: message })
    return change(flow, { looks: (flow.looks ?? 0) + 1, problem: { code: 'UNREACHABLE', text: message } })
  }
}

const stay = async (flow: OrderFlow) => flow

const steps: Record<OrderStatus, (flow: OrderFlow, world: World, word: Word | undefined) => Promise<OrderFlow>> = {
  building: build,
  ready: prepare,
  approving: approve,
  'approval-sent': followApproval,
  signing: sign,
  submitting: submit,
  open: follow,
  ...{ filled: stay, 'partially-filled': stay, cancelled: stay, expired: stay, refused: stay },
}

const refuse = (flow: OrderFlow, problem: Problem) => change(flow, { status: 'refused', needs: undefined, problem })
const back = (flow: OrderFlow, problem: Problem) => change(flow, { status: 'ready', needs: 'go', problem })

/** The request as the verifier takes it. */
function toAsked({ params, chainId, least = '1', builtAt = 0 }: OrderFlow): OrderAsked {
  const { userAddress, tokenIn, tokenOut, amountIn, distributorId, opportunityId, partiallyFillable } = params
  const { validForSeconds = 1_800 } = params
  return {
    ...{ userAddress, chainId, tokenIn, tokenOut, amountIn, distributorId, minAmountOut: least },
    ...(opportunityId === undefined ? {} : { opportunityId }),
    ...(partiallyFillable === undefined ? {} : { partiallyFillable }),
    // Clocks differ, by an hour at most: the order ends by itself, and can be ended.
    validToMax: Math.floor(builtAt / 1_000) + validForSeconds + 3_700,
  }
}

async function build(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { earn, provider } = world
  const { params, chainId, key } = flow
  const built = await buildSwapOrder(earn, params, { idempotencyKey: key })
  const { facts } = await findFacts(world, chainId)
  const { quoter, wrappedNative, routers } = facts
  const to = /^(native|0xe{40})$/i.test(params.tokenOut) ? wrappedNative : params.tokenOut
  const v2 = routers.find(({ kind }) => kind === 'uniswap-v2')?.address
  const pair = { from: params.tokenIn, to: to ?? '', amount: BigInt(params.amountIn) }
  const quote = to ? await quoteBest(provider, { quoter, v2, hub: wrappedNative }, pair) : undefined
  const of = (bps: number) => String(((quote ?? 0n) * BigInt(Math.max(0, 10_000 - bps))) / 10_000n || 1n)
  const made = { ...flow, built, builtAt: nowOf(world) }
  const strict = { ...made, least: of(params.slippageBps + toleranceBps) }
  const verdict = await checkOrder(world, toAsked(strict), built)
  if (verdict.ok) return ready(strict, verdict, quote === undefined ? 'no-quote' : undefined)
  const loose = { ...made, least: of(5_000) }
  const second = quote === undefined ? verdict : await checkOrder(world, toAsked(loose), built)
  return second.ok
    ? ready(loose, second, 'below-quote')
    : refuse({ ...made, trusts: verdict.trusts }, { code: 'NOT_AS_ASKED', text: verdict.problems.join('\n') })
}

function ready(
  flow: OrderFlow,
  { sentences, trusts }: { sentences: string[]; trusts: Base['trusts'] },
  confirm: 'no-quote' | 'below-quote' | undefined,
): OrderFlow {
  const needs = confirm ? 'confirm' : undefined
  const text = 'the least amount is supported by no own quote: read it in the sentences'
  const problem = confirm && { code: confirm.toUpperCase().replace('-', '_'), text }
  return change(flow, { status: 'ready', position: 0, sentences, trusts, needs, problem, looks: 0 })
}

/** Goes on with the next approval, or with the signature. A stored order is compared anew, and waits for a word. */
async function prepare(given: OrderFlow, world: World, word: Word | undefined): Promise<OrderFlow> {
  const flow = isOwn(given) ? given : await recheck(given, world)
  if (flow.status !== 'ready' || !flow.built) return flow
  const { needs, built, position } = flow
  if (needs && word !== needs && !(needs === 'go' && word === 'confirm')) return flow
  const { validForSeconds = 1_800 } = flow.params
  const age = nowOf(world) - (flow.builtAt ?? 0)
  if (!(age >= 0 && age < validForSeconds * 900))
    return change(flow, { status: 'building', key: newId(), built: undefined, needs: undefined })
  const cleared = { needs: undefined, problem: undefined, looks: 0 }
  if (position >= built.approvals.length) return change(flow, { status: 'signing', ...cleared })
  const place = await takePlace(world.provider, flow.wallet)
  const next = change(flow, { status: 'approving', asked: { position, at: nowOf(world), place }, ...cleared })
  unasked.add(next)
  return next
}

async function recheck(flow: OrderFlow, world: World): Promise<OrderFlow> {
  if (!flow.built) return change(flow, { status: 'building', needs: undefined })
  // The least amount stands in the sentences, which the user reads: that of storage is not believed.
  const made = { ...flow, least: '1' }
  const verdict = await checkOrder(world, toAsked(made), flow.built)
  if (!verdict.ok) return refuse(flow, { code: 'NOT_AS_ASKED', text: verdict.problems.join('\n') })
  return change(made, { sentences: verdict.sentences, trusts: verdict.trusts, needs: 'confirm' })
}

async function approve(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { built, asked } = flow
  if (!built || !asked) return change(flow, { status: 'building', built: undefined })
  // An approval that was given twice allows the same amount.
  if (!unasked.delete(flow))
    return change(flow, { status: 'ready', needs: 'go', problem: { code: 'NO_ANSWER', text: 'the wallet was asked' } })
  const given = { asked: toAsked(flow), built, position: asked.position, place: asked.place }
  const hash = await askOrderApproval(world, given)
  return change(flow, { status: 'approval-sent', hash })
}

async function followApproval(flow: OrderFlow, { provider }: World): Promise<OrderFlow> {
  const receipt = isHex(flow.hash, 32) ? await readReceipt(provider, flow.hash) : undefined
  if (!receipt) return change(flow, { looks: (flow.looks ?? 0) + 1 })
  return receipt.success
    ? change(flow, { status: 'ready', position: flow.position + 1, needs: undefined, looks: 0 })
    : back(flow, { code: 'REVERTED', text: 'the approval was mined and reverted' })
}

async function sign(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { built } = flow
  if (!built || !isOwn(flow)) return change(flow, { status: 'ready', needs: 'go' })
  const signature = await askOrder(world, { asked: toAsked(flow), built })
  const next = change(flow, { status: 'submitting' })
  signatures.set(next, signature)
  return next
}

async function submit(flow: OrderFlow, { earn }: World): Promise<OrderFlow> {
  const { built } = flow
  if (!built) return change(flow, { status: 'building' })
  const signature = signatures.get(flow)
  const { status } = await getSwapOrderStatus(earn, { orderId: built.orderId })
  if (status !== 'built') return change(flow, { status: 'open', looks: 0 })
  if (signature === undefined) return change(flow, { status: 'ready', needs: 'go' })
  try {
    await submitSwapOrder(earn, { orderId: built.orderId, signature: signature as `0x${string}` })
  } catch (error) {
    if (!(error instanceof EarnError) || !mayRetry(error)) throw error
    const again = change(flow, { looks: (flow.looks ?? 0) + 1 })
    signatures.set(again, signature)
    return again
  }
  return change(flow, { status: 'open', looks: 0 })
}

async function follow(flow: OrderFlow, { earn }: World): Promise<OrderFlow> {
  const { built } = flow
  if (!built) return change(flow, { status: 'building' })
  const { status, filledIn, filledOut, error } = await getSwapOrderStatus(earn, { orderId: built.orderId })
  const told = { filledIn, filledOut, problem: error ? { code: 'ORDER', text: error } : undefined }
  if (status === 'expired' || status === 'cancelled')
    return change(flow, {
      ...told,
      status: status === 'expired' && BigInt(filledIn) > 0n ? 'partially-filled' : status,
    })
  if (status === 'filled') return change(flow, { ...told, status })
  const looks = flow.filledIn === filledIn ? (flow.looks ?? 0) + 1 : 0
  return change(flow, { ...told, looks })
}

/** Asks the wallet for the transaction that ends an order; the order's own flow then ends as the chain says. */
export async function cancelOrder(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { built } = flow
  if (!built) return change(flow, { status: 'refused' })
  const place = await takePlace(world.provider, flow.wallet)
  const cancelHash = await askOrderCancellation(world, { asked: toAsked({ ...flow, least: '1' }), built, place })
  return change(flow, { cancelHash, looks: 0 })
}
