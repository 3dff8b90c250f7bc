import type { Order, OrderState } from '../orders/index.js'
import type { Quote } from '../swap/index.js'
import { computeLeast } from './settlementCall.js'

/** What a look at an order book decides. Pure. */

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

/** What the owner of an order has of what it sells, and lets be taken of it; undefined where the token does not tell. */
export type OrderFunds = { balance: bigint | undefined; allowance: bigint | undefined }

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** How much of an order its owner can pay for at present. */
export function computePayable({ order, remaining }: Live, { balance, allowance }: OrderFunds): bigint {
  const most = smaller(remaining, smaller(balance ?? 0n, allowance ?? 0n))
  return order.partiallyFillable || most === remaining ? most : 0n
}

/** What an owner lacks for an order to be filled, in a sentence; undefined where nothing. */
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

/** The amounts an order may be filled with at present, the largest first: what is left of it, or a part. */
export function listAmounts(live: Live, funds: OrderFunds): bigint[] {
  const payable = computePayable(live, funds)
  const whole = payable === live.remaining ? [payable] : []
  return live.order.partiallyFillable ? [...whole, ...listParts(live, payable)] : whole
}

/** The parts of an order to be tried after the whole of what is left: what can be paid for where that is less, then by halves. */
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

/** The offers in their turn: in the order they came, and after them what was refused before, the longest ago first. */
export function inTurn(offers: readonly Offer[], refused: ReadonlyMap<string, number>): Offer[] {
  const turnOf = ({ live }: Offer) => refused.get(live.order.id) ?? -1
  return offers.toSorted((a, b) => turnOf(a) - turnOf(b))
}

/**
 * What a settlement of an offer changes: the pools it goes through, which give the next one something else than it was
 * quoted, and what its owner holds of the token that is sold.
 */
export function listTouched({ live: { order }, quote }: Offer): string[] {
  const pairs = (quote?.route ?? []).map(({ from, to }) => [from.address, to.address].sort().join(' '))
  return [...pairs, `${order.owner} ${order.tokenIn}`]
}

/**
 * What settlements change that are queued and not mined: the chain shows nothing of them yet, so what is quoted now is not
 * what there is after them.
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
