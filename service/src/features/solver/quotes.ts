import type { Chain } from '../../rpc/chains.js'
import { multicallMany } from '../../rpc/manyReads.js'
import { type At, mapRead, type Read } from '../../rpc/multicall.js'
import {
  type CatalogueSnapshot,
  type ChainRecord,
  findToken,
  getNativeToken,
  type TokenRecord,
} from '../catalogue/index.js'
import type { Order } from '../orders/index.js'
import { type Deployed, listHubs, type Quote, readLargest } from '../swap/index.js'
import { isEnough, type Live, type Offer } from './book.js'
import { chooseQuoted, countAmounts, type Looks, listScreens, noteLook, type Wanted } from './screening.js'
import { isNativeOut } from './settlementCall.js'

/** Reads of one call: they share its gas; with this number each has enough for several pools. */
const readsPerCall = 150
/** Calls for quotes at one block: at least `callsMin`, and one for each `ordersPerCall` orders. */
const callsMin = 8
const ordersPerCall = 40
/** Of these calls, where there are many orders, those for orders that seem far from their limit. */
const othersCalls = 2

/**
 * In which look orders and screens were quoted last, at which block a settlement of an order was tried last, which orders are
 * told to be tried no more, what was told of orders last, and when the wallet of an order was read and found a risk.
 */
export type QuoteTurns = Looks & {
  tried: Map<string, number>
  givenUp: Set<string>
  told: Map<string, string>
  risky: Map<string, number>
}

export const openQuoteTurns = (): QuoteTurns => ({
  ...{ look: 0, orders: new Map(), screens: new Map(), tried: new Map(), givenUp: new Set(), told: new Map() },
  risky: new Map(),
})

/** Keeps nothing of orders that are not live any more. */
export function forgetOthers({ tried, givenUp, told, risky }: QuoteTurns, orderIds: readonly string[]): void {
  const live = new Set(orderIds)
  for (const known of [tried, givenUp, told, risky]) for (const id of known.keys()) if (!live.has(id)) known.delete(id)
}

type Found = Pick<Quote, 'amountOut'> & { quote: Quote | undefined }
type FindQuote = (deployed: Deployed) => Found | undefined

export type Quoting = { chain: Chain; snapshot: CatalogueSnapshot; record: ChainRecord; at: At; deployed: Deployed }

/** Offers that the exchanges pay enough for; and for the other quoted orders the best output for the whole amount. */
export type Findings = { offers: Offer[]; others: { live: Live; amountIn: bigint; amountOut: bigint | undefined }[] }

/**
 * Finds orders that the exchanges pay enough for. A few orders are all quoted at each block, with each amount. Of many orders
 * those that a screen of their pair shows near their limit are quoted, and the others in turn.
 */
export async function findOffers(quoting: Quoting, wanted: readonly Wanted[], turns: QuoteTurns): Promise<Findings> {
  const { ask, count } = createAsking(quoting)
  const perCall = Math.max(1, Math.floor(readsPerCall / Math.max(1, ...wanted.map(({ live }) => count(live.order)))))
  const most = Math.max(callsMin, Math.ceil(wanted.length / ordersPerCall)) * perCall
  const quote = async (asked: readonly { order: Order; amountIn: bigint }[]): Promise<(Found | undefined)[]> => {
    const reads = asked.map(({ order, amountIn }) => ask(order, amountIn))
    const { answers } = await multicallMany(quoting.chain, reads, quoting.at, perCall, true)
    return answers.map((each) => each?.answer(quoting.deployed))
  }
  const choose = async (): Promise<readonly Wanted[]> => {
    if (countAmounts(wanted) <= most) return wanted
    const others = othersCalls * perCall
    const screens = listScreens(wanted, turns.screens, Math.floor((most - others) / 2))
    const found = await quote(screens)
    const paid = new Map(screens.map(({ key }, index) => [key, found[index]?.amountOut ?? 0n]))
    const chosen = chooseQuoted(wanted, paid, turns.orders, { near: most - others - screens.length, others })
    noteLook(turns, wanted, { chosen, screens })
    return chosen
  }
  const asked = (await choose()).flatMap(({ live, amounts }) =>
    amounts.map((amountIn) => ({ live, order: live.order, amountIn })),
  )
  const found = await quote(asked)
  const offers = new Map<Live, Offer>()
  const others = new Map<Live, Findings['others'][number]>()
  for (const [index, { live, amountIn }] of asked.entries()) {
    const offer = offers.has(live) ? undefined : toOffer(live, amountIn, found[index])
    if (offer) offers.set(live, offer)
    if (!others.has(live)) others.set(live, { live, amountIn, amountOut: found[index]?.amountOut })
  }
  return {
    offers: wanted.flatMap(({ live }) => offers.get(live) ?? []),
    others: [...others.values()].filter(({ live }) => !offers.has(live)),
  }
}

function toOffer(live: Live, amountIn: bigint, found: Found | undefined): Offer | undefined {
  if (!found || !isEnough(live.order, amountIn, found.amountOut)) return undefined
  return { live, amountIn, amountOut: found.amountOut, quote: found.quote }
}

/** Quotes a swap of a part. The wrapped native token is unwrapped one for one. */
function createAsking({ chain, snapshot, record }: Quoting) {
  const hubs = listHubs(snapshot, record)
  // A token that is not listed is swapped as well: of it only its address is needed.
  const toToken = (address: string): TokenRecord =>
    findToken(snapshot, chain.chainId, address) ?? {
      ...{ ...getNativeToken(snapshot, chain.chainId), address, approvalReset: true },
    }
  const ask = (order: Order, amountIn: bigint): Read<FindQuote> => {
    if (isNativeOut(order) && order.tokenIn === record.wrappedNative)
      return { reads: [], answer: () => () => ({ amountOut: amountIn, quote: undefined }) }
    const tokenOut = isNativeOut(order) && record.wrappedNative ? record.wrappedNative : order.tokenOut
    const pair = { tokenIn: toToken(order.tokenIn), tokenOut: toToken(tokenOut) }
    const read = readLargest({ settings: record, ...pair, amountIn, hubs })
    if (!read) return { reads: [], answer: () => () => undefined }
    return mapRead(read, (find) => (deployed: Deployed) => {
      const quote = find(deployed)
      return quote && { amountOut: quote.amountOut, quote }
    })
  }
  const counts = new Map<string, number>()
  return {
    ask,
    /** Reads of one quote. */
    count: (order: Order): number => {
      const pair = `${order.tokenIn} ${order.tokenOut}`
      const known = counts.get(pair) ?? ask(order, 1n).reads.length
      counts.set(pair, known)
      return known
    },
  }
}
