import type { Hex } from 'viem'
import { OutboundError } from '../../kernel/outbound.js'
import type { HttpApi } from '../plans/index.js'
import type { Order, SubmittedOrder } from './orderState.js'

/** The public order book of CoW Protocol over HTTP. Orders are sent to it; its responses about them decide nothing. */

/** The result of sending an order: it is accepted, or a sentence why not (yet). */
export type Delivery = { accepted: true } | { accepted: false; note: string }

/** Tells an order book of an order. One that it has already, as its own copy shows, is accepted. */
export async function postOrder(book: HttpApi, order: SubmittedOrder): Promise<Delivery> {
  try {
    const uid = parse(await book.fetchText('/api/v1/orders', JSON.stringify(toOrderCreation(order))))
    if (uid === order.uid) return { accepted: true }
    return { accepted: false, note: `${book.host} returned something other than the uid of the order` }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    // It refuses an order that it has; and an answer that was lost may have been a yes.
    if (error.kind === 'client' && (await hasOrder(book, order))) return { accepted: true }
    const status = error.httpStatus === undefined ? '' : ` (${error.httpStatus})`
    const what = error.kind === 'client' ? `${book.host} refused the order` : `${book.host} cannot be asked at present`
    return { accepted: false, note: `${what}${status}; it is told again` }
  }
}

async function hasOrder(book: HttpApi, { uid }: Pick<Order, 'uid'>): Promise<boolean> {
  try {
    const found = parse(await book.fetchText(`/api/v1/orders/${uid}`))
    return typeof found === 'object' && found !== null && 'uid' in found && found.uid === uid
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return false
  }
}

/** An order as the order book takes it: the app data in full, so that its solvers can read who brought it. */
export function toOrderCreation(order: SubmittedOrder) {
  const { submission } = order
  return {
    sellToken: order.tokenIn,
    buyToken: order.tokenOut,
    receiver: order.owner,
    sellAmount: String(order.amountIn),
    buyAmount: String(order.minAmountOut),
    validTo: order.expiresAt.getTime() / 1_000,
    appData: order.appData,
    appDataHash: order.appDataHash as Hex,
    feeAmount: '0',
    kind: 'sell',
    partiallyFillable: order.partiallyFillable,
    sellTokenBalance: 'erc20',
    buyTokenBalance: 'erc20',
    signingScheme: submission.scheme,
    signature: submission.signature,
    from: order.owner,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
