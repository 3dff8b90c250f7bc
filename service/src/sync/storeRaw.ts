import { bool, hex, int4, int8, nullable, seconds } from '../postgres/columns.js'
import type { Fragment, Queryable } from '../postgres/pool.js'
import { describeTable, insertRows, type RowOf, rowSet, selectList } from '../postgres/table.js'
import { assembleBlocks, type Header, type RawBlock, type RawLog, type RawTransaction } from '../rpc/raw.js'
import {
  listStoredCodes,
  listStoredPaths,
  recordCodes,
  recordEvidence,
  removeEvidenceAbove,
  type StoredCodes,
  type StoredPaths,
  unpackCodes,
  unpackEvidence,
} from './storeEvidence.js'

const blocksTable = describeTable('blocks', {
  chainId: [int8],
  number: [int8],
  timestamp: [seconds],
  hash: [hex],
  parentHash: [hex],
  hasLogs: [bool],
})

const logsTable = describeTable('logs', {
  chainId: [int8],
  blockNumber: [int8],
  logIndex: [int4],
  transactionIndex: [int4],
  transactionHash: [hex],
  address: [hex],
  topic0: [nullable(hex)],
  topic1: [nullable(hex)],
  topic2: [nullable(hex)],
  topic3: [nullable(hex)],
  data: [hex],
})

const transactionsTable = describeTable('transactions', {
  chainId: [int8],
  blockNumber: [int8],
  transactionIndex: [int4],
  hash: [hex],
  from: [hex, 'sender'],
  to: [nullable(hex), 'target'],
  input: [hex],
})

/** The headers that are kept, as statements of other rooms read them. */
export const blocksOf = (db: Queryable): Fragment => db.view`(
  select chain_id, number, hash, parent_hash, timestamp from blocks)`

/**
 * Appends blocks to the raw store. Stored rows stay, except call paths of blocks that are read again for another source
 * (`isWider`). Throws if another block is stored at the height.
 */
export async function recordBlocks(
  db: Queryable,
  chainId: number,
  blocks: readonly RawBlock[],
  { isWider = false } = {},
): Promise<void> {
  if (blocks.length === 0) return
  const rows = blocks.map(({ number, timestamp, hash, parentHash, logs }) => ({
    number,
    timestamp,
    hash,
    parentHash,
    hasLogs: logs.length > 0,
  }))
  const count = await insertRows(db, blocksTable, rows, {
    shared: { chainId },
    conflict: `(chain_id, number) do update set has_logs = blocks.has_logs or excluded.has_logs
      where blocks.hash = excluded.hash`,
  })
  if (count !== blocks.length) throw new Error(`another block of chain ${chainId} is kept at one of these heights`)
  await recordLogs(
    db,
    chainId,
    blocks.flatMap((block) => block.logs),
  )
  const transactions = blocks.flatMap((block) => block.transactions)
  await recordTransactions(db, chainId, transactions)
  await recordEvidence(db, chainId, transactions, isWider ? 'widen' : 'keep')
  await recordCodes(db, chainId, transactions)
}

/** Appends logs; idempotent. */
async function recordLogs(db: Queryable, chainId: number, logs: readonly RawLog[]): Promise<void> {
  const rows = logs.map(({ topics: [topic0 = null, topic1 = null, topic2 = null, topic3 = null], ...log }) => ({
    ...log,
    ...{ topic0, topic1, topic2, topic3 },
  }))
  await insertRows(db, logsTable, rows, { shared: { chainId }, conflict: 'do nothing' })
}

/** Appends transactions; idempotent. */
async function recordTransactions(
  db: Queryable,
  chainId: number,
  transactions: readonly RawTransaction[],
): Promise<void> {
  await insertRows(db, transactionsTable, transactions, { shared: { chainId }, conflict: 'do nothing' })
}

