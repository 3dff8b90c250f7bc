import type { Queryable } from '../postgres/pool.js'
import { assembleBlocks, type Header, type RawBlock, type RawLog, type RawTransaction } from '../rpc/raw.js'

const column = <T, V>(rows: readonly T[], read: (row: T) => V): V[] => rows.map(read)

/** Appends blocks to the raw store; what is already there stays as it is. Throws when another block is there. */
export async function recordBlocks(db: Queryable, chainId: number, blocks: readonly RawBlock[]): Promise<void> {
  if (blocks.length === 0) return
  const { count } = await db`
    insert into blocks (chain_id, number, hash, parent_hash, timestamp, has_facts)
    select ${chainId}, number, hash, parent_hash, to_timestamp(at), has_facts = 1
    from unnest(${column(blocks, (b) => b.number)}::bigint[], ${column(blocks, (b) => b.hash)}::text[],
      ${column(blocks, (b) => b.parentHash)}::text[], ${column(blocks, (b) => b.timestamp)}::bigint[],
      ${column(blocks, (b) => Number(b.logs.length > 0))}::int[]) as t (number, hash, parent_hash, at, has_facts)
    on conflict (chain_id, number) do update set has_facts = blocks.has_facts or excluded.has_facts
      where blocks.hash = excluded.hash`
  if (count !== blocks.length) throw new Error(`another block of chain ${chainId} is kept at one of these heights`)
  await recordLogs(
    db,
    chainId,
    blocks.flatMap((block) => block.logs),
  )
  await recordTransactions(
    db,
    chainId,
    blocks.flatMap((block) => block.transactions),
  )
}

/** Appends logs; idempotent. */
export async function recordLogs(db: Queryable, chainId: number, logs: readonly RawLog[]): Promise<void> {
  if (logs.length === 0) return
  await db`
    insert into logs (chain_id, block_number, log_index, transaction_index, transaction_hash, address, topics, data)
    select ${chainId}, t.* from unnest(
      ${column(logs, (l) => l.blockNumber)}::bigint[], ${column(logs, (l) => l.logIndex)}::int[],
      ${column(logs, (l) => l.transactionIndex)}::int[], ${column(logs, (l) => l.transactionHash)}::text[],
      ${column(logs, (l) => l.address)}::text[], ${column(logs, (l) => l.topics.join(','))}::text[],
      ${column(logs, (l) => l.data)}::text[]) as t
    on conflict do nothing`
}

/** Appends transactions; idempotent. */
export async function recordTransactions(
  db: Queryable,
  chainId: number,
  transactions: readonly RawTransaction[],
): Promise<void> {
  if (transactions.length === 0) return
  await db`
    insert into transactions (chain_id, block_number, transaction_index, hash, sender, target, input)
    select ${chainId}, t.* from unnest(
      ${column(transactions, (t) => t.blockNumber)}::bigint[], ${column(transactions, (t) => t.transactionIndex)}::int[],
      ${column(transactions, (t) => t.hash)}::text[], ${column(transactions, (t) => t.from)}::text[],
      ${column(transactions, (t) => t.to)}::text[], ${column(transactions, (t) => t.input)}::text[]) as t
    on conflict do nothing`
}

/** Logs of these contracts with these first topics in [from, to], in order. */
export async function listStoredLogs(
  db: Queryable,
  input: { chainId: number; from: number; to: number; addresses: readonly string[]; topics: readonly string[] },
): Promise<RawLog[]> {
  const rows = await db<LogRow[]>`
    select ${logColumns(db)} from logs
    where chain_id = ${input.chainId} and block_number between ${input.from} and ${input.to}
      and address = any(${[...input.addresses]}) and split_part(topics, ',', 1) = any(${[...input.topics]})
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
    delete from logs l using unnest(${column(logs, (log) => log.blockNumber)}::bigint[],
      ${column(logs, (log) => log.logIndex)}::int[]) as t (number, at)
    where l.chain_id = ${chainId} and l.block_number = t.number and l.log_index = t.at`
}

/** Removes everything raw above a block. */
export async function removeRawAbove(db: Queryable, chainId: number, number: number): Promise<void> {
  await db`delete from logs where chain_id = ${chainId} and block_number > ${number}`
  await db`delete from transactions where chain_id = ${chainId} and block_number > ${number}`
  await db`delete from blocks where chain_id = ${chainId} and number > ${number}`
}

