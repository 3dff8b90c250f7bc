import { hex, int4, int8, numeric, oneOf, seconds, uuid } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { copyRows, describeTable, findRows, insertRows, type RowOf } from '../../postgres/table.js'
import type { DatedLine } from '../../sync/configuration.js'
import { type Above, inPlace, type Place } from '../../sync/projection.js'
import type { OrderEvent } from './orderState.js'

export const orderEventsTable = describeTable('order_events', {
  chainId: [int8],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  logIndex: [int4],
  orderId: [uuid],
  kind: [oneOf<OrderEvent['kind']>()],
  transactionHash: [hex],
  amountIn: [numeric],
  amountOut: [numeric],
})

export type OrderEventRow = RowOf<typeof orderEventsTable>

/** Settlement contracts whose events are read on a chain, by address, and from which block. */
export type FollowedSettlements = ReadonlyMap<string, number>

export async function listFollowed(db: Queryable, chainId: number): Promise<FollowedSettlements> {
  const rows = await db<{ address: string; fromBlock: number }[]>`
    select address, from_block as "fromBlock" from followed_settlements where chain_id = ${chainId} order by address`
  return new Map(rows.map(({ address, fromBlock }) => [address, fromBlock]))
}

export function listFollowedLines(settlements: FollowedSettlements): DatedLine[] {
  const own = [...settlements].map(([address, fromBlock]) => ({
    ...{ line: `settlement ${address} ${fromBlock}`, from: 0, of: `settlement ${address}` },
  }))
  return [{ line: 'rules 1', from: 0 }, ...own]
}

/** An event of a settlement contract about any order. */
export type SaidEvent = Omit<OrderEventRow, 'chainId' | 'orderId'> & { settlement: string; uid: string }

/** Stores the events of our orders. The signature covers the settlement contract: events of another contract are ignored. */
export async function recordOrderEvents(
  db: Queryable,
  said: readonly SaidEvent[],
  { chainId, place, isLive }: { chainId: number; place: Place; isLive: boolean },
): Promise<void> {
  if (said.length === 0) return
  const uids = [...new Set(said.map(({ uid }) => uid))]
  const own = await db<{ uid: string; settlement: string; id: string }[]>`
    select hex_text(o.uid) as uid, o.settlement, o.id from swap_orders o
    where o.chain_id = ${chainId} and o.uid in (select hex_bytes(u) from unnest(${uids}::text[]) u)`
  const ids = new Map(own.map(({ uid, settlement, id }) => [`${settlement} ${uid}`, id]))
  const events = said.flatMap(({ settlement, uid, ...event }) => {
    const orderId = ids.get(`${settlement} ${uid}`)
    return orderId === undefined ? [] : [{ ...event, orderId }]
  })
  if (events.length === 0) return
  const table = place(orderEventsTable)
  if (isLive || place === inPlace) await insertRows(db, table, events, { shared: { chainId } })
  else {
    const copy = await copyRows(db, table, { shared: { chainId } })
    await copy.write(events)
    await copy.end()
  }
}

/** Takes back what lies above a block; of some settlement contracts only. */
export async function removeOrderEvents(db: Queryable, above: Above, settlements?: readonly string[]): Promise<void> {
  const own =
    settlements === undefined
      ? db``
      : db`and order_id in (select id from swap_orders where chain_id = ${above.chainId}
          and settlement = any(${[...settlements]}::text[]))`
  await db`delete from order_events where chain_id = ${above.chainId} and block_number > ${above.number} ${own}`
}

/** The events of orders in the order of their chain, by order. */
export async function listEventsOf(
  db: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, OrderEvent[]>> {
  const keys = orderIds.map((orderId) => ({ orderId }))
  const rows = await findRows(db, orderEventsTable, ['orderId'], keys, { tail: 'order by r.block_number, r.log_index' })
  const byOrder = new Map<string, OrderEvent[]>()
  for (const { orderId, ...event } of rows) {
    const events = byOrder.get(orderId)
    if (events) events.push(event)
    else byOrder.set(orderId, [event])
  }
  return byOrder
}
