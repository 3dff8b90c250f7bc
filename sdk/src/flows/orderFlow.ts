import { EarnError, mayRetry } from '../client/error.js'
import { buildSwapOrder, getSwapOrderStatus, submitSwapOrder } from '../client/generated/operations.js'
import {
  askOrder,
  askOrderApproval,
  askOrderCancellation,
  isOnChain,
  NotReady,
  Refused,
  reachChain,
} from '../wallet/ask.js'
import { readFailure, sentNothing } from '../wallet/provider.js'
import { NotTrusted, nowOf, type World } from '../wallet/world.js'
import { takePlace } from './chain.js'
import { buildAgain, compareOrder, isStale } from './compareOrder.js'
import { isDueSoon, readMark } from './due.js'
import { lookOnChain, reach, tellNotReady } from './onChain.js'
import { followApproval } from './orderApproval.js'
import { back, type OrderFlow, type OrderStatus, refuse, toAsked } from './orderState.js'
import { change, isOwn, refusal, type Word } from './state.js'

const unasked = new WeakSet<object>()
/** Signatures that were given and not submitted yet. A reload forgets them, and the wallet is asked anew: the order is the same. */
const signatures = new WeakMap<object, string>()

/** Brings an order one step further. */
export async function advanceOrder(flow: OrderFlow, world: World, word: Word | undefined): Promise<OrderFlow> {
  try {
    return await steps[flow.status](flow, world, word)
  } catch (error) {
    if (error instanceof Refused) return refuse(flow, { code: 'NOT_AS_ASKED', text: error.message })
    if (error instanceof NotReady) {
      const problem = tellNotReady(error)
      return flow.status === 'building' ? change(flow, { needs: 'go', problem }) : back(flow, problem)
    }
    if (error instanceof NotTrusted) return refuse(flow, { code: 'NOT_TRUSTED', text: error.message })
    if (error instanceof EarnError && !mayRetry(error) && ['building', 'submitting'].includes(flow.status))
      return refuse(flow, { code: error.reason ?? error.status, text: error.message })
    const { code, message } = readFailure(error)
    const isAsked = ['approving', 'signing'].includes(flow.status) && !(error instanceof EarnError)
    if (isAsked && (flow.status === 'signing' || sentNothing({ code, message })))
      return back(flow, refusal({ code, message }))
    return keepSignature(flow, { problem: { code: 'UNREACHABLE', text: message } })
  }
}

/** The same flow at its next look, with the signature that was given for it. */
function keepSignature(flow: OrderFlow, part: Partial<OrderFlow>): OrderFlow {
  const next = change(flow, { looks: (flow.looks ?? 0) + 1, ...part })
  const signature = signatures.get(flow)
  if (signature !== undefined) signatures.set(next, signature)
  return next
}

const stay = async (flow: OrderFlow) => flow

const steps: Record<OrderStatus, (flow: OrderFlow, world: World, word: Word | undefined) => Promise<OrderFlow>> = {
  building: build,
  ready: prepare,
  approving: approve,
  'approval-sent': (flow, world) => lookOnChain(flow, world, () => followApproval(flow, world)),
  signing: sign,
  submitting: submit,
  open: follow,
  ...{ filled: stay, 'partially-filled': stay, cancelled: stay, expired: stay, refused: stay },
}

async function build(flow: OrderFlow, world: World, word: Word | undefined): Promise<OrderFlow> {
  const waiting = await reach(flow, world, word)
  if (waiting) return waiting
  const built = await buildSwapOrder(world.earn, flow.params, { idempotencyKey: flow.key })
  return compareOrder({ ...flow, built, builtAt: nowOf(world), position: 0 }, world, isOwn(flow))
}