/** Drops final headers that carry no facts; `below` is kept. */
export async function removeBareHeaders(db: Queryable, chainId: number, below: number): Promise<void> {
  await db`delete from blocks where chain_id = ${chainId} and number < ${below} and not has_facts`
}

/** Hash we hold at a height, if any. */
export async function findBlockHash(db: Queryable, chainId: number, number: number): Promise<string | undefined> {
  const rows = await db<{ hash: string }[]>`
    select hash from blocks where chain_id = ${chainId} and number = ${number}`
  return rows[0]?.hash
}

type HeaderRow = { number: number; hash: string; parentHash: string; timestamp: number }

/** Headers we hold from a height downwards, newest first. */
export async function listHeadersDown(db: Queryable, chainId: number, from: number, count: number): Promise<Header[]> {
  return db<HeaderRow[]>`
    select number, hash, parent_hash as "parentHash", extract(epoch from timestamp)::bigint as timestamp
    from blocks where chain_id = ${chainId} and number <= ${from} order by number desc limit ${count}`
}

export type FoundTransaction = RawTransaction & { blockHash: string; timestamp: Date }

/** A transaction of the raw store by hash, on one chain or on any. */
export async function findRawTransaction(
  db: Queryable,
  hash: string,
  chainId?: number,
): Promise<(FoundTransaction & { chainId: number }) | undefined> {
  const rows = await db<(FoundTransaction & { chainId: number })[]>`
    select t.chain_id as "chainId", t.block_number as "blockNumber", t.transaction_index as "transactionIndex", t.hash,
      t.sender as "from", t.target as "to", t.input, b.hash as "blockHash", b.timestamp
    from transactions t join blocks b on b.chain_id = t.chain_id and b.number = t.block_number
    where t.hash = ${hash} ${chainId === undefined ? db`` : db`and t.chain_id = ${chainId}`}
    order by t.chain_id limit 1`
  return rows[0]
}

/** Logs of one transaction of the raw store, in order. */
export async function listRawLogs(
  db: Queryable,
  chainId: number,
  blockNumber: number,
  transactionHash: string,
): Promise<RawLog[]> {
  const rows = await db<LogRow[]>`
    select ${logColumns(db)} from logs
    where chain_id = ${chainId} and block_number = ${blockNumber} and transaction_hash = ${transactionHash}
    order by log_index`
  return rows.map(toLog)
}

type LogRow = Omit<RawLog, 'topics'> & { topics: string }
const toLog = (row: LogRow): RawLog => ({ ...row, topics: row.topics === '' ? [] : row.topics.split(',') })
const logColumns = (db: Queryable) => db`block_number as "blockNumber", log_index as "logIndex",
  transaction_index as "transactionIndex", transaction_hash as "transactionHash", address, topics, data`

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
 * Blocks with facts in [from, to], in order, at most about `logsMax` logs at once; `next` is where to go on, undefined at
 * the end. With `addresses` only blocks with a log of one of them (all logs of such blocks).
 */
export async function readRawBlocks(
  db: Queryable,
  input: { chainId: number; from: number; to: number; logsMax: number; addresses?: readonly string[] },
): Promise<{ blocks: RawBlock[]; next: number | undefined }> {
  const { chainId, from, to, logsMax } = input
  const only = input.addresses
    ? db`and exists (select from logs l where l.chain_id = b.chain_id and l.block_number = b.number
        and l.address = any(${[...input.addresses]}))`
    : db``
  const [end] = await db<{ number: number | null }[]>`
    select max(block_number) as number from (
      select block_number from logs where chain_id = ${chainId} and block_number between ${from} and ${to}
      order by block_number limit ${logsMax}) as t`
  const last = end?.number ?? null
  if (last === null) return { blocks: [], next: undefined }
  const inRange = (name: string) => db`chain_id = ${chainId} and ${db(name)} between ${from} and ${last}`
  const [headers, logs, transactions] = await Promise.all([
    db<HeaderRow[]>`
      select number, hash, parent_hash as "parentHash", extract(epoch from timestamp)::bigint as timestamp
      from blocks b where ${inRange('number')} and has_facts ${only} order by number`,
    db<LogRow[]>`select ${logColumns(db)} from logs where ${inRange('block_number')} order by block_number, log_index`,
    db<RawTransaction[]>`
      select block_number as "blockNumber", transaction_index as "transactionIndex", hash, sender as "from",
        target as "to", input
      from transactions where ${inRange('block_number')} order by block_number, transaction_index`,
  ])
  return { blocks: assembleBlocks(headers, logs.map(toLog), transactions), next: last >= to ? undefined : last + 1 }
}
