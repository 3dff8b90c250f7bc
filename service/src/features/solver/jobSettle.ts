import { prepareSuffix } from '@openearn/attribution'
import { type Address, concat, erc20Abi, type Hex, parseAbi } from 'viem'
import { derivedId } from '../../kernel/ids.js'
import { inTransaction } from '../../postgres/pool.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import { estimateAt, readGasPrice } from '../../rpc/estimate.js'
import { multicallMany } from '../../rpc/manyReads.js'
import { combine, multicall, type Read, readContract } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import { cancelOutgoing, listOutgoingStates, recordOutgoing } from '../../rpc/sender/index.js'
import type { Signer } from '../../rpc/signer.js'
import { trySolverLock } from '../../sync/storeLocks.js'
import { type CatalogueContext, type ChainRecord, findToken } from '../catalogue/index.js'
import { listStates, listSubmitted, type Order, recordLook } from '../orders/index.js'
import { type Deployed, type Quote, readExchanges } from '../swap/index.js'
import {
  findLack,
  inTurn,
  type Live,
  listAmounts,
  listLive,
  listTaken,
  listTouched,
  type Offer,
  type OrderFunds,
} from './book.js'
import { findOffers, forgetOthers, openQuoteTurns, type QuoteTurns } from './quotes.js'
import type { Wanted } from './screening.js'
import { encodeSettlement, type Fill } from './settlementCall.js'
import { type Attempts, closeSettlements, listAttempts, listOpen, recordSettlement } from './storeBook.js'

export type OrderSettings = {
  /** The key that settles; absent: orders are looked at, and none is settled here. */
  solver: Signer | undefined
  /** The most a settlement may cost, in the smallest unit of the native token. */
  costMax: bigint
}

export type OrderJobContext = ChainContext & CatalogueContext & { readonly attributionSigner: Signer | undefined }

/** Orders whose funds one call reads. */
const perCall = 100
/** Settlements that are simulated at one block. */
const offersMax = 8
/** Settlements of an order that may revert on the chain, at the solver's cost. */
const revertsMax = 3
/** What a swap on the way is allowed to be late by: the settlement contract holds the order's own expiry. */
const farAway = 10_000_000_000n

const settlementAbi = parseAbi(['function filledAmount(bytes orderUid) view returns (uint256)'])

/**
 * A look at the orders of every chain, at each new block: what their owners can pay for, and which of our own order book
 * the pools pay enough for. These are queued for the sender, one settlement each. One process looks at a time.
 */
export function createOrderLook(settings: OrderSettings): (ctx: OrderJobContext) => Promise<void> {
  const seen = new Map<number, string>()
  const turns = new Map<number, QuoteTurns>()
  const exchanges = new WeakMap<object, Deployed>()
  return async (ctx) => {
    for (const [chainId, chain] of ctx.chains) {
      const record = ctx.catalogue.current().chains.get(chainId)
      if (!record?.swap?.orders) continue
      const head = await readHead(chain)
      if (seen.get(chainId) === head.hash) continue
      const lock = await trySolverLock(ctx.db, chainId)
      if (!lock) continue
      try {
        const own = turns.get(chainId) ?? openQuoteTurns()
        turns.set(chainId, own)
        await look({ ctx, chain, record, head, settings, exchanges, turns: own })
        seen.set(chainId, head.hash)
      } finally {
        await lock.release()
      }
    }
  }
}

type Look = {
  ctx: OrderJobContext
  chain: Chain
  record: ChainRecord
  head: Header
  settings: OrderSettings
  exchanges: WeakMap<object, Deployed>
  turns: QuoteTurns
}

async function look(given: Look): Promise<void> {
  const { ctx, chain, head, settings } = given
  const { db, clock, log } = ctx
  const { chainId } = chain
  await closeFinished(given)
  const orders = await listSubmitted(db, { chainId, timestamp: head.timestamp })
  const live = listLive(orders, await listStates(db, orders))
  const ids = live.map(({ order }) => order.id)
  const attempts = await listAttempts(db, ids)
  forgetOthers(given.turns, ids)
  await cancelOverdue(given, live, attempts)
  if (live.length === 0) return
  const givenUp = await listGivenUp(given, attempts)
  const isTried = ({ order: { id, submission } }: Live) =>
    settings.solver !== undefined && submission?.venue === 'local' && !attempts.get(id)?.open && !givenUp.has(id)
  const { lacking, fit, offers } = await readOrders(given, live, isTried)
  const failed = await recordLook(db, { lacking, fit, timestamp: head.timestamp, at: clock.now() })
  if (failed.length > 0)
    log.info({ chainId, orders: failed }, 'orders are not looked at any more: their owners lack funds')
  const taken = new Set(listTaken(live, (id) => attempts.get(id)?.open))
  await settle(given, offers, { taken, attempts })
}

