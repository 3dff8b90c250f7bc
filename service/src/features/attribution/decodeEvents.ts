import { type Abi, decodeEventLog, erc20Abi, getAddress, type Hex } from 'viem'
import type { RawLog } from '../../rpc/raw.js'
import { listEvents, vaultKinds } from '../../vaults/index.js'
import type { DecodedEvent } from './schema.js'

const knownEvents: Abi = [...erc20Abi.filter((item) => item.type === 'event'), ...vaultKinds.flatMap(listEvents)]

/** The logs that are events of a token or of a vault kind, in order; integers as decimal strings. Others are left out. */
export function decodeEvents(logs: readonly RawLog[]): DecodedEvent[] {
  return logs.flatMap((log) => {
    const [first, ...rest] = log.topics as Hex[]
    if (first === undefined) return []
    try {
      const { eventName, args } = decodeEventLog({ abi: knownEvents, topics: [first, ...rest], data: log.data as Hex })
      const named = Object.entries(args ?? {}).map(([name, value]) => [name, formatArgument(value)] as const)
      const { logIndex } = log
      return [{ address: getAddress(log.address), logIndex, name: String(eventName), args: Object.fromEntries(named) }]
    } catch {
      return []
    }
  })
}

function formatArgument(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
