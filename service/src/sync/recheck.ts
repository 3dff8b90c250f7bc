import { OutboundError } from '../kernel/outbound.js'
import type { Queryable, Transaction } from '../postgres/pool.js'
import type { Node } from '../rpc/node.js'
import type { Header, RawBlock, RawLog } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { completeBlocks, fetchLogs, isSame, LogsDiffer, nameLog, type Range } from './fetch.js'
import { CursorMoved } from './follow.js'
import { callsMarked, listMarks, mayHaveMarks } from './marks.js'
import type { Opened } from './projection.js'
import { rederiveFromBlock } from './rederive.js'
import type { Cursor } from './storeCursors.js'
import { listHeadersDown, listStoredLogs, readRawBlocks, recordBlocks, removeLogs } from './storeRaw.js'
import { nameSource } from './storeSources.js'
import type { Taken } from './taken.js'
import { matchLogs, type WatchList } from './watchList.js'

/** Logs read of the raw store at once. */
const logsMax = 5_000

/** What a second look at blocks found: the blocks as they are, logs that were missing, and logs that are of no block. */
export type Found = { blocks: readonly RawBlock[]; missing: RawLog[]; extra: RawLog[] }

/** Whether a log is kept: from some block on, for a source that reads it. */
export type IsKept = (log: RawLog) => boolean

export function keptSince({ full, sources }: Pick<Taken, 'full' | 'sources'>): IsKept {
  const starts = new Map(sources.flatMap((each) => (each.synced ? [[nameSource(each), each.fromBlock] as const] : [])))
  return matchLogs(
    full.flatMap(({ projection, sources: own }) =>
      own.flatMap((source) => {
        const begun = starts.get(nameSource({ projection: projection.name, key: source.key }))
        return begun === undefined ? [] : [{ ...source, fromBlock: Math.max(begun, source.fromBlock) }]
      }),
    ),
  )
}

/**
 * Reads blocks again and compares their logs with the raw store. What differs is believed only when a second read says
 * the same: another url's and the first's, or where there is one only, two of the same. `isDoubted` says whose header is
 * read too, beside those of blocks with logs, and compared with the receipts. `withMarks`: receipts that may have logs
 * which are read beside are read again too; what of these is missing is taken from them, as when they were read first.
 */
export async function compareAgain(input: {
  db: Queryable
  node: Node
  cursor: Cursor
  range: Range
  list: WatchList
  isKept: IsKept
  isDoubted: (number: number) => boolean
  withMarks?: boolean
}): Promise<Found> {
  const { db, node, cursor, range, list, isKept } = input
  const { chainId } = cursor
  if (list.addresses.length === 0) return { blocks: [], missing: [], extra: [] }
  const { from, to } = range
  const stored = await listStoredLogs(db, { chainId, from, to, addresses: list.addresses, topics: list.topics })
  const kept = new Set(stored.map(({ blockNumber }) => blockNumber))
  const byBloom = (number: number) => kept.has(number) || input.isDoubted(number)
  const { headers, logs } = await readElsewhere(node, (asked) => fetchLogs(asked, range, list, byBloom))
  const held = new Map(
    (await listHeadersDown(db, chainId, range.to, range.to - range.from + 1)).map(({ number, hash }) => [number, hash]),
  )
  if (headers.some(({ number, hash }) => (held.get(number) ?? hash) !== hash))
    throw new CursorMoved('the chain moved while it was looked at again')
  const unmarked = input.withMarks ? await findUnmarked(db, node, { chainId, range, list }) : []
  const lacking = new Set(unmarked.map(({ blockNumber }) => blockNumber))
  const differing = findWrong(headers, logs.filter(isKept), stored.filter(isKept))
  const wrong = headers.filter((header) => lacking.has(header.number) || differing.includes(header))
  if (wrong.length === 0) return { blocks: [], missing: [], extra: [] }
  // Headers of quiet final blocks are not kept: that they are of our chain, its tip says.
  const tip = await node.findHeader(cursor.blockNumber)
  if (tip?.hash !== cursor.blockHash) throw new CursorMoved('the chain moved while it was looked at again')
  const again = await fetchLogs(node, range, list, () => true)
  if (!isSame(again.logs, logs)) throw new LogsDiffer('two reads of final blocks give different logs')
  const isWrong = new Set(wrong.map(({ number }) => number))
  const ofWrong = (all: readonly RawLog[]) => all.filter((log) => isWrong.has(log.blockNumber) && isKept(log))
  const fresh = ofWrong(logs)
  const old = ofWrong(stored)
  return {
    blocks: await completeBlocks(node, wrong, fresh, list),
    missing: [...without(fresh, old), ...unmarked],
    extra: without(old, fresh),
  }
}

/** Puts blocks as they are in place of what was kept of them, and derives again from the first of them. */
export async function repair(
  tx: Transaction,
  input: { chainId: number; found: Found; all: readonly Opened[]; to: number },
): Promise<void> {
  const { chainId, found, all, to } = input
  const [first] = found.blocks
  if (!first) return
  await removeLogs(tx, chainId, found.extra)
  await recordBlocks(tx, chainId, found.blocks)
  await rederiveFromBlock(tx, { chainId, all, from: first.number, to })
}

export function describeFound({ blocks, missing, extra }: Found) {
  return { blocks: blocks.length, firstBlock: blocks[0]?.number, missingLogs: missing.length, extraLogs: extra.length }
}

/** Asks another url where there is one; one that fails says nothing, and the first is asked. */
async function readElsewhere<T>(node: Node, read: (asked: Node) => Promise<T>): Promise<T> {
  const other = node.secondary()
  if (!other) return read(node)
  try {
    return await read(other)
  } catch (error) {
    if (!(error instanceof OutboundError) && !(error instanceof RpcError)) throw error
    return read(node)
  }
}

/** Logs of kept transactions that are read beside and are not kept: their source came after the blocks were read. */
async function findUnmarked(
  db: Queryable,
  node: Node,
  { chainId, range, list }: { chainId: number; range: Range; list: WatchList },
): Promise<RawLog[]> {
  const missing: RawLog[] = []
  for (let from: number | undefined = range.from; from !== undefined; ) {
    const { blocks, next } = await readRawBlocks(db, { chainId, from, to: range.to, logsMax })
    const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]))
    const kept = new Set(blocks.flatMap(({ logs }) => logs.map(nameLog)))
    const asked = blocks.flatMap(({ transactions }) =>
      transactions.filter((transaction) => mayHaveMarks(transaction, list) || callsMarked(transaction, list)),
    )
    const marks = await listMarks(node, asked, list, (number) => hashes.get(number) ?? '')
    missing.push(...marks.filter((mark) => !kept.has(nameLog(mark))))
    from = next
  }
  return missing
}

/** Headers of blocks whose logs are not those kept. */
function findWrong(headers: readonly Header[], fresh: readonly RawLog[], stored: readonly RawLog[]): Header[] {
  const byBlock = (logs: readonly RawLog[]) => {
    const found = new Map<number, RawLog[]>()
    for (const log of logs) {
      const own = found.get(log.blockNumber)
      if (own) own.push(log)
      else found.set(log.blockNumber, [log])
    }
    return found
  }
  const [now, then] = [byBlock(fresh), byBlock(stored)]
  return headers.filter(({ number }) => !isSame(now.get(number) ?? [], then.get(number) ?? []))
}

function without(logs: readonly RawLog[], others: readonly RawLog[]): RawLog[] {
  return logs.filter((log) => !others.some((other) => isSame([log], [other])))
}
