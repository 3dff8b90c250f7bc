import type { Address, Hex } from 'viem'
import { inTransaction } from '../../postgres/pool.js'
import { readHead } from '../../rpc/blocks.js'
import { type Chain, getTransactionGasCap } from '../../rpc/chains.js'
import { estimateAt, readGasPrice } from '../../rpc/estimate.js'
import { recordOutgoing, toGasLimit } from '../../rpc/sender/index.js'
import type { Signer } from '../../rpc/signer.js'
import type { AttemptOutcome } from '../orders/index.js'
import { listTouched, type Offer, type Turn, takeNext } from './book.js'
import { buildSettlement, openFill, signSettlement } from './call.js'
import { type Case, decideCost, decideTry, isSuspect } from './guard.js'
import type { Look } from './look.js'
import type { Fill } from './settlementCall.js'
import { loadStandings, loadWorths, type Standings } from './standings.js'
import { type Attempts, recordSettlement } from './storeBook.js'

/** Settlements that are queued at one block, and such as are simulated for them. */
const queuedMax = 8
const triesMax = 16
/** Each such try is of a suspect offer, if there is one: many others do not keep these waiting. */
const suspectTurn = 4
/** After this time at one block no further offer is simulated. */
const triesMs = 6_000
/** Most gas of a settlement while it is simulated: of any, of a suspect one or a contract wallet's, and where what is posted to another chain is gas. */
const gasMax = { any: 2_000_000n, suspect: 700_000n, posting: 20_000_000n }

/**
 * Queues a settlement of each order that can be filled, as it is simulated from the solver. One that is refused takes
 * nothing from the others: those of its pools are tried after it, and at later blocks before it.
 */
export async function settleOffers(
  given: Look,
  offers: readonly Offer[],
  { taken, attempts }: { taken: Set<string>; attempts: ReadonlyMap<string, Attempts> },
): Promise<void> {
  const { ctx, chain, head, settings, turns, made } = given
  const { solver, limits } = settings
  if (!solver || offers.length === 0) return
  const [standings, worthOf, gasPrice] = await Promise.all([
    loadStandings(given, offers, attempts),
    loadWorths(given, offers),
    readGasPrice(chain),
  ])
  const mayBeTried = (offer: Offer): boolean => {
    const verdict = decideTry(standings.caseOf(offer), limits, head.timestamp)
    if (!verdict.may && verdict.outcome)
      made.set(offer.live.order.id, { outcome: verdict.outcome, detail: verdict.why })
    return verdict.may
  }
  let left = offers.filter(mayBeTried)
  const tries = new Map<string, number>()
  const startedMs = ctx.clock.monotonicMs()
  for (let [tried, queued] = [0, 0]; tried < triesMax && queued < queuedMax; tried++) {
    if (ctx.clock.monotonicMs() - startedMs > triesMs) return
    left = left.filter((offer) => !listTouched(offer).some((each) => taken.has(each)))
    const suspect =
      tried % suspectTurn === suspectTurn - 1 ? left.filter((each) => isSuspect(standings.caseOf(each))) : []
    const offer = takeNext(suspect.length > 0 ? suspect : left, (each) =>
      turnOf(each, { standings, tries, triedAt: turns.tried, worth: worthOf(each) }),
    )
    if (!offer) return
    left = left.filter((each) => each !== offer)
    if (!mayBeTried(offer)) continue
    const { order } = offer.live
    tries.set(order.organizationId, (tries.get(order.organizationId) ?? 0) + 1)
    turns.tried.set(order.id, head.number)
    const attempt = (attempts.get(order.id)?.count ?? 0) + 1
    const result = await tryOffer(given, { solver, gasPrice, offer, attempt, standings, worth: worthOf(offer) })
    made.set(order.id, result)
    if (!result.isQueued) {
      ctx.log.info(
        { chainId: chain.chainId, orderId: order.id, attempt, why: result.detail },
        'an order is not settled',
      )
      await standings.fail(offer)
      continue
    }
    queued += 1
    for (const each of listTouched(offer)) taken.add(each)
  }
}

function turnOf(
  offer: Offer,
  of: {
    standings: Standings
    tries: ReadonlyMap<string, number>
    triedAt: ReadonlyMap<string, number>
    worth: bigint | undefined
  },
): Turn {
  const { standings, tries, triedAt, worth } = of
  const own = standings.caseOf(offer)
  // The failures of others in a pool of listed tokens, or of an organization, say nothing of this one.
  const counted = own.standings.filter(
    ({ kind }) => kind === 'order' || kind === 'owner' || (kind === 'pool' && !own.areListed),
  )
  return {
    penalty: counted.reduce((sum, { standing }) => sum + standing.failures + standing.reverts, 0),
    tries: tries.get(offer.live.order.organizationId) ?? 0,
    triedAt: triedAt.get(offer.live.order.id) ?? -1,
    ...{ isSuspect: isSuspect(own), worth },
  }
}

