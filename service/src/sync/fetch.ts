import { OutboundError } from '../kernel/outbound.js'
import { hasBits, isExplained, mayHold } from '../rpc/bloom.js'
import type { CallPaths } from '../rpc/callPaths.js'
import { inTurn } from '../rpc/inTurn.js'
import type { Node, WantedTransaction } from '../rpc/node.js'
import { assembleBlocks, type Header, type RawBlock, type RawLog, type RawTransaction } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import type { WantedTrace } from '../rpc/tracer.js'
import { callsMarked, listMarks, mayHaveMarks } from './marks.js'
import type { WatchList } from './watchList.js'

export type Range = { from: number; to: number }

/** How the logs of a range are checked before they are believed. */
export type Checks = {
  /** Blocks whose header is read, and whose logs are compared with their receipts where its bloom may hold one of ours. */
  byBloom?: (number: number) => boolean
  /** Reads the logs a second time: from another url, or, with one url, with other bounds. */
  twice?: boolean
}

/** The logs of a node contradict each other: some are missing or invented. */
export class LogsDiffer extends OutboundError {
  constructor(message: string) {
    super('malformed', message)
  }
}

/** How long a block at the head waits for its traces. After that it is derived without them, and again when they arrive. */
const headTraceMs = 400

/** Whole blocks asked for at a time. */
const blocksInFlight = 8

/**
 * Everything kept of one block whose header is known. Logs are asked for by block hash, so they cannot be another's, and
 * compared with the block's receipts, so that no log is missing or invented. A header that rules out a log of ours is
 * believed until the second look at the final block. `makesBlooms`: the chain is known to make blooms, so that an empty one
 * is evidence.
 */
export async function fetchBlock(
  node: Node,
  header: Header,
  list: WatchList,
  { makesBlooms = false }: { makesBlooms?: boolean } = {},
): Promise<RawBlock> {
  const { bloom } = header
  const isRuledOut = header.isEmpty || (bloom && (makesBlooms || hasBits(bloom)) && !mayHaveLogs(header, list))
  if (list.addresses.length === 0 || isRuledOut) return { ...header, logs: [], transactions: [] }
  const [logs, all] = await Promise.all([
    node.listLogs({ addresses: list.addresses, topics: list.topics, blockHash: header.hash }),
    node.listBlockLogs(header.hash),
  ])
  if (all) assertSameLogs(header, logs, all, list)
  const [block] = await completeBlocks(node, [header], logs, list, { receipts: all, deadlineMs: headTraceMs })
  if (!block) throw new OutboundError('malformed', 'a block was lost')
  return block
}

/** Blocks with facts of a range that is too deep to change, and the header of its last block. */
export async function fetchRange(
  node: Node,
  range: Range,
  list: WatchList,
  checks: Checks = {},
): Promise<{ blocks: RawBlock[]; last: Header }> {
  const read = await readRange(node, range, list, checks)
  const [blocks] = await Promise.all([
    completeBlocks(node, read.headers, read.logs, list),
    compareWithReceipts(node, read, list),
  ])
  return { blocks: blocks.filter((block) => block.logs.length > 0), last: read.last }
}

/**
 * The logs of a range, and the headers of blocks with logs and of the sampled blocks, whose logs are compared with their
 * receipts if they may have a log of ours.
 */
export async function fetchLogs(
  node: Node,
  range: Range,
  list: WatchList,
  byBloom: (number: number) => boolean,
): Promise<{ headers: Header[]; logs: RawLog[] }> {
  const read = await readRange(node, range, list, { byBloom })
  await compareWithReceipts(node, read, list)
  return read
}

/**
 * `headers`: of the blocks with logs and of the last block. `compared`: of blocks whose receipts are read. `disputed`: blocks
 * whose two reads differ.
 */
type RangeRead = {
  logs: RawLog[]
  headers: Header[]
  compared: Header[]
  disputed: ReadonlySet<number>
  last: Header
}

const nothing: ReadonlySet<number> = new Set()

