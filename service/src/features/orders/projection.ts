import { decodeAbiParameters, type Hex, parseAbiParameters, toEventSelector } from 'viem'
import { tradeTopic } from '../../derive/index.js'
import type { RawBlock, RawLog } from '../../rpc/raw.js'
import { defineProjection } from '../../sync/defineProjection.js'
import type { Order } from './orderState.js'
import {
  type FollowedSettlements,
  listFollowed,
  listFollowedLines,
  orderEventsTable,
  recordOrderEvents,
  removeOrderEvents,
  type SaidEvent,
} from './storeEvents.js'

const invalidatedTopic = toEventSelector('OrderInvalidated(address,bytes)')
// The owner is indexed, and stands in the uid too.
const tradeData = parseAbiParameters(
  'address sellToken, address buyToken, uint256 sellAmount, uint256 buyAmount, uint256 feeAmount, bytes orderUid',
)
const invalidatedData = parseAbiParameters('bytes orderUid')

/**
 * Events of settlement contracts about our orders. The write step looks up which orders are ours: nobody knows a uid before
 * its order is stored, so an order that is stored later has no event in a block that is derived already.
 */
export const orders = defineProjection({
  name: 'orders',
  tables: [{ table: orderEventsTable, state: { leftOut: 'events of another contract than a vault' } }],
  configuration: listFollowed,
  lines: listFollowedLines,
  sources: (config) =>
    [...config].map(([address, fromBlock]) => ({
      ...{ key: address, addresses: [address], topics: [tradeTopic, invalidatedTopic], fromBlock, calldata: [] },
    })),
  restrict: (config, isRead) => new Map([...config].filter(([address]) => isRead(address))),
  // The events of a settlement contract are about its own orders alone.
  standsAlone: () => true,
  derive: (block, { config }) => block.logs.flatMap((log) => readEvent(block, log, config) ?? []),
  write: (db, rows, input) => recordOrderEvents(db, rows.flat(), input),
  rewind: async (tx, above, { only }) => {
    await removeOrderEvents(tx, above, only && [...only.keys()])
    return 0
  },
})

/** Whether a log is its settlement contract's word that it took of an order and paid for it. */
export function isTradeOf(log: RawLog, { settlement, uid }: Pick<Order, 'settlement' | 'uid'>): boolean {
  const said = readEvent({ number: log.blockNumber, timestamp: 0 }, log, new Map([[settlement, 0]]))
  return said?.kind === 'trade' && said.uid === uid
}

/** Parses a log of a settlement contract; undefined for a log with the topic and another shape. */
function readEvent(
  block: Pick<RawBlock, 'number' | 'timestamp'>,
  log: RawLog,
  config: FollowedSettlements,
): SaidEvent | undefined {
  const from = config.get(log.address)
  if (from === undefined || log.blockNumber < from) return undefined
  const { logIndex, transactionHash } = log
  const at = {
    blockNumber: block.number,
    timestamp: block.timestamp,
    logIndex,
    transactionHash,
    settlement: log.address,
  }
  const [topic] = log.topics
  try {
    if (topic === tradeTopic) {
      const [, , amountIn, amountOut, , uid] = decodeAbiParameters(tradeData, log.data as Hex)
      return { ...at, kind: 'trade', uid: uid.toLowerCase(), amountIn, amountOut }
    }
    if (topic !== invalidatedTopic) return undefined
    const [uid] = decodeAbiParameters(invalidatedData, log.data as Hex)
    return { ...at, kind: 'invalidated', uid: uid.toLowerCase(), amountIn: 0n, amountOut: 0n }
  } catch {
    return undefined
  }
}
