import type { Queryable } from '../../postgres/pool.js'
import type { Node } from '../../rpc/node.js'
import type { Header, RawBlock, RawLog, RawTransaction } from '../../rpc/raw.js'
import { asksTooMuch, CursorMoved, isOfNode } from '../failures.js'
import { completeBlocks, fetchLogs, isSame, LogsDiffer, nameLog, type Range } from '../fetch.js'
import { callsMarked, listMarks, mayHaveMarks } from '../marks.js'
import { recordObservations } from '../observations.js'
import type { Opened } from '../projection.js'
import { rederiveFromBlock } from '../rederive.js'
import type { Standing, State } from '../state.js'
import { type Cursor, recordChecked } from '../storeCursors.js'
import {
  findEndOfWindow,
  listHeadersDown,
  listStoredLogs,
  readRawBlocks,
  recordBlocks,
  removeLogs,
} from '../storeRaw.js'
import { nameSource } from '../storeSources.js'
import type { Taken } from '../taken.js'
import { matchLogs, type WatchList } from '../watchList.js'
import { isDoubted, type Reading, type Writing } from './step.js'
import { noteAwaited } from './traces.js'

/** Logs read of the raw store at once. */
const logsMax = 5_000
/**
 * The most blocks with logs of ours in a window; without a limit while more than `farFrom` blocks wait. If a node refuses a
 * window, half as many blocks are requested, down to `least`.
 */
const recheckWindow = { withLogs: 32, farFrom: 2_000, least: 32 }

/** The stored data of blocks that are read again. */
export type StoredRange = {
  range: Range
  logs: readonly RawLog[]
  hashes: ReadonlyMap<number, string>
  /** If receipts are read again: the transactions that may have marks, and the stored logs. */
  marks?: { transactions: readonly (RawTransaction & { blockHash: string })[]; kept: ReadonlySet<string> }
}

/** Result of a second look: the blocks as read, logs that were missing, and stored logs that belong to no block. */
export type Found = { blocks: readonly RawBlock[]; missing: RawLog[]; extra: RawLog[] }

const nothing: Found = { blocks: [], missing: [], extra: [] }

/** The next final blocks for a second look, with their stored data; or undefined. */
export async function loadRecheck(db: Queryable, state: Standing): Promise<StoredRange | undefined> {
  const { cursor, memory, held } = state
  const { chainId } = cursor
  const end = finalEnd(state)
  const from = cursor.checkedTo + 1
  if (from > end) return undefined
  const most = Math.min(end, from + memory.again.blocks - 1)
  const isFar = end - from > recheckWindow.farFrom
  const to = isFar ? most : await findEndOfWindow(db, { chainId, from, to: most, withLogs: recheckWindow.withLogs })
  return loadStored(db, { chainId, range: { from, to }, list: held.taken.list })
}

/** Up to where blocks wait for a second look. */
export function finalEnd({ cursor }: Pick<State, 'cursor'>): number {
  return Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber)
}

/** The stored data of a range. `withMarks`: receipts that may have marks are read again too. */
export async function loadStored(
  db: Queryable,
  input: { chainId: number; range: Range; list: WatchList; withMarks?: boolean },
): Promise<StoredRange> {
  const { chainId, range, list, withMarks } = input
  const { addresses, topics } = list
  if (addresses.length === 0) return { range, logs: [], hashes: new Map() }
  const logs = await listStoredLogs(db, { chainId, ...range, addresses, topics })
  const headers = await listHeadersDown(db, chainId, range.to, range.to - range.from + 1)
  const hashes = new Map(headers.map(({ number, hash }) => [number, hash]))
  return { range, logs, hashes, ...(withMarks ? { marks: await loadMarks(db, { chainId, range, list }) } : {}) }
}

async function loadMarks(
  db: Queryable,
  { chainId, range, list }: { chainId: number; range: Range; list: WatchList },
): Promise<NonNullable<StoredRange['marks']>> {
  const asked: (RawTransaction & { blockHash: string })[] = []
  const kept = new Set<string>()
  for (let from: number | undefined = range.from; from !== undefined; ) {
    const { blocks, next } = await readRawBlocks(db, { chainId, from, to: range.to, logsMax })
    for (const { hash: blockHash, transactions, logs } of blocks) {
      for (const log of logs) kept.add(nameLog(log))
      for (const each of transactions)
        if (mayHaveMarks(each, list) || callsMarked(each, list)) asked.push({ ...each, blockHash })
    }
    from = next
  }
  return { transactions: asked, kept }
}

