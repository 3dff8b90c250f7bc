import type { RawLog, RawTransaction } from '../rpc/raw.js'
import type { ListKeepers, NeedsTrace, Source } from './projection.js'

/** The members of a log that decide whether a source wants it. */
type Known = Pick<RawLog, 'address' | 'topics' | 'blockNumber'>

/** The logs to read of a chain, merged from all sources. */
export type WatchList = {
  /** The request to a node: logs of any of these contracts with any of these first topics. */
  addresses: readonly string[]
  topics: readonly string[]
  /** Whether a source reads a log; a node is asked for more where sources differ in their topics or first blocks. */
  isWanted(log: Known): boolean
  /** Whether the transaction of a log is kept with its calldata. */
  keepsCalldata(log: Known): boolean
  /** Marks: logs that are kept only in transactions that another source keeps. */
  beside: readonly Beside[]
  /** Whether a kept transaction with these kept logs is to be traced. */
  needsTrace: NeedsTrace
  /** Wallets of such a transaction about whose code a node is asked. */
  keepers: ListKeepers
  /** Whether a log is of any source there is, also of one that is read elsewhere: a trace is kept for all of them. */
  isOurs(log: Known): boolean
}

type Beside = {
  addresses: ReadonlySet<string>
  topics: ReadonlySet<string>
  mayHave(transaction: Pick<RawTransaction, 'to' | 'input'>): boolean
}

/** `all` are the sources there are, where the list is of some of them. */
export function createWatchList(sources: readonly Source[], all: readonly Source[] = sources): WatchList {
  const own = sources.filter((source) => !source.beside)
  return {
    addresses: [...new Set(own.flatMap(({ addresses }) => addresses))],
    topics: [...new Set(own.flatMap(({ topics }) => topics))],
    isWanted: matchLogs(own),
    keepsCalldata: matchLogs(own.map((source) => ({ ...source, topics: source.calldata }))),
    beside: sources.flatMap(({ addresses, topics, beside }) =>
      beside ? [{ addresses: new Set(addresses), topics: new Set(topics), mayHave: beside }] : [],
    ),
    ...joinQuestions(own),
    isOurs: matchLogs(all),
  }
}

/** Each distinct question is asked once, of transactions with a log for which a source that asks it keeps calldata. */
function joinQuestions(sources: readonly Source[]): Pick<WatchList, 'needsTrace' | 'keepers'> {
  const needs = groupQuestions(sources, ({ needsTrace }) => needsTrace)
  const keepers = groupQuestions(sources, (source) => source.keepers)
  return {
    needsTrace: (transaction, logs) => needs.some(({ ask, concerns }) => logs.some(concerns) && ask(transaction, logs)),
    keepers: (transaction, logs) => {
      const asked = keepers.flatMap(({ ask, concerns }) => (logs.some(concerns) ? ask(transaction, logs) : []))
      return [...new Set(asked)]
    },
  }
}

function groupQuestions<Ask>(sources: readonly Source[], read: (source: Source) => Ask | undefined) {
  const groups = new Map<Ask, Source[]>()
  for (const source of sources) {
    const ask = read(source)
    if (!ask) continue
    const own = groups.get(ask)
    if (own) own.push(source)
    else groups.set(ask, [source])
  }
  return [...groups].map(([ask, own]) => ({
    ask,
    concerns: matchLogs(own.map((source) => ({ ...source, topics: source.calldata }))),
  }))
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