/** Settlements whose transaction is over leave their orders free for the next one. */
async function closeFinished({ ctx, chain }: Look): Promise<void> {
  const { db, log } = ctx
  const open = await listOpen(db, chain.chainId)
  const states = await listOutgoingStates(db, open)
  const over = open.filter((id) => !['queued', 'sent'].includes(states.get(id)?.state ?? ''))
  for (const id of over) log.info({ id, ...states.get(id) }, 'a settlement is over')
  await closeSettlements(db, over)
}

/** Nothing is paid for settlements of orders that are over without them. */
async function cancelOverdue(
  { ctx, chain }: Look,
  live: readonly Live[],
  attempts: ReadonlyMap<string, Attempts>,
): Promise<void> {
  const wanted = new Set(live.flatMap(({ order }) => attempts.get(order.id)?.open?.id ?? []))
  for (const id of await listOpen(ctx.db, chain.chainId)) if (!wanted.has(id)) await cancelOutgoing(ctx.db, id)
}

/**
 * Orders whose settlements reverted on the chain as often as is paid for. What is simulated before cannot find that out: they
 * pass there.
 */
async function listGivenUp(
  { ctx, chain, turns }: Look,
  attempts: ReadonlyMap<string, Attempts>,
): Promise<ReadonlySet<string>> {
  const often = [...attempts].filter(([, { ids }]) => ids.length >= revertsMax)
  const states = await listOutgoingStates(
    ctx.db,
    often.flatMap(([, { ids }]) => ids),
  )
  const countReverted = (ids: readonly string[]) => ids.filter((id) => states.get(id)?.state === 'reverted').length
  const givenUp = often.flatMap(([orderId, { ids }]) => (countReverted(ids) >= revertsMax ? [orderId] : []))
  for (const orderId of givenUp) {
    if (!turns.givenUp.has(orderId))
      ctx.log.warn(
        { chainId: chain.chainId, orderId },
        `an order is settled no more: ${revertsMax} settlements of it reverted on the chain`,
      )
    turns.givenUp.add(orderId)
  }
  return new Set(givenUp)
}

type Seen = {
  lacking: { orderId: string; why: string; canFail: boolean }[]
  fit: string[]
  offers: Offer[]
}

/** What the chain says of orders at one block. */
async function readOrders(given: Look, live: readonly Live[], isTried: (live: Live) => boolean): Promise<Seen> {
  const { ctx, chain, record, head, turns } = given
  const at = { blockHash: head.hash }
  const reads = live.map(({ order }) => readOrderFunds(order))
  const [{ answers }, deployed] = await Promise.all([multicallMany(chain, reads, at, perCall), findDeployed(given)])
  const seen: Omit<Seen, 'offers'> = { lacking: [], fit: [] }
  const wanted: Wanted[] = []
  for (const [index, each] of live.entries()) {
    const funds = answers[index]?.answer
    const { order, remaining } = each
    // Where the chain has filled something that is not derived yet, it is looked at again when it is.
    if (!funds || funds.filled !== order.amountIn - remaining) continue
    const why = findLack(each, funds)
    if (why === undefined) seen.fit.push(order.id)
    else seen.lacking.push({ orderId: order.id, why, canFail: funds.filled === 0n })
    const amounts = isTried(each) ? listAmounts(each, funds) : []
    if (amounts.length > 0) wanted.push({ live: each, amounts })
  }
  const snapshot = ctx.catalogue.current()
  return { ...seen, offers: await findOffers({ chain, snapshot, record, at, deployed }, wanted, turns) }
}

function readOrderFunds({
  owner,
  tokenIn,
  relayer,
  settlement,
  uid,
}: Order): Read<OrderFunds & { filled: bigint | undefined }> {
  const [token, from] = [tokenIn as Address, owner as Address]
  return combine({
    balance: readContract(token, erc20Abi, 'balanceOf', [from]),
    allowance: readContract(token, erc20Abi, 'allowance', [from, relayer as Address]),
    filled: readContract(settlement as Address, settlementAbi, 'filledAmount', [uid as Hex]),
  })
}

/** Which exchanges are what they should be; it does not change, so it is asked once for what is set up. */
async function findDeployed({ chain, record, exchanges }: Look): Promise<Deployed> {
  const known = exchanges.get(record)
  if (known) return known
  const { answer } = await multicall(chain, readExchanges(record))
  if (answer.v2 || answer.v3) exchanges.set(record, answer)
  return answer
}

/**
 * Queues a settlement of each order that can be filled, as it is simulated from the solver. One that is refused takes
 * nothing from the others: those of its pools are tried after it, and at later blocks before it.
 */
