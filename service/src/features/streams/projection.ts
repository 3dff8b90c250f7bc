import { streamAbi, streamFactoryAbi } from '@openearn/contracts'
import { type Abi, decodeEventLog, type Hex, toEventSelector } from 'viem'
import { bytes16ToUuid } from '../../kernel/ids.js'
import type { RawBlock, RawLog } from '../../rpc/raw.js'
import { defineProjection } from '../../sync/defineProjection.js'
import {
  type FollowedStream,
  listFollowed,
  listFollowedLines,
  recordStreamEvents,
  removeStreamEvents,
  type StreamEvent,
  streamEventsTable,
} from './storeEvents.js'

const factoryEvents = ['StreamCreated', 'FundsAdded', 'FundsWithdrawn'] as const
const streamEvents = ['RootUpdated', 'RewardsClaimed', 'ClaimsPausedSet'] as const

const topicsOf = (abi: Abi, names: readonly string[]): string[] =>
  abi.flatMap((item) => (item.type === 'event' && names.includes(item.name) ? [toEventSelector(item)] : []))
const factoryTopics = topicsOf(streamFactoryAbi, factoryEvents)
const streamTopics = topicsOf(streamAbi, streamEvents)

type Config = ReadonlyMap<string, FollowedStream>

/** Events of the streams that this installation signed: creation, payments in and out, roots and claims. */
export const streams = defineProjection({
  name: 'streams',
  tables: [{ table: streamEventsTable, state: { leftOut: 'events of another contract than a vault' } }],
  configuration: listFollowed,
  lines: listFollowedLines,
  sources: (config) =>
    [...config.values()].flatMap(({ id, factory, contract, fromBlock }) => [
      { key: id, addresses: [factory, contract], topics: [...factoryTopics, ...streamTopics], fromBlock, calldata: [] },
    ]),
  restrict: (config, isRead) => new Map([...config].filter(([id]) => isRead(id))),
  // A stream's events are about it alone.
  standsAlone: () => true,
  derive: (block, { config }) => deriveEvents(block, config),
  write: (db, rows, input) => recordStreamEvents(db, rows.flat(), input),
  rewind: async (tx, above, { only }) => {
    await removeStreamEvents(tx, above, only && [...only.keys()])
    return 0
  },
})

function deriveEvents(block: RawBlock, config: Config): readonly StreamEvent[] {
  if (block.logs.length === 0 || config.size === 0) return []
  const byContract = new Map([...config.values()].map((stream) => [stream.contract, stream]))
  return block.logs.flatMap((log) => {
    const said = readFactoryEvent(log, config) ?? readStreamEvent(log, byContract)
    if (!said) return []
    const { logIndex, transactionHash } = log
    return [{ blockNumber: block.number, timestamp: block.timestamp, logIndex, transactionHash, ...nothing, ...said }]
  })
}

type Said = Partial<StreamEvent> & Pick<StreamEvent, 'streamId' | 'kind'>

const nothing = {
  ...{ wallet: null, receiver: null, salt: null, root: null, rootAt: null },
  ...{ amount: null, fee: null, total: null, paused: null },
}

/** Parses an event of a factory. It counts if its id is that of a stream of ours, at the address it has by that factory. */
function readFactoryEvent(log: RawLog, config: Config): Said | undefined {
  const event = decode(streamFactoryAbi, factoryTopics, log)
  const findOwn = (bytes: Hex, contract: string): string | undefined => {
    const stream = config.get(bytes16ToUuid(bytes))
    const isOurs = stream?.factory === log.address && stream.contract === lower(contract)
    return isOurs && log.blockNumber >= stream.fromBlock ? stream.id : undefined
  }
  switch (event?.eventName) {
    case 'StreamCreated': {
      const { streamId: bytes, stream, creator, netTotalAmount, feeAmount } = event.args
      const streamId = findOwn(bytes, stream)
      return streamId === undefined
        ? undefined
        : { streamId, kind: 'created', wallet: lower(creator), amount: netTotalAmount, fee: feeAmount }
    }
    case 'FundsAdded': {
      const { streamId: bytes, stream, salt, admin, netAmount, feeAmount } = event.args
      const streamId = findOwn(bytes, stream)
      return streamId === undefined
        ? undefined
        : { streamId, kind: 'funds-added', salt, wallet: lower(admin), amount: netAmount, fee: feeAmount }
    }
    case 'FundsWithdrawn': {
      const { streamId: bytes, stream, salt, admin, to, amount } = event.args
      const streamId = findOwn(bytes, stream)
      const who = { wallet: lower(admin), receiver: lower(to) }
      return streamId === undefined ? undefined : { streamId, kind: 'funds-withdrawn', salt, ...who, amount }
    }
    default:
      return undefined
  }
}

function readStreamEvent(log: RawLog, byContract: ReadonlyMap<string, FollowedStream>): Said | undefined {
  const stream = byContract.get(log.address)
  if (!stream || log.blockNumber < stream.fromBlock) return undefined
  const { id: streamId } = stream
  const event = decode(streamAbi, streamTopics, log)
  switch (event?.eventName) {
    case 'RootUpdated': {
      const { root, timestamp, totalAllocated } = event.args
      return { streamId, kind: 'root', root, rootAt: timestamp, total: totalAllocated }
    }
    case 'RewardsClaimed': {
      const { user, amount, cumulative, timestamp } = event.args
      return { streamId, kind: 'claimed', wallet: lower(user), amount, total: cumulative, rootAt: timestamp }
    }
    case 'ClaimsPausedSet':
      return { streamId, kind: 'claims-paused', paused: event.args.paused }
    default:
      return undefined
  }
}

/** The event of a log; undefined for a log with the topic and another shape. */
function decode<const A extends Abi>(abi: A, topics: readonly string[], log: RawLog) {
  if (!topics.includes(log.topics[0] ?? '')) return undefined
  try {
    return decodeEventLog({ abi, topics: log.topics as [Hex, ...Hex[]], data: log.data as Hex, strict: true })
  } catch {
    return undefined
  }
}

const lower = (address: string): string => address.toLowerCase()
