import { findPrices } from '../../prices/index.js'
import { nativeToken } from '../../rpc/native.js'
import { findToken, isListedToken } from '../catalogue/index.js'
import type { Order } from '../orders/index.js'
import { isOfContract, listPools, type Offer } from './book.js'
import { type Case, daySeconds, isLossUsedUp, nameSubject, type Risked, type Subject, sumStandings } from './guard.js'
import type { Look } from './look.js'
import { findVouched } from './readWallets.js'
import { type Attempts, listCounted, listFilledOwners, type Settlement } from './storeBook.js'
import { listFailures, recordFailure } from './storeFailures.js'
import { computeWorth } from './worth.js'

/** Whom an offer, or a settlement, is counted against. */
export function listSubjects(
  order: Pick<Order, 'id' | 'owner' | 'organizationId'>,
  pools: readonly string[],
): Subject[] {
  return [
    { kind: 'order', key: order.id },
    { kind: 'owner', key: order.owner },
    { kind: 'organization', key: order.organizationId },
    ...pools.map((key) => ({ kind: 'pool', key }) as const),
  ]
}

export function listSettlementSubjects({ orderId, owner, organizationId, touches }: Settlement): Subject[] {
  // Touches of its owner are not pools.
  const pools = touches.filter((each) => !each.startsWith(`${owner} `))
  return listSubjects({ id: orderId, owner, organizationId }, pools)
}

/** Fills of the last 30 days count for an owner. */
const filledSeconds = 30 * daySeconds

/** Counts against offers during a look. */
export type Standings = Awaited<ReturnType<typeof loadStandings>>

export async function loadStandings(given: Look, offers: readonly Offer[], attempts: ReadonlyMap<string, Attempts>) {
  const { ctx, chain, head } = given
  const { chainId } = chain
  const since = head.timestamp - daySeconds
  const subjectsOf = (offer: Offer) => listSubjects(offer.live.order, listPools(offer))
  const names = offers.flatMap((offer) => subjectsOf(offer).map(nameSubject))
  const areListed = createListing(given)
  // With a token that is not listed an order is risky anyway.
  const listed = offers.filter(({ live }) => areListed(live.order))
  const [counted, failures, vouched] = await Promise.all([
    listCounted(ctx.db, chainId, new Date(since * 1_000)),
    listFailures(ctx.db, { chainId, since }, names),
    findVouched(given, listed),
  ])
  const risked: Risked[] = counted.map((settlement) => ({
    subjects: listSettlementSubjects(settlement),
    spent: settlement.cost ?? settlement.costMax,
    isRisky: settlement.isRisky,
    isListed: settlement.isListed,
    isReverted: settlement.outcome === 'reverted',
    closedAt: settlement.closedAt === null ? undefined : settlement.closedAt.getTime() / 1_000,
  }))
  let sums = sumStandings(risked, failures)
  // Asked only then: nobody else's fills matter.
  const filled = isLossUsedUp(sums.lostByAll, given.settings.limits)
    ? await listFilledOwners(ctx.db, {
        chainId,
        since: new Date((head.timestamp - filledSeconds) * 1_000),
        owners: offers.map(({ live }) => live.order.owner),
      })
    : new Set<string>()
  return {
    caseOf: (offer: Offer): Case => {
      const { order } = offer.live
      const standings = subjectsOf(offer).map((subject) => ({ ...subject, standing: sums.standingOf(subject) }))
      const isListed = areListed(order)
      const isContract = isOfContract(order)
      const hasReverted = standings.some(({ kind, standing }) => kind === 'owner' && standing.reverts > 0)
      const fills = attempts.get(order.id)?.fills ?? []
      return {
        isRisky: !isListed || (isContract && !vouched.has(order.id)),
        hasReverted,
        isContract,
        areListed: isListed,
        standings,
        fills: fills.filter((at) => at > head.timestamp - 3_600),
        riskedByAll: sums.riskedByAll,
        lostByAll: sums.lostByAll,
        hasFilled: filled.has(order.owner),
      }
    },
    /** The contract wallet of an offer, where its code is vouched for. */
    walletOf: (offer: Offer) => vouched.get(offer.live.order.id),
    /** A settlement of a suspect offer was queued that may cost so much. */
    risk: (offer: Offer, spent: bigint, isRisky: boolean) => {
      const isListed = areListed(offer.live.order)
      risked.push({ subjects: subjectsOf(offer), spent, isRisky, isListed, isReverted: false, closedAt: undefined })
      sums = sumStandings(risked, failures)
    },
    /** An offer was tried in vain. */
    fail: async (offer: Offer) => {
      const own = subjectsOf(offer).map(nameSubject)
      for (const name of new Set(own))
        failures.set(name, { failures: (failures.get(name)?.failures ?? 0) + 1, lastFailedAt: head.timestamp })
      sums = sumStandings(risked, failures)
      await recordFailure(ctx.db, { chainId, since, timestamp: head.timestamp }, own)
    },
  }
}

/** Whether both tokens of an order are listed; the native token and what wraps it are. */
function createListing({ ctx, chain, record }: Look): (order: Order) => boolean {
  const snapshot = ctx.catalogue.current()
  const isListed = (address: string): boolean => {
    if (address === nativeToken.toLowerCase() || address === record.wrappedNative) return true
    const token = findToken(snapshot, chain.chainId, address)
    return token !== undefined && isListedToken(snapshot, token)
  }
  return ({ tokenIn, tokenOut }) => isListed(tokenIn) && isListed(tokenOut)
}

/** The worth of fills in the smallest unit of the native token, by present prices. */
export async function loadWorths(given: Look, offers: readonly Offer[]): Promise<(offer: Offer) => bigint | undefined> {
  const { ctx, chain, record } = given
  const native = nativeToken.toLowerCase()
  const tokens = new Set(offers.flatMap(({ live: { order } }) => [order.tokenIn, order.tokenOut]))
  const asked = [...tokens, native, ...(record.wrappedNative ? [record.wrappedNative] : [])]
  const prices = await findPrices(ctx.db, chain.chainId, asked, ctx.clock.now())
  const snapshot = ctx.catalogue.current()
  const describe = (address: string) => {
    const isNative = address === native
    const own = prices.get(address) ?? (isNative ? prices.get(record.wrappedNative ?? '') : undefined)
    const decimals = isNative ? 18 : findToken(snapshot, chain.chainId, address)?.decimals
    return { decimals: decimals ?? 0, priceUsd: decimals === undefined ? undefined : (own?.priceUsd ?? undefined) }
  }
  return ({ live: { order }, amountIn, amountOut }) =>
    computeWorth(
      { amount: amountIn, ...describe(order.tokenIn) },
      { amount: amountOut, ...describe(order.tokenOut) },
      describe(native),
    )
}
