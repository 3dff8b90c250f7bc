import type { Order, OrderState } from '../orders/index.js'
import type { Quote } from '../swap/index.js'
import { computeLeast } from './settlementCall.js'

/** The decisions of a look at an order book. Pure. */

/** An order that may be filled, with what is left of it. */
export type Live = { order: Order; remaining: bigint }

/** Orders that may be filled by what their events say. */
export function listLive(orders: readonly Order[], states: readonly OrderState[]): Live[] {
  return orders.flatMap((order, at) => {
    const state = states[at]
    const isLive = state?.status === 'open' || state?.status === 'partially-filled'
    return isLive ? [{ order, remaining: order.amountIn - state.filledIn }] : []
  })
}

/** The owner's balance and allowance of the token that an order sells; undefined if the token does not return them. */
export type OrderFunds = { balance: bigint | undefined; allowance: bigint | undefined }

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** How much of an order its owner can pay for at present. */
export function computePayable({ order, remaining }: Live, { balance, allowance }: OrderFunds): bigint {
  const most = smaller(remaining, smaller(balance ?? 0n, allowance ?? 0n))
  return order.partiallyFillable || most === remaining ? most : 0n
}

/** A sentence about what the owner lacks for a fill; undefined if nothing is missing. */
export function findLack(live: Live, { balance, allowance }: OrderFunds): string | undefined {
  // A token that does not tell is asked again at the next look.
  if (balance === undefined || allowance === undefined) return undefined
  const { order, remaining } = live
  const least = order.partiallyFillable ? 1n : remaining
  if (balance < least) return `the balance of ${order.tokenIn} is ${balance}, and the order sells ${remaining}`
  if (allowance < least)
    return `the allowance of ${order.tokenIn} for ${order.relayer} is ${allowance}, and the order sells ${remaining}`
  return undefined
}

const halvings = 4

/** The amounts an order may be filled with at present, the largest first: its rest, or parts of it. */
export function listAmounts(live: Live, funds: OrderFunds): bigint[] {
  const payable = computePayable(live, funds)
  const whole = payable === live.remaining ? [payable] : []
  return live.order.partiallyFillable ? [...whole, ...listParts(live, payable)] : whole
}

/** The parts of an order to try after its whole rest: the payable amount if it is less, then halves. */
export function listParts({ remaining }: Pick<Live, 'remaining'>, payable: bigint): bigint[] {
  const parts = payable < remaining ? [payable] : []
  for (let part = payable / 2n; part > 0n && parts.length < halvings; part /= 2n) parts.push(part)
  return parts.filter((part) => part > 0n)
}

/** A part of an order, and the swap that pays for it. */
export type Offer = { live: Live; amountIn: bigint; amountOut: bigint; quote: Quote | undefined }

/** Whether a swap pays at least what the order asks for its part. */
export function isEnough(order: Order, amountIn: bigint, amountOut: bigint): boolean {
  return amountOut >= computeLeast(order, amountIn) && amountOut > 0n
}

/** How an offer stands among others. */
export type Turn = {
  /** Tries in vain, and reverts, of its order and owner, and of its pools of unlisted tokens. */
  penalty: number
  isSuspect: boolean
  /** Its worth in the smallest unit of the native token, if prices are known. */
  worth: bigint | undefined
  /** Offers of its organization that were tried at this block. */
  tries: number
  /** The block it was tried at last; -1: never. */
  triedAt: number
}

/**
 * The offer to try next. Fewer failures come first, then offers that no stranger's code can delay, then the greater worth, in
 * powers of two, so that similar offers count as equal. Of equals: the organization with the fewest tries at this block, then
 * the offer tried longest ago, then the first in the list.
 */
export function takeNext<T>(offers: readonly T[], turnOf: (offer: T) => Turn): T | undefined {
  let next: { offer: T; turn: Turn } | undefined
  for (const offer of offers) {
    const turn = turnOf(offer)
    if (!next || isBefore(turn, next.turn)) next = { offer, turn }
  }
  return next?.offer
}

function isBefore(a: Turn, b: Turn): boolean {
  if (a.penalty !== b.penalty) return a.penalty < b.penalty
  if (a.isSuspect !== b.isSuspect) return b.isSuspect
  const [more, less] = [a, b].map(({ worth }) => (worth ?? 0n).toString(2).length) as [number, number]
  if (more !== less) return more > less
  if (a.tries !== b.tries) return a.tries < b.tries
  return a.triedAt < b.triedAt
}

/**
 * The state that a settlement of an offer changes: the pools of its route, whose quotes for other offers become wrong, and the
 * owner's balance of the sold token. A contract wallet is touched as a whole: one change of it makes all its settlements revert.
 */
export function listTouched(offer: Offer): string[] {
  const { order } = offer.live
  const wallet = isOfContract(order) ? [`${order.owner} wallet`] : []
  return [...listPools(offer), `${order.owner} ${order.tokenIn}`, ...wallet]
}

/** Whether the owner of an order is a contract, which checks its signature. */
export const isOfContract = ({ submission }: Pick<Order, 'submission'>): boolean => submission?.scheme === 'eip1271'

/** The pools of an offer, each by the two tokens it is between. */
export function listPools({ quote }: Pick<Offer, 'quote'>): string[] {
  return (quote?.route ?? []).map(({ from, to }) => [from.address, to.address].sort().join(' '))
}

/**
 * The state that queued settlements change before they are mined: the chain does not show it yet, so a quote now differs from
 * the result after them.
 */
export function listTaken(
  live: readonly Live[],
  openOf: (orderId: string) => { touches: readonly string[]; filledBefore: bigint } | undefined,
): string[] {
  return live.flatMap(({ order, remaining }) => {
    const open = openOf(order.id)
    return open && open.filledBefore === order.amountIn - remaining ? open.touches : []
  })
}