async function settle(
  given: Look,
  offers: readonly Offer[],
  { taken, attempts }: { taken: Set<string>; attempts: ReadonlyMap<string, Attempts> },
): Promise<void> {
  const { chain, settings, head, turns } = given
  const { solver } = settings
  if (!solver || offers.length === 0) return
  const gasPrice = await readGasPrice(chain)
  let tried = 0
  for (const offer of inTurn(offers, turns.refused)) {
    if (tried === offersMax) return
    const touched = listTouched(offer)
    if (touched.some((each) => taken.has(each))) continue
    tried += 1
    const { id } = offer.live.order
    const outcome = await tryOffer(given, { solver, gasPrice, offer, attempt: (attempts.get(id)?.count ?? 0) + 1 })
    if (outcome === 'refused') turns.refused.set(id, head.number)
    else {
      turns.refused.delete(id)
      for (const each of touched) taken.add(each)
    }
  }
}

type Trial = { solver: Signer; gasPrice: bigint; offer: Offer; attempt: number }

/** Queues the settlement of an offer, where it would neither revert nor cost too much, and the solver can pay for it. */
async function tryOffer(given: Look, { solver, gasPrice, offer, attempt }: Trial): Promise<'queued' | 'refused'> {
  const { ctx, chain, settings } = given
  const { live, amountIn, amountOut, quote } = offer
  const { order } = live
  const id = derivedId(`settlement:${order.id}:${attempt}`)
  const allowance = await readAllowance(chain, offer)
  const call = await buildCall(given, solver, { id, order, amountIn, amountOut }, quote, allowance)
  const estimate = await estimateAt(chain, { ...call, from: solver.address }, { gasPrice })
  const about = { chainId: chain.chainId, orderId: order.id, attempt }
  if ('lack' in estimate) {
    ctx.log.warn({ ...about, why: estimate.lack }, 'an order is not settled: the solver cannot pay for it now')
    return 'refused'
  }
  if ('revert' in estimate) {
    ctx.log.info({ ...about, why: estimate.revert }, 'an order is not settled: it would revert')
    return 'refused'
  }
  const cost = estimate.gas * gasPrice
  if (cost > settings.costMax) {
    ctx.log.info({ ...about, cost: String(cost) }, 'an order is not settled: it would cost too much')
    return 'refused'
  }
  const made = { orderId: order.id, attempt, amountIn, amountOut }
  const filledBefore = order.amountIn - live.remaining
  await queue(given, solver, { ...made, id, touches: listTouched(offer), filledBefore }, call)
  return 'queued'
}

type NewSettlement = Omit<Parameters<typeof recordSettlement>[1], 'createdAt'>

async function queue(
  { ctx, chain, settings }: Look,
  solver: Signer,
  settlement: NewSettlement,
  { to, data }: { to: Address; data: Hex },
): Promise<void> {
  const now = ctx.clock.now()
  const { id, orderId } = settlement
  const { costMax } = settings
  const outgoing = {
    id,
    chainId: chain.chainId,
    sender: solver.address,
    to: to.toLowerCase(),
    data,
    value: 0n,
    costMax,
  }
  await inTransaction(ctx.db, async (tx) => {
    if (await recordSettlement(tx, { ...settlement, createdAt: now }))
      await recordOutgoing(tx, { ...outgoing, purpose: `settlement of order ${orderId}` }, now)
  })
}

/** What the settlement contract lets the exchange of an offer take already. */
async function readAllowance(chain: Chain, { live: { order }, quote }: Offer): Promise<bigint> {
  if (!quote?.spender) return 0n
  const args = [order.settlement as Address, quote.spender] as const
  const { answer } = await multicall(chain, readContract(order.tokenIn as Address, erc20Abi, 'allowance', args))
  return answer ?? 0n
}

/** The settlement with our suffix, signed for the order. */
async function buildCall(
  { ctx, chain, record }: Look,
  solver: Signer,
  fill: Fill,
  quote: Quote | undefined,
  allowance: bigint,
): Promise<{ to: Address; data: Hex; value: bigint }> {
  const { order, amountOut } = fill
  const to = order.settlement as Address
  const build = (wallet: Address) => (quote as Quote).build({ wallet, minimumOut: amountOut, deadline: farAway })
  const token = findToken(ctx.catalogue.current(), chain.chainId, order.tokenIn)
  const approvalReset = token?.approvalReset ?? true
  const route = quote?.spender && { spender: quote.spender, allowance, approvalReset, build }
  const data = encodeSettlement(fill, { route: route || undefined, wrappedNative: record.wrappedNative as Address })
  const { digest, suffix } = prepareSuffix({
    ...{
      code: order.distributorId,
      actionId: order.id,
      chainId: chain.chainId,
      wallet: solver.address,
      target: to,
      data,
    },
  })
  const signature = await ctx.attributionSigner?.sign(digest)
  return { to, data: concat([data, suffix(signature)]), value: 0n }
}