/** Logs of these contracts with these first topics in [from, to], in order. */
export async function listStoredLogs(
  db: Queryable,
  input: {
    chainId: number
    from: number
    to: number
    addresses: readonly string[]
    topics: readonly string[]
    /** Only those with one of these among their topics after the first. */
    about?: readonly string[]
  },
): Promise<RawLog[]> {
  const words = [...(input.about ?? [])]
  const about = input.about
    ? db`and (topic1 = any(hex_bytes(${words}::text[])) or topic2 = any(hex_bytes(${words}::text[]))
        or topic3 = any(hex_bytes(${words}::text[])))`
    : db``
  const rows = await db<LogRow[]>`
    select ${logList(db)} from logs
    where chain_id = ${input.chainId} and block_number between ${input.from} and ${input.to}
      and address = any(hex_bytes(${[...input.addresses]}::text[])) and topic0 = any(hex_bytes(${[...input.topics]}::text[])) ${about}
    order by block_number, log_index`
  return rows.map(toLog)
}

/** Removes logs that a block of the final chain does not have. */
export async function removeLogs(
  db: Queryable,
  chainId: number,
  logs: readonly Pick<RawLog, 'blockNumber' | 'logIndex'>[],
): Promise<void> {
  await db`
    delete from logs l using ${rowSet(db, logsTable, ['blockNumber', 'logIndex'], logs)} t
    where l.chain_id = ${chainId} and l.block_number = t.block_number and l.log_index = t.log_index`
}

/**
 * Removes everything raw above a block, up to where a chain is read. Without the upper end PostgreSQL would take what lies
 * above a block of a low chain for most of the rows of all chains, and read them all.
 */
export async function removeRawAbove(
  db: Queryable,
  { chainId, number, tip }: { chainId: number; number: number; tip: number },
): Promise<void> {
  const [from, to] = [number + 1, Math.max(number, tip)]
  await db`delete from logs where chain_id = ${chainId} and block_number between ${from} and ${to}`
  await db`delete from transactions where chain_id = ${chainId} and block_number between ${from} and ${to}`
  await removeEvidenceAbove(db, { chainId, from, to })
  await db`delete from blocks where chain_id = ${chainId} and number between ${from} and ${to}`
}

/** Drops final headers without logs; `below` is kept. */
export async function removeEmptyHeaders(db: Queryable, chainId: number, below: number): Promise<void> {
  await db`delete from blocks where chain_id = ${chainId} and number < ${below} and not has_logs`
}

/** Hash we hold at a height, if any. */
export async function findBlockHash(db: Queryable, chainId: number, number: number): Promise<string | undefined> {
  const rows = await db<{ hash: string }[]>`
    select hex_text(hash) as hash from blocks where chain_id = ${chainId} and number = ${number}`
  return rows[0]?.hash
}

const headerList = (db: Queryable) => selectList(db, blocksTable, { without: ['chainId', 'hasLogs'] })
const logList = (db: Queryable) => selectList(db, logsTable, { without: ['chainId'] })

/** Headers we hold from a height downwards, newest first. */
export async function listHeadersDown(db: Queryable, chainId: number, from: number, count: number): Promise<Header[]> {
  return db<Header[]>`
    select ${headerList(db)} from blocks where chain_id = ${chainId} and number <= ${from}
    order by number desc limit ${count}`
}

/** The end of a window with at most `withLogs` blocks that have logs: the last of these, or `to`. */
export async function findEndOfWindow(
  db: Queryable,
  { chainId, from, to, withLogs }: { chainId: number; from: number; to: number; withLogs: number },
): Promise<number> {
  const rows = await db<{ number: number }[]>`
    select number from blocks where chain_id = ${chainId} and number between ${from} and ${to} and has_logs
    order by number offset ${withLogs - 1} limit 1`
  return rows[0]?.number ?? to
}

/** The first block with logs at or after an instant; undefined if there is no such block. */
export async function findStoredBlockAt(
  db: Queryable,
  chainId: number,
  timestamp: number,
): Promise<number | undefined> {
  const rows = await db<{ number: number }[]>`
    select number from blocks where chain_id = ${chainId} and timestamp >= to_timestamp(${timestamp}) and has_logs
    order by timestamp, number limit 1`
  return rows[0]?.number
}

