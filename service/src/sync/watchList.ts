import type { RawLog, RawTransaction } from '../rpc/raw.js'
import type { Source } from './projection.js'

/** What a log is known by to whoever may want it. */
type Known = Pick<RawLog, 'address' | 'topics' | 'blockNumber'>

/** What is read of a chain, put together from all sources. */
export type WatchList = {
  /** What a node is asked for: logs of any of these contracts with any of these first topics. */
  addresses: readonly string[]
  topics: readonly string[]
  /** Whether a source reads a log; a node is asked for more where sources differ in their topics or first blocks. */
  isWanted(log: Known): boolean
  /** Whether the transaction of a log is kept with its calldata. */
  keepsCalldata(log: Known): boolean
  /** Logs kept beside those: of kept transactions whose receipt may have some. */
  beside: readonly Beside[]
}

type Beside = {
  addresses: ReadonlySet<string>
  topics: ReadonlySet<string>
  mayHave(transaction: Pick<RawTransaction, 'to' | 'input'>): boolean
}

export function createWatchList(sources: readonly Source[]): WatchList {
  const own = sources.filter((source) => !source.beside)
  return {
    addresses: [...new Set(own.flatMap(({ addresses }) => addresses))],
    topics: [...new Set(own.flatMap(({ topics }) => topics))],
    isWanted: matchLogs(own),
    keepsCalldata: matchLogs(own.map((source) => ({ ...source, topics: source.calldata }))),
    beside: sources.flatMap(({ addresses, topics, beside }) =>
      beside ? [{ addresses: new Set(addresses), topics: new Set(topics), mayHave: beside }] : [],
    ),
  }
}

/** Whether a log is of one of these sources. */
export function matchLogs(
  sources: readonly Pick<Source, 'addresses' | 'topics' | 'fromBlock'>[],
): (log: Known) => boolean {
  const starts = new Map<string, Map<string, number>>()
  for (const { addresses, topics, fromBlock } of sources)
    for (const address of addresses) {
      const ofAddress = starts.get(address) ?? new Map<string, number>()
      starts.set(address, ofAddress)
      for (const topic of topics) ofAddress.set(topic, Math.min(fromBlock, ofAddress.get(topic) ?? fromBlock))
    }
  return ({ address, topics, blockNumber }) => {
    const start = starts.get(address)?.get(topics[0] ?? '')
    return start !== undefined && blockNumber >= start
  }
}
