import type { RawLog, RawTransaction } from '../rpc/raw.js'
import type { Source } from './projection.js'

/** What is read of a chain, put together from all sources. */
export type WatchList = {
  /** What a node is asked for: logs of any of these contracts with any of these first topics. */
  addresses: readonly string[]
  topics: readonly string[]
  /** Whether a source reads a log; a node is asked for more where sources differ in their topics. */
  isWanted(log: Pick<RawLog, 'address' | 'topics'>): boolean
  /** Whether the transaction of a log is kept with its calldata. */
  keepsCalldata(log: Pick<RawLog, 'address' | 'topics'>): boolean
  /** Logs kept beside those: of kept transactions whose receipt may have some. */
  beside: readonly Beside[]
}

type Beside = {
  addresses: ReadonlySet<string>
  topics: ReadonlySet<string>
  mayHave(transaction: Pick<RawTransaction, 'to' | 'input'>): boolean
}

type TopicsOf = ReadonlyMap<string, ReadonlySet<string>>

export function createWatchList(sources: readonly Source[]): WatchList {
  const own = sources.filter((source) => !source.beside)
  const read = groupTopics(own.map(({ addresses, topics }) => ({ addresses, topics })))
  const called = groupTopics(own.map(({ addresses, calldata }) => ({ addresses, topics: calldata })))
  const has = (of: TopicsOf, { address, topics }: Pick<RawLog, 'address' | 'topics'>) =>
    of.get(address)?.has(topics[0] ?? '') ?? false
  return {
    addresses: [...read.keys()],
    topics: [...new Set(own.flatMap(({ topics }) => topics))],
    isWanted: (log) => has(read, log),
    keepsCalldata: (log) => has(called, log),
    beside: sources.flatMap(({ addresses, topics, beside }) =>
      beside ? [{ addresses: new Set(addresses), topics: new Set(topics), mayHave: beside }] : [],
    ),
  }
}

/** By address, the first topics that are read of it. */
export function groupTopics(all: readonly Pick<Source, 'addresses' | 'topics'>[]): Map<string, Set<string>> {
  const topicsOf = new Map<string, Set<string>>()
  for (const { addresses, topics } of all)
    for (const address of addresses) {
      const known = topicsOf.get(address)
      if (known) for (const topic of topics) known.add(topic)
      else topicsOf.set(address, new Set(topics))
    }
  return topicsOf
}