async function readRange(
  node: Node,
  range: Range,
  list: WatchList,
  checks: Checks,
  disputed = nothing,
): Promise<RangeRead> {
  const { addresses, topics } = list
  const isWatching = addresses.length > 0
  const asked = isWatching && checks.byBloom ? listNumbers(range).filter(checks.byBloom) : []
  const [{ logs, hashes, last }, early, again] = await Promise.all([
    node.listRange({ addresses, topics, fromBlock: range.from, toBlock: range.to }),
    asked.length > 0 ? node.listHeaders(asked) : [],
    isWatching && checks.twice ? readAgain(node, range, list) : undefined,
  ])
  const numbers = new Set(logs.map((log) => log.blockNumber))
  if ([...numbers].some((number) => number < range.from || number > range.to))
    throw new OutboundError('malformed', 'a node gave logs outside the range asked')
  // The headers and receipts of all blocks decide which of two reads is incomplete.
  if (again && !isSame(again, logs)) {
    const told = new Set([...again, ...logs].map((log) => log.blockNumber))
    const of = (all: readonly RawLog[], number: number) => all.filter((log) => log.blockNumber === number)
    const differing = [...told].filter((number) => !isSame(of(again, number), of(logs, number)))
    return readRange(node, range, list, { byBloom: () => true }, new Set(differing))
  }
  const known = new Map(early.map((header) => [header.number, header]))
  if ((known.get(last.number)?.hash ?? last.hash) !== last.hash)
    throw new OutboundError('malformed', 'a node gave two blocks of one number')
  known.set(last.number, last)
  const missing = [...numbers].filter((number) => !known.has(number)).sort((a, b) => a - b)
  for (const header of await node.listHeaders(missing)) known.set(header.number, header)
  // Headers come from other calls, perhaps from a node on another branch: a transaction may be in a block of either branch.
  for (const { number, hash, parentHash } of known.values())
    if ((hashes.get(number) ?? hash) !== hash || (known.get(number - 1)?.hash ?? parentHash) !== parentHash)
      throw new OutboundError('malformed', 'a node gave logs and the header of a block that do not belong together')
  const headers = [...known.values()].sort((a, b) => a.number - b.number)
  const isAsked = new Set(asked)
  // Blocks with logs and an empty bloom: this chain makes none.
  const hasBlooms = !headers.some(({ number, bloom }) => numbers.has(number) && bloom && !hasBits(bloom))
  const isCompared = (header: Header) =>
    !hasBlooms || numbers.has(header.number) || disputed.has(header.number) || mayHaveLogs(header, list)
  const compared = headers.filter((header) => isAsked.has(header.number) && isCompared(header))
  return { logs, headers, compared, disputed, last }
}

/**
 * Reads the same logs from another url, or, if no other responds, from the same url with other bounds: a node that truncates
 * its responses, or omits logs at random, does not omit the same logs twice.
 */
async function readAgain(node: Node, { from, to }: Range, { addresses, topics }: WatchList): Promise<RawLog[]> {
  const read = async (asked: Node, fromBlock: number, toBlock: number): Promise<RawLog[]> =>
    (await asked.listRange({ addresses, topics, fromBlock, toBlock })).logs
  const other = node.secondary()
  // If it does not respond, the first read stands.
  const theirs = await (other && read(other, from, to).catch(() => undefined))
  if (theirs) return theirs
  if (from === to) return read(node, from, to)
  const middle = Math.floor((from + to) / 2)
  return (await Promise.all([read(node, from, middle), read(node, middle + 1, to)])).flat()
}

/** Whether a bloom allows a log of ours; without a usable bloom a block may have one. */
function mayHaveLogs({ bloom }: Header, { addresses, topics }: WatchList): boolean {
  if (!bloom) return true
  return addresses.some((address) => mayHold(bloom, address)) && topics.some((topic) => mayHold(bloom, topic))
}