type Trial = {
  solver: Signer
  gasPrice: bigint
  offer: Offer
  attempt: number
  standings: Standings
  worth: bigint | undefined
}
type Result = { outcome: AttemptOutcome; detail: string; isQueued: boolean }

const refused = (outcome: AttemptOutcome, detail: string): Result => ({ outcome, detail, isQueued: false })

/** Queues the settlement of an offer, where it would neither revert nor cost too much, and the solver can pay for it. */
async function tryOffer(given: Look, trial: Trial): Promise<Result> {
  const { settings, chain, trialChain } = given
  const { solver, gasPrice, offer, attempt, standings, worth } = trial
  const built = await ofOrder(given, async () => {
    const fill = await openFill(given, offer, attempt)
    return { fill, call: await buildSettlement(given, fill, offer, standings.walletOf(offer)) }
  })
  if ('failure' in built) return refused('reverted', built.failure)
  const { fill, call } = built
  const data = await signSettlement(given, fill, call)
  const own = standings.caseOf(offer)
  const limit = findGasMax(chain, own)
  const estimate = await ofOrder(given, () =>
    estimateAt(
      { ...trialChain, transactionGasCap: Number(limit) },
      { ...call, data, value: 0n, from: solver.address },
      { gasPrice },
    ),
  )
  if ('failure' in estimate) return refused('reverted', estimate.failure)
  if ('lack' in estimate) return refused('tooDear', `the solver cannot pay for it now: ${estimate.lack}`)
  if ('revert' in estimate)
    return refused('reverted', `with ${limit} gas at most its settlement would revert ${estimate.revert}`)
  const cost = estimate.gas * gasPrice
  const signedCost = (toGasLimit(estimate.gas, getTransactionGasCap(chain)) ?? estimate.gas) * gasPrice
  const verdict = decideCost({ cost, signedCost, costMax: settings.costMax, worth }, own, settings.limits)
  if (!verdict.may) return refused('tooDear', verdict.why)
  const settlement = { attempt, isRisky: own.isRisky, isListed: own.areListed, costMax: verdict.costMax }
  await queue(given, { solver, offer, fill, settlement, to: call.to, data })
  if (isSuspect(own)) standings.risk(offer, verdict.costMax, own.isRisky)
  return { outcome: 'considered', detail: `a settlement of ${offer.amountIn} is queued`, isQueued: true }
}

function findGasMax(chain: Chain, given: Case): bigint {
  const own = chain.l1GasInLimit ? gasMax.posting : isSuspect(given) || given.isContract ? gasMax.suspect : gasMax.any
  const cap = getTransactionGasCap(chain)
  return own < cap ? own : cap
}

/**
 * Runs the node calls for one order. If they fail and the node otherwise responds, the order is at fault: strangers choose the
 * code that runs for it.
 */
async function ofOrder<T extends object>(
  { trialChain, ctx }: Look,
  ask: () => Promise<T>,
): Promise<T | { failure: string }> {
  try {
    return await ask()
  } catch (error) {
    await readHead(trialChain).catch(() => {
      throw error
    })
    ctx.log.info({ err: error, chainId: trialChain.chainId }, 'a settlement could not be simulated')
    return { failure: 'its settlement could not be simulated: the node gave no answer in time' }
  }
}

type Queued = {
  solver: Signer
  offer: Offer
  fill: Fill
  settlement: { attempt: number; isRisky: boolean; isListed: boolean; costMax: bigint }
  to: Address
  data: Hex
}

async function queue({ ctx, chain }: Look, { solver, offer, fill, settlement, to, data }: Queued): Promise<void> {
  const now = ctx.clock.now()
  const { chainId } = chain
  const { id, order, amountIn, amountOut } = fill
  const { owner, organizationId } = order
  const row = { id, orderId: order.id, chainId, owner, organizationId, amountIn, amountOut, createdAt: now }
  const filledBefore = order.amountIn - offer.live.remaining
  const { costMax } = settlement
  const outgoing = { id, chainId, sender: solver.address, to: to.toLowerCase(), data, value: 0n, costMax }
  await inTransaction(ctx.db, async (tx) => {
    if (await recordSettlement(tx, { ...row, ...settlement, touches: listTouched(offer), filledBefore }))
      await recordOutgoing(tx, { ...outgoing, purpose: `settlement of order ${order.id}` }, now)
  })
}