type FoundTransaction = RawTransaction & { chainId: number; blockHash: string }

/** A transaction of the raw store by hash, on one chain or on any. */
export async function findRawTransaction(
  db: Queryable,
  hash: string,
  chainId?: number,
): Promise<FoundTransaction | undefined> {
  const rows = await db<FoundTransaction[]>`
    select ${selectList(db, transactionsTable, { of: 't' })}, hex_text(b.hash) as "blockHash"
    from transactions t join blocks b on b.chain_id = t.chain_id and b.number = t.block_number
    where t.hash = hex_bytes(${hash}) ${chainId === undefined ? db`` : db`and t.chain_id = ${chainId}`}
    order by t.chain_id limit 1`
  const [found] = rows
  if (!found) return undefined
  const range = { chainId: found.chainId, from: found.blockNumber, to: found.blockNumber }
  const [paths, codes] = await Promise.all([listStoredPaths(db, range), listStoredCodes(db, range)])
  const [evident = found] = withEvidence([found], paths, codes)
  return { ...found, ...evident }
}

/** Logs of one transaction of the raw store, in order. */
export async function listRawLogs(
  db: Queryable,
  chainId: number,
  blockNumber: number,
  transactionHash: string,
): Promise<RawLog[]> {
  const rows = await db<LogRow[]>`
    select ${logList(db)} from logs
    where chain_id = ${chainId} and block_number = ${blockNumber} and transaction_hash = hex_bytes(${transactionHash})
    order by log_index`
  return rows.map(toLog)
}

type LogRow = Omit<RowOf<typeof logsTable>, 'chainId'>

function toLog({ topic0, topic1, topic2, topic3, ...log }: LogRow): RawLog {
  return { ...log, topics: [topic0, topic1, topic2, topic3].filter((topic) => topic !== null) }
}

