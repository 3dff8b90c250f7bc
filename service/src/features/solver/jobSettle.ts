import { readHead } from '../../rpc/blocks.js'
import { cancelOutgoing } from '../../rpc/sender/index.js'
import { fenced, LockLost } from '../../sync/storeLeaders.js'
import { trySolverLock } from '../../sync/storeLocks.js'
import { findSettlement, listStates, listSubmitted, recordAttempts, recordLook } from '../orders/index.js'
import type { Deployed } from '../swap/index.js'
import { type Live, listLive, listTaken } from './book.js'
import { daySeconds, nameSubject, revertsMax, usualLimits } from './guard.js'
import type { Look, OrderJobContext, OrderSettings } from './look.js'
import { forgetOthers, openQuoteTurns, type QuoteTurns } from './quotes.js'
import { readOrders, type Seen } from './readOrders.js'
import { computeLeast } from './settlementCall.js'
import { settleOffers } from './settleOffers.js'
import { listSettlementSubjects } from './standings.js'
import { type Attempts, type Closed, closeSettlements, listAttempts, listOpen } from './storeBook.js'
import { forgetFailures, recordFailure, removeFailures } from './storeFailures.js'
import { listTrusted } from './wallets.js'

/**
 * A look at the orders of every chain, at each new block: what their owners can pay for, and which of our own order book
 * the pools pay enough for. These are queued for the sender, one settlement each. One process looks at a time. `read` reads
 * orders from the chain.
 */
export function createOrderLook(settings: OrderSettings, read = readOrders): (ctx: OrderJobContext) => Promise<void> {
  const seen = new Map<number, string>()
  const turns = new Map<number, QuoteTurns>()
  const exchanges = new WeakMap<object, Deployed>()
  const trustedWallets = listTrusted(settings.wallets)
  return async (ctx) => {
    for (const [chainId, chain] of ctx.chains) {
      const record = ctx.catalogue.current().chains.get(chainId)
      const settlement = record && findSettlement(record)
      if (!settlement) continue
      const head = await readHead(chain)
      if (seen.get(chainId) === head.hash) continue
      const lock = await trySolverLock(ctx.db, chainId)
      if (!lock) continue
      try {
        const own = turns.get(chainId) ?? openQuoteTurns()
        turns.set(chainId, own)
        const trialChain = settings.trialChains?.get(chainId) ?? chain
        const limits = settings.limits ?? usualLimits
        const given = {
          ctx: { ...ctx, db: fenced(ctx.db, lock.fence) },
          chain,
          trialChain,
          record,
          head,
          exchanges,
          turns: own,
          made: new Map(),
        }
        await lookAndTell({ ...given, settings: { ...settings, limits, trustedWallets } }, settlement.address, read)
        seen.set(chainId, head.hash)
      } catch (error) {
        // Another process looks now.
        if (!(error instanceof LockLost)) throw error
      } finally {
        await lock.release()
      }
    }
  }
}

/** Looks at orders and stores the outcomes, also when the look fails. */
async function lookAndTell(given: Look, settlement: string, read: typeof readOrders): Promise<void> {
  const { ctx, head, turns, made } = given
  try {
    await look(given, settlement, read)
  } finally {
    const said = [...made].filter(([orderId, each]) => turns.told.get(orderId) !== wordsOf(each))
    await recordAttempts(
      ctx.db,
      said.map(([orderId, attempt]) => ({ orderId, ...attempt })),
      head.timestamp,
    )
    for (const [orderId, each] of said) turns.told.set(orderId, wordsOf(each))
  }
}

/** The outcome of an order without its figures, which change with every block. */
const wordsOf = ({ outcome, detail }: { outcome: string; detail: string }): string =>
  `${outcome} ${detail.replace(/\d+/g, '')}`

async function look(given: Look, settlement: string, read: typeof readOrders): Promise<void> {
  const { ctx, chain, head, settings, turns, made } = given
  const { db, clock, log } = ctx
  const { chainId } = chain
  await closeFinished(given)
  const orders = await listSubmitted(db, { chainId, settlement, timestamp: head.timestamp })
  const live = listLive(orders, await listStates(db, orders))
  const ids = live.map(({ order }) => order.id)
  const attempts = await listAttempts(db, ids)
  forgetOthers(turns, ids)
  await cancelOverdue(given, live, attempts)
  if (live.length === 0) return
  const givenUp = listGivenUp(given, attempts)
  const isTried = ({ order: { id, submission } }: Live) =>
    settings.solver !== undefined && submission?.venue === 'local' && !attempts.get(id)?.open && !givenUp.has(id)
  const seen = await read(given, live, isTried)
  const { lacking, fit } = seen
  const failed = await recordLook(db, { lacking, fit, timestamp: head.timestamp, at: clock.now() })
  if (failed.length > 0)
    log.info({ chainId, orders: failed }, 'orders are not looked at any more: their owners lack funds')
  for (const [id, attempt] of explain(seen)) made.set(id, attempt)
  const taken = new Set(listTaken(live, (id) => attempts.get(id)?.open))
  await settleOffers(given, seen.offers, { taken, attempts })
}