async function compareWithReceipts(node: Node, read: RangeRead, list: WatchList): Promise<void> {
  const { compared, logs, disputed } = read
  const own = new Map<number, RawLog[]>(compared.map(({ number }) => [number, []]))
  for (const log of logs) own.get(log.blockNumber)?.push(log)
  await inTurn(compared, blocksInFlight, async (header) => {
    const all = (await node.listBlockLogs(header.hash)) ?? (await node.secondary()?.listBlockLogs(header.hash))
    if (all) assertSameLogs(header, own.get(header.number) ?? [], all, list)
    // Without a bloom, or receipts that fit it, neither read can be proved.
    if (disputed.has(header.number) && !(all && header.bloom && hasBits(header.bloom)))
      throw new LogsDiffer(`two nodes, or two answers of one, give different logs of block ${header.number}`)
  })
}

function listNumbers({ from, to }: Range): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Throws if the logs of a node do not fit the filter. */
function assertSameLogs(header: Header, filtered: readonly RawLog[], all: readonly RawLog[], list: WatchList): void {
  const { bloom } = header
  // A node may announce a block before it has its receipts, and then returns empty lists by both methods.
  if (all.length === 0 && bloom && hasBits(bloom))
    throw new LogsDiffer('a node gave no logs of a block whose bloom has some')
  // A log that is missing in logs and receipts is still in the bloom, which also covers contracts that are not watched.
  if (bloom && mayHaveLogs(header, list) && !isExplained(bloom, all))
    throw new LogsDiffer(`a node gave receipts of block ${header.number} that do not fit its bloom`)
  const addresses = new Set(list.addresses)
  const wanted = new Set(list.topics)
  const expected = all.filter(({ address, topics }) => addresses.has(address) && wanted.has(topics[0] ?? ''))
  if (!isSame(filtered, expected))
    throw new LogsDiffer('a node gave logs of a block that are not those of its receipts')
}

/** Whether two ordered lists of logs are equal. */
export function isSame(some: readonly RawLog[], others: readonly RawLog[]): boolean {
  return (
    some.length === others.length &&
    some.every((log, index) => {
      const other = others[index]
      return (
        other !== undefined &&
        log.blockNumber === other.blockNumber &&
        log.logIndex === other.logIndex &&
        log.transactionHash === other.transactionHash &&
        log.address === other.address &&
        log.data === other.data &&
        log.topics.length === other.topics.length &&
        log.topics.every((topic, at) => topic === other.topics[at])
      )
    })
  )
}

/**
 * Keeps the wanted logs, and adds their transactions, the marks of these (logs of their receipts that a source keeps only in
 * kept transactions) and the traces that are needed. `receipts` are all logs of the blocks, where they are known.
 */