/** Reads the blocks again. If a node refuses the size of the range, the next range is smaller. */
export async function readRecheck(by: Reading, state: State, stored: StoredRange): Promise<Found> {
  const { cursor, memory, held } = state
  const { followedFrom } = cursor
  // Blocks that were read at the head were compared with their headers then.
  const isClose = (number: number) => number < followedFrom || isDoubted(by, state, number)
  try {
    const { list } = held.taken
    return await compareAgain({
      node: by.node,
      cursor,
      stored,
      list,
      isKept: keptSince(held.taken),
      isDoubted: isClose,
    })
  } catch (error) {
    const { again } = memory
    if (asksTooMuch(error)) again.blocks = Math.max(recheckWindow.least, Math.floor(again.blocks / 2))
    throw error
  }
}

/** Corrects wrong blocks, and records the second look. */
export async function commitRecheck(
  to: Writing,
  state: Standing,
  { found, checkedTo }: { found: Found; checkedTo: number },
): Promise<void> {
  const { chainId } = state.cursor
  const { opened, list } = state.held.taken
  await repair(to, { chainId, found, all: opened, to: state.cursor.blockNumber })
  await noteAwaited(to, state, found.blocks, list)
  await recordChecked(to.tx, chainId, checkedTo)
}

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
 * Reads blocks again and compares their logs with the stored logs. A difference is believed only if two reads agree: of two
 * urls, or, with one url, two of the same. `isDoubted` selects blocks whose header is read too, in addition to those with
 * logs, and compared with the receipts.
 */
export async function compareAgain(input: {
  node: Node
  cursor: Cursor
  stored: StoredRange
  list: WatchList
  isKept: IsKept
  isDoubted: (number: number) => boolean
}): Promise<Found> {
  const { node, cursor, stored, list, isKept } = input
  if (list.addresses.length === 0) return nothing
  const { range } = stored
  const kept = new Set(stored.logs.map(({ blockNumber }) => blockNumber))
  const byBloom = (number: number) => kept.has(number) || input.isDoubted(number)
  const { headers, logs } = await readElsewhere(node, (asked) => fetchLogs(asked, range, list, byBloom))
  if (headers.some(({ number, hash }) => (stored.hashes.get(number) ?? hash) !== hash))
    throw new CursorMoved('the chain moved while it was looked at again')
  const unmarked = await listUnmarked(node, stored, list)
  const lacking = new Set(unmarked.map(({ blockNumber }) => blockNumber))
  const differing = findWrong(headers, logs.filter(isKept), stored.logs.filter(isKept))
  const wrong = headers.filter((header) => lacking.has(header.number) || differing.includes(header))
  if (wrong.length === 0) return nothing
  // Headers of quiet final blocks are not stored: the tip proves that they are of our chain.
  const tip = await node.findHeader(cursor.blockNumber)
  if (tip?.hash !== cursor.blockHash) throw new CursorMoved('the chain moved while it was looked at again')
  const again = await fetchLogs(node, range, list, () => true)
  if (!isSame(again.logs, logs)) throw new LogsDiffer('two reads of final blocks give different logs')
  const isWrong = new Set(wrong.map(({ number }) => number))
  const ofWrong = (all: readonly RawLog[]) => all.filter((log) => isWrong.has(log.blockNumber) && isKept(log))
  const [fresh, old] = [ofWrong(logs), ofWrong(stored.logs)]
  return {
    blocks: await completeBlocks(node, wrong, fresh, list),
    missing: [...without(fresh, old), ...unmarked],
    extra: without(old, fresh),
  }
}

/** Replaces the stored blocks by the blocks as read, and derives again from the first of them. */
export async function repair(
  { tx }: Pick<Writing, 'tx'>,
  input: { chainId: number; found: Found; all: readonly Opened[]; to: number },
): Promise<void> {
  const { chainId, found, all, to } = input
  const [first] = found.blocks
  if (!first) return
  await removeLogs(tx, chainId, found.extra)
  await recordBlocks(tx, chainId, found.blocks)
  await recordObservations(tx, { chainId, all, blocks: found.blocks })
  await rederiveFromBlock(tx, { chainId, all, from: first.number, to })
}

export function describeFound({ blocks, missing, extra }: Found) {
  return { blocks: blocks.length, firstBlock: blocks[0]?.number, missingLogs: missing.length, extraLogs: extra.length }
}

/** Asks another url if there is one; if that fails, the first is asked. */
async function readElsewhere<T>(node: Node, read: (asked: Node) => Promise<T>): Promise<T> {
  const other = node.secondary()
  if (!other) return read(node)
  try {
    return await read(other)
  } catch (error) {
    if (!isOfNode(error)) throw error
    return read(node)
  }
}

/** Marks of kept transactions that are not stored: their source was added after the blocks were read. */
async function listUnmarked(node: Node, { marks }: StoredRange, list: WatchList): Promise<RawLog[]> {
  if (!marks) return []
  const hashes = new Map(marks.transactions.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  const found = await listMarks(node, marks.transactions, list, (number) => hashes.get(number) ?? '')
  return found.filter((mark) => !marks.kept.has(nameLog(mark)))
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