/** Goes on with the next approval, or with the signature. A stored order is compared anew, and waits for a word about that. */
async function prepare(flow: OrderFlow, world: World, word: Word | undefined): Promise<OrderFlow> {
  const { needs, built, position } = flow
  if (!isOwn(flow)) {
    if (!built || isStale(flow, world)) return buildAgain(flow)
    return (await reach(flow, world, word)) ?? compareOrder(flow, world, false)
  }
  if (needs && word !== needs && !(needs === 'go' && word === 'confirm')) return flow
  if (!built || isStale(flow, world)) return buildAgain(flow)
  const cleared = { needs: undefined, problem: undefined, looks: 0 }
  if (position >= built.approvals.length) return change(flow, { status: 'signing', ...cleared })
  await reachChain(world.provider, flow.chainId)
  const place = await takePlace(world.provider, flow.wallet)
  const next = change(flow, { status: 'approving', asked: { position, at: nowOf(world), place }, ...cleared })
  unasked.add(next)
  return next
}

/** For a request that may have been lost. A stored order is compared first, and asks for a word then. */
const askAgain = (flow: OrderFlow, problem?: OrderFlow['problem']) =>
  change(flow, { status: 'ready', needs: isOwn(flow) ? 'go' : undefined, problem: problem ?? flow.problem })

async function approve(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { built, asked } = flow
  if (!built || !asked) return change(flow, { status: 'building', built: undefined })
  // An approval that was given twice allows the same amount.
  if (!unasked.delete(flow)) return askAgain(flow, { code: 'NO_ANSWER', text: 'the wallet was asked' })
  const given = { asked: toAsked(flow), built, position: asked.position, place: asked.place }
  const hash = await askOrderApproval(world, given)
  return change(flow, { status: 'approval-sent', hash })
}

async function sign(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { built } = flow
  // Whether a stored one was signed is not known: the order is the same.
  if (!built || !isOwn(flow)) return change(flow, { status: built ? 'submitting' : 'building' })
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
  if (signature === undefined) return askAgain(flow)
  try {
    await submitSwapOrder(earn, { orderId: built.orderId, signature: signature as `0x${string}` })
  } catch (error) {
    if (!(error instanceof EarnError) || !mayRetry(error)) throw error
    return keepSignature(flow, {})
  }
  return change(flow, { status: 'open', looks: 0 })
}

async function follow(given: OrderFlow, { earn, provider }: World): Promise<OrderFlow> {
  const { built, params, wallet, chainId } = given
  if (!built) return change(given, { status: 'building' })
  // On another chain the wallet's node tells nothing of this one.
  const isHere = await isOnChain(provider, chainId)
  const mark = isHere ? await readMark(provider, wallet, [params.tokenIn, params.tokenOut]) : given.mark
  const flow = mark === given.mark ? given : change(given, { mark, looks: 0 })
  const { looks = 0 } = flow
  if (!isDueSoon(looks)) return change(flow, { looks: looks + 1 })
  const { status, filledIn, filledOut, error } = await getSwapOrderStatus(earn, { orderId: built.orderId })
  const told = { filledIn, filledOut, problem: error ? { code: 'ORDER', text: error } : undefined }
  if (status === 'expired' || status === 'cancelled')
    return change(flow, {
      ...told,
      status: status === 'expired' && BigInt(filledIn) > 0n ? 'partially-filled' : status,
    })
  if (status === 'filled') return change(flow, { ...told, status })
  return change(flow, { ...told, looks: flow.filledIn === filledIn ? looks + 1 : 0 })
}

/**
 * Asks the wallet for the transaction that ends an order; the order's own flow then ends as the chain says. The call is the
 * user's word.
 * @throws NotReady, Refused, or the error of the wallet.
 */
export async function cancelOrder(flow: OrderFlow, world: World): Promise<OrderFlow> {
  const { built } = flow
  if (!built) return refuse(flow, { code: 'NO_ORDER', text: 'there is no order to end' })
  await reachChain(world.provider, flow.chainId)
  const place = await takePlace(world.provider, flow.wallet)
  const cancelHash = await askOrderCancellation(world, { asked: toAsked({ ...flow, least: '1' }), built, place })
  return change(flow, { cancelHash, looks: 0 })
}
