import { OutboundError } from '../kernel/outbound.js'
import { mayCarryAttribution, mayHoldOperation } from './attribution/index.js'
import type { Node, WantedTransaction } from './node.js'
import { assembleBlocks, type Header, type RawBlock, type RawLog } from './raw.js'

/** What is read of a chain: contracts, first topics, and which events make a transaction's calldata worth keeping. */
export type WatchList = {
  addresses: readonly string[]
  topics: readonly string[]
  callTopics: ReadonlySet<string>
  /** Entry points whose logs split a bundle, lower-case, and the first topics of those logs. */
  entryPoints: ReadonlySet<string>
  operationTopics: ReadonlySet<string>
}

/** Receipts of bundles asked for at a time. */
const receiptsInFlight = 16

/**
 * Everything kept of one block whose header is known. Logs are asked for by block hash, so they cannot be another's, and
 * compared with the block's receipts, so that none is left out or invented.
 */
export async function fetchBlock(node: Node, header: Header, list: WatchList): Promise<RawBlock> {
  if (list.addresses.length === 0) return { ...header, logs: [], transactions: [] }
  const [logs, all] = await Promise.all([
    node.listLogs({ addresses: list.addresses, topics: list.topics, blockHash: header.hash }),
    node.listBlockLogs(header.hash),
  ])
  if (all) assertSameLogs(header, logs, all, list)
  const [block] = await complete(node, [header], logs, list)
  if (!block) throw new OutboundError('malformed', 'a block was lost')
  return block
}

/**
 * Blocks with facts of a range that is too deep to change, and the header of its last block. With `check` the logs of
 * the blocks found, and of the last, are compared with their receipts.
 */
export async function fetchRange(
  node: Node,
  range: { from: number; to: number },
  list: WatchList,
  options: { check?: boolean } = {},
): Promise<{ blocks: RawBlock[]; last: Header }> {
  const { addresses, topics } = list
  const { logs, hashes, last } = await node.listRange({ addresses, topics, fromBlock: range.from, toBlock: range.to })
  const numbers = new Set(logs.map((log) => log.blockNumber))
  if ([...numbers].some((number) => number < range.from || number > range.to))
    throw new OutboundError('malformed', 'a node gave logs outside the range asked')
  numbers.delete(range.to)
  const headers = [...(await node.listHeaders([...numbers].sort((a, b) => a - b))), last]
  // Asked in another call, perhaps of a node on another branch: the same transaction may be in a block of either.
  if (headers.some(({ number, hash }) => (hashes.get(number) ?? hash) !== hash))
    throw new OutboundError('malformed', 'a node gave logs and the header of a block that do not belong together')
  if (options.check) {
    for (const header of headers) {
      const all = await node.listBlockLogs(header.hash)
      const own = logs.filter(({ blockNumber }) => blockNumber === header.number)
      if (all) assertSameLogs(header, own, all, list)
    }
    // Blocks whose logs are all left out are not among those found; a second node knows of them.
    const other = node.elsewhere()
    const again = await other?.listRange({ addresses, topics, fromBlock: range.from, toBlock: range.to }).catch(() => {
      // One that does not answer says nothing against the first.
      return undefined
    })
    if (again && textOf(again.logs) !== textOf(logs))
      throw new OutboundError('malformed', 'two nodes give different logs of the same blocks')
  }
  const blocks = await complete(node, headers, logs, list)
  return { blocks: blocks.filter((block) => block.logs.length > 0), last }
}

/** Throws when what a node filtered is not what it should have been. */
function assertSameLogs(header: Header, filtered: readonly RawLog[], all: readonly RawLog[], list: WatchList): void {
  // A node may tell of a block before it has its receipts, and then gives none, by either way.
  if (all.length === 0 && header.hasLogs)
    throw new OutboundError('malformed', 'a node gave no logs of a block whose bloom has some')
  const addresses = new Set(list.addresses)
  const wanted = new Set(list.topics)
  const expected = all.filter(({ address, topics }) => addresses.has(address) && wanted.has(topics[0] ?? ''))
  if (textOf(filtered) !== textOf(expected))
    throw new OutboundError('malformed', 'a node gave logs of a block that are not those of its receipts')
}

function textOf(logs: readonly RawLog[]): string {
  const texts = logs.map(({ logIndex, transactionHash, address, topics, data }) =>
    [logIndex, transactionHash, address, topics.join(), data].join(':'),
  )
  return texts.join()
}

/** Adds the transactions that matter, and for bundles of user operations the events that split them. */
async function complete(
  node: Node,
  headers: readonly Header[],
  logs: readonly RawLog[],
  list: WatchList,
): Promise<RawBlock[]> {
  const hashes = new Map(headers.map(({ number, hash }) => [number, hash]))
  const wanted = new Map<string, WantedTransaction>()
  for (const { topics, transactionHash: hash, blockNumber } of logs)
    if (list.callTopics.has(topics[0] ?? '')) wanted.set(hash, { hash, blockHash: hashes.get(blockNumber) ?? '' })
  const transactions = await node.listTransactions([...wanted.values()])
  const places = new Map(logs.map((log) => [log.transactionHash, log]))
  for (const { hash, blockNumber, transactionIndex } of transactions) {
    const log = places.get(hash)
    if (log?.blockNumber !== blockNumber || log.transactionIndex !== transactionIndex)
      throw new OutboundError('malformed', 'a node places a transaction and its logs differently')
  }
  const bundles = transactions.filter(({ to, input }) => isBundle(to, input, list))
  const marks: RawLog[] = []
  for (let at = 0; at < bundles.length; at += receiptsInFlight) {
    const some = bundles.slice(at, at + receiptsInFlight)
    const found = await Promise.all(
      some.map(({ hash, blockNumber }) => node.listReceiptLogs({ hash, blockHash: hashes.get(blockNumber) ?? '' })),
    )
    marks.push(...found.flat())
  }
  const operations = marks.filter(
    ({ topics, address }) => list.operationTopics.has(topics[0] ?? '') && list.entryPoints.has(address),
  )
  const known = new Set(logs.map((log) => `${log.blockNumber}:${log.logIndex}`))
  const all = [...logs, ...operations.filter((log) => !known.has(`${log.blockNumber}:${log.logIndex}`))]
  all.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  transactions.sort((a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex)
  return assembleBlocks(headers, all, transactions)
}

/** Whether a transaction may run user operations: sent to an entry point, or with one's encoded form and a code in it. */
function isBundle(to: string | null, input: string, list: WatchList): boolean {
  if (to === null) return false
  return list.entryPoints.has(to) || (mayCarryAttribution(input as `0x${string}`) && mayHoldOperation(input))
}