export async function completeBlocks(
  node: Node,
  headers: readonly Header[],
  filtered: readonly RawLog[],
  list: WatchList,
  { receipts, deadlineMs }: { receipts?: readonly RawLog[] | undefined; deadlineMs?: number } = {},
): Promise<RawBlock[]> {
  const logs = filtered.filter(list.isWanted)
  const hashes = new Map(headers.map(({ number, hash }) => [number, hash]))
  const wanted = new Map<string, WantedTransaction>()
  for (const log of logs) {
    const { transactionHash: hash, blockNumber } = log
    if (list.keepsCalldata(log)) wanted.set(hash, { hash, blockHash: hashes.get(blockNumber) ?? '' })
  }
  const transactions = await node.listTransactions([...wanted.values()])
  const places = new Map(logs.map((log) => [log.transactionHash, log]))
  for (const { hash, blockNumber, transactionIndex } of transactions) {
    const log = places.get(hash)
    if (log?.blockNumber !== blockNumber || log.transactionIndex !== transactionIndex)
      throw new OutboundError('malformed', 'a node places a transaction and its logs differently')
  }
  const bundles = transactions.filter((transaction) => mayHaveMarks(transaction, list))
  const known = new Set(logs.map(nameLog))
  const readMarks = async (some: readonly RawTransaction[]): Promise<RawLog[]> => {
    const marks = await listMarks(node, some, list, (number) => hashes.get(number) ?? '')
    return marks.filter((mark) => !known.has(nameLog(mark)))
  }
  const told = [...logs, ...(await readMarks(bundles))].sort(inOrder)
  transactions.sort((a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex)
  const [traces, contracts] = await Promise.all([
    traceTransactions(node, transactions, told, { list, hashes, receipts, deadlineMs }),
    readCodes(node, transactions, told, { list, hashes }),
  ])
  const evident = transactions.map((each) => {
    const [evidence, own] = [traces.get(each.hash), contracts.get(each.hash)]
    return evidence || own ? { ...each, ...(evidence ? { evidence } : {}), ...(own ? { contracts: own } : {}) } : each
  })
  // Calls that the input does not show: a contract assembled the operations itself.
  const hidden = evident.filter(
    (transaction) => callsMarked(transaction, list) && !bundles.some(({ hash }) => hash === transaction.hash),
  )
  const all = hidden.length > 0 ? [...told, ...(await readMarks(hidden))].sort(inOrder) : told
  return assembleBlocks(headers, all, evident)
}

export const nameLog = ({ blockNumber, logIndex }: RawLog): string => `${blockNumber}:${logIndex}`
const inOrder = (a: RawLog, b: RawLog): number => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex

/** Which of the wallets have code, by transaction. Wallets for which no node responds are missing. */
async function readCodes(
  node: Node,
  transactions: readonly RawTransaction[],
  logs: readonly RawLog[],
  { list, hashes }: { list: WatchList; hashes: ReadonlyMap<number, string> },
): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>()
  const own = groupByTransaction(logs)
  const asked = transactions.flatMap((transaction) => {
    const blockHash = hashes.get(transaction.blockNumber) ?? ''
    const wallets = list.keepers(transaction, own.get(transaction.hash) ?? [])
    return wallets.map((wallet) => ({ hash: transaction.hash, wallet, blockHash }))
  })
  if (asked.length === 0 || !node.haveCode) return found
  const answers = await node.haveCode(asked).catch((error: unknown) => {
    // A node without the state of that block cannot respond: the code stays unknown.
    if (error instanceof RpcError || error instanceof OutboundError) return undefined
    throw error
  })
  for (const [at, { hash, wallet }] of asked.entries()) {
    if (!answers) break
    const contracts = found.get(hash) ?? []
    if (answers[at]) contracts.push(wallet)
    found.set(hash, contracts)
  }
  return found
}

/** Traces of the transactions that need one, as far as nodes return them. Missing traces are requested later. */
async function traceTransactions(
  node: Node,
  transactions: readonly RawTransaction[],
  logs: readonly RawLog[],
  input: {
    list: WatchList
    hashes: ReadonlyMap<number, string>
    receipts: readonly RawLog[] | undefined
    deadlineMs: number | undefined
  },
): Promise<ReadonlyMap<string, CallPaths>> {
  const { list, hashes, receipts, deadlineMs } = input
  if (node.tracer?.evidence() !== 'trace') return new Map()
  const [own, whole] = [groupByTransaction(logs), receipts && groupByTransaction(receipts)]
  const wanted = transactions.flatMap((transaction): WantedTrace[] => {
    const kept = own.get(transaction.hash) ?? []
    if (!list.needsTrace(transaction, kept)) return []
    const receipt = whole?.get(transaction.hash)
    const blockHash = hashes.get(transaction.blockNumber) ?? ''
    return [{ transaction, blockHash, logs: kept, isOurs: list.isOurs, ...(receipt ? { receipt } : {}) }]
  })
  if (wanted.length === 0) return new Map()
  return node.tracer.trace(wanted, { hurry: true, ...(deadlineMs === undefined ? {} : { deadlineMs }) })
}

export function groupByTransaction(logs: readonly RawLog[]): Map<string, RawLog[]> {
  const groups = new Map<string, RawLog[]>()
  for (const log of logs) {
    const own = groups.get(log.transactionHash)
    if (own) own.push(log)
    else groups.set(log.transactionHash, [log])
  }
  return groups
}