/** Why orders are not filled at a block, as far as it does not take a try. */
function explain({ lacking, others }: Seen): Look['made'] {
  const made: Look['made'] = new Map()
  for (const { live, amountIn, amountOut } of others) {
    const { order } = live
    const noRoute = { outcome: 'noRoute', detail: `no exchange swaps ${amountIn} of ${order.tokenIn}` } as const
    const least = computeLeast(order, amountIn)
    made.set(
      order.id,
      amountOut === undefined
        ? noRoute
        : {
            outcome: 'considered',
            detail: `the exchanges return ${amountOut} for ${amountIn}; the limit of the order is ${least}`,
          },
    )
  }
  for (const { orderId, why } of lacking) made.set(orderId, { outcome: 'unfunded', detail: why })
  return made
}

/** Settlements whose transaction is over leave their orders free for the next one; how each ended is counted. */
async function closeFinished({ ctx, chain, head, made }: Look): Promise<void> {
  const { db, log } = ctx
  const { chainId } = chain
  const since = head.timestamp - daySeconds
  const at = { chainId, since, timestamp: head.timestamp }
  for (const closed of await closeSettlements(db, at)) {
    const { id, orderId, outcome, reason, cost } = closed
    log.info({ id, orderId, outcome, reason, cost: String(cost) }, 'a settlement is over')
    made.set(orderId, describeEnd(closed))
    const subjects = listSettlementSubjects(closed)
    const others = subjects.filter(({ kind }) => kind !== 'organization')
    if (outcome === 'confirmed') await forgetFailures(db, chainId, others.map(nameSubject))
    // A cancelled settlement counts only against its order.
    else if (outcome === 'cancelled') await recordFailure(db, at, [`order ${orderId}`])
    else if (outcome === 'failed') await recordFailure(db, at, subjects.map(nameSubject))
  }
  await removeFailures(db, chainId, since)
}

type Made = { outcome: 'considered' | 'tooDear' | 'reverted' | 'filled'; detail: string }

function describeEnd({ outcome, reason, isHeld, amountIn, amountOut }: Closed): Made {
  if (outcome === 'confirmed') return { outcome: 'filled', detail: `${amountIn} were sold for ${amountOut}` }
  if (outcome === 'reverted') return { outcome: 'reverted', detail: 'its settlement was mined and reverted' }
  if (outcome === 'failed') return { outcome: 'reverted', detail: `its settlement was not sent: ${reason}` }
  if (isHeld) return { outcome: 'tooDear', detail: `its settlement could not be sent for long: ${reason}` }
  return { outcome: 'considered', detail: 'its settlement was cancelled' }
}

/** Time after which an unsent settlement is given up: its quote is old. */
const queuedMs = 120_000

/** Nothing is paid for settlements of orders that are over without them, or that could not be sent for long. */
async function cancelOverdue(
  { ctx, chain }: Look,
  live: readonly Live[],
  attempts: ReadonlyMap<string, Attempts>,
): Promise<void> {
  const wanted = new Set(live.flatMap(({ order }) => attempts.get(order.id)?.open?.id ?? []))
  const since = ctx.clock.now().getTime() - queuedMs
  for (const { id, createdAt, isQueued } of await listOpen(ctx.db, chain.chainId))
    if (!wanted.has(id) || (isQueued && createdAt.getTime() < since)) await cancelOutgoing(ctx.db, id)
}

/**
 * Orders whose settlements have used up the allowed reverts on the chain. The simulation cannot find these: there they
 * succeed.
 */
function listGivenUp({ ctx, chain, turns }: Look, attempts: ReadonlyMap<string, Attempts>): ReadonlySet<string> {
  const givenUp = [...attempts].flatMap(([orderId, { reverts }]) => (reverts >= revertsMax ? [orderId] : []))
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
