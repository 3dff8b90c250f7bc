import type { Context, Fact, Tell } from '../../postgres/context.js'
import { inTransaction, type Transaction } from '../../postgres/pool.js'
import type { Order, OrderState } from './orderState.js'
import { listOrderAttempts, type OrderAttempt } from './storeAttempts.js'
import { findOrders, listConfirmedStates } from './storeOrders.js'
import { recordTold, takeUntold } from './storeTold.js'
import { showOrder } from './swapOrder.js'

/** Orders that are looked at in one transaction. */
const batchMax = 500

/**
 * Tells organizations of their orders: that one was submitted, that it was tried with another outcome, and that it is filled (also
 * in part), cancelled or expired, once that is confirmed.
 */
export async function tellOrders({ db, clock }: Pick<Context, 'db' | 'clock'>, tell: Tell): Promise<void> {
  await inTransaction(db, async (tx) => {
    const untold = await takeUntold(tx, batchMax)
    if (untold.length === 0) return
    const before = new Map(untold.map(({ id, told }) => [id, told]))
    const orders = await findOrders(tx, [...before.keys()])
    const states = await listConfirmedStates(tx, orders)
    const changed: { id: string; told: string; isAll: boolean }[] = []
    for (const [index, order] of orders.entries()) {
      const state = states[index]
      if (!state) continue
      const [attempt] = await listOrderAttempts(tx, order.id)
      const now = formatTold(state, attempt)
      const was = before.get(order.id) ?? null
      if (now === was) continue
      changed.push({ id: order.id, told: now, isAll: state.isTerminal })
      await tell(tx, await listFacts(tx, { order, at: clock.now(), types: listTypes(was, { state, attempt }) }))
    }
    await recordTold(tx, changed)
  })
}

/** The part of a state whose change is told, as text. */
function formatTold({ status, filledIn }: OrderState, attempt: OrderAttempt | undefined): string {
  const isOver = status === 'filled' || status === 'cancelled' || status === 'expired'
  return `${isOver ? status : 'open'}:${filledIn}:${attempt ? `${attempt.outcome}@${attempt.at.toISOString()}` : ''}`
}

/** The events of a change of state. Pure. */
export function listTypes(
  was: string | null,
  { state, attempt }: { state: OrderState; attempt: OrderAttempt | undefined },
): string[] {
  const [, filledBefore = '0', ...tried] = was?.split(':') ?? []
  const [, , ...trying] = formatTold(state, attempt).split(':')
  const isTried = attempt !== undefined && attempt.outcome !== 'considered' && tried.join(':') !== trying.join(':')
  return [
    ...(was === null ? ['order.created'] : []),
    ...(isTried ? ['order.attempt'] : []),
    ...(state.filledIn > BigInt(filledBefore) ? ['order.filled'] : []),
    ...(state.status === 'cancelled' || state.status === 'expired' ? [`order.${state.status}`] : []),
  ]
}

async function listFacts(
  tx: Transaction,
  { order, at, types }: { order: Order; at: Date; types: readonly string[] },
): Promise<Fact[]> {
  if (types.length === 0) return []
  const { chainId, organizationId } = order
  const data = await showOrder(tx, order)
  return types.map((type) => ({ type, at, chainId, organizationId, subject: { kind: 'order', id: order.id }, data }))
}