/** Logs of the raw store in [from, to]. */
export async function countRawLogs(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<number> {
  const rows = await db<{ logs: number }[]>`
    select count(*) as logs from logs where chain_id = ${chainId} and block_number between ${from} and ${to}`
  return rows[0]?.logs ?? 0
}

/**
 * Blocks with logs in [from, to], in order, at most about `logsMax` logs at once; `next` is where to go on, undefined at
 * the end. With `addresses` only blocks with a log of one of them (all logs of such blocks).
 */
export async function readRawBlocks(
  db: Queryable,
  input: { chainId: number; from: number; to: number; logsMax: number; addresses?: readonly string[] },
): Promise<{ blocks: RawBlock[]; next: number | undefined }> {
  const { chainId, from, to, logsMax } = input
  const only = input.addresses
    ? db`and exists (select from logs l where l.chain_id = b.chain_id and l.block_number = b.number
        and l.address = any(hex_bytes(${[...input.addresses]}::text[])))`
    : db``
  const [end] = await db<{ number: number | null }[]>`
    select max(block_number) as number from (
      select block_number from logs where chain_id = ${chainId} and block_number between ${from} and ${to}
      order by block_number limit ${logsMax}) as t`
  const last = end?.number ?? null
  if (last === null) return { blocks: [], next: undefined }
  const inRange = (name: string) => db`chain_id = ${chainId} and ${db(name)} between ${from} and ${last}`
  const [headers, logs, transactions, paths, codes] = await Promise.all([
    db<Header[]>`
      select ${headerList(db)} from blocks b where ${inRange('number')} and has_logs ${only} order by number`,
    db<LogRow[]>`
      select ${logList(db)} from logs where ${inRange('block_number')} order by block_number, log_index`,
    db<RawTransaction[]>`
      select ${selectList(db, transactionsTable, { without: ['chainId'] })} from transactions
      where ${inRange('block_number')} order by block_number, transaction_index`,
    listStoredPaths(db, { chainId, from, to: last }),
    listStoredCodes(db, { chainId, from, to: last }),
  ])
  const next = last >= to ? undefined : last + 1
  return { blocks: assembleBlocks(headers, logs.map(toLog), withEvidence(transactions, paths, codes)), next }
}

/** Transactions with what is kept of how they ran, and of whose code. */
function withEvidence(
  transactions: readonly RawTransaction[],
  paths: readonly StoredPaths[],
  codes: readonly StoredCodes[] = [],
): RawTransaction[] {
  if (paths.length === 0 && codes.length === 0) return [...transactions]
  const pathsAt = new Map(paths.map((each) => [placeOf(each), each]))
  const codesAt = new Map(codes.map((each) => [placeOf(each), each]))
  return transactions.map((transaction) => {
    const [stored, known] = [pathsAt.get(placeOf(transaction)), codesAt.get(placeOf(transaction))]
    const evidence = stored ? { evidence: unpackEvidence(stored, transaction) } : {}
    return { ...transaction, ...evidence, ...(known ? { contracts: unpackCodes(known) } : {}) }
  })
}

const placeOf = ({ blockNumber, transactionIndex }: Pick<RawTransaction, 'blockNumber' | 'transactionIndex'>): string =>
  `${blockNumber}:${transactionIndex}`

/** Kept transactions of some places, with their block's hash, their logs and their evidence. */
export async function listRawTransactions(
  db: Queryable,
  chainId: number,
  places: readonly Pick<RawTransaction, 'blockNumber' | 'transactionIndex'>[],
): Promise<(RawTransaction & { blockHash: string; logs: RawLog[] })[]> {
  if (places.length === 0) return []
  const at = rowSet(db, transactionsTable, ['blockNumber', 'transactionIndex'], places)
  const [transactions, logs, paths] = await Promise.all([
    db<(RawTransaction & { blockHash: string })[]>`
      select ${selectList(db, transactionsTable, { of: 't', without: ['chainId'] })}, hex_text(b.hash) as "blockHash"
      from transactions t join ${at} a using (block_number, transaction_index)
      join blocks b on b.chain_id = t.chain_id and b.number = t.block_number
      where t.chain_id = ${chainId} order by t.block_number, t.transaction_index`,
    db<LogRow[]>`
      select ${selectList(db, logsTable, { of: 'l', without: ['chainId'] })}
      from logs l join ${at} a using (block_number, transaction_index)
      where l.chain_id = ${chainId} order by l.block_number, l.log_index`,
    db<StoredPaths[]>`
      select p.block_number as "blockNumber", p.transaction_index as "transactionIndex", p.has_logs as "hasLogs",
        hex_text(p.calls) as calls
      from call_paths p join ${at} a using (block_number, transaction_index) where p.chain_id = ${chainId}`,
  ])
  const byHash = new Map<string, RawLog[]>()
  for (const log of logs.map(toLog)) {
    const own = byHash.get(log.transactionHash)
    if (own) own.push(log)
    else byHash.set(log.transactionHash, [log])
  }
  const hashes = new Map(transactions.map(({ hash, blockHash }) => [hash, blockHash]))
  return withEvidence(transactions, paths).map((each) => ({
    ...each,
    blockHash: hashes.get(each.hash) ?? '',
    logs: byHash.get(each.hash) ?? [],
  }))
}

/** Seconds from one block of a chain to the next, over the last 100 of which headers are kept; 0 where they do not tell. */
export async function readMeanBlockSeconds(db: Queryable, chainId: number): Promise<number> {
  const rows = await db<{ seconds: number | null }[]>`
    with newest as (
      select number, timestamp from blocks where chain_id = ${chainId} order by number desc limit 1),
    first as (
      select b.number, b.timestamp from newest n, blocks b
      where b.chain_id = ${chainId} and b.number >= n.number - 100 order by b.number limit 1)
    select (date_part('epoch', n.timestamp - f.timestamp) / nullif(n.number - f.number, 0))::float8 as seconds
    from newest n, first f`
  return rows[0]?.seconds ?? 0
}
