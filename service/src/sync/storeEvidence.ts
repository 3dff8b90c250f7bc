import { bool, hex, instant, int4, int8, nullable } from '../postgres/columns.js'
import type { Fragment, Queryable } from '../postgres/pool.js'
import { describeTable, insertRows, rowSet } from '../postgres/table.js'
import type { Evidence } from '../rpc/callPaths.js'
import type { RawTransaction } from '../rpc/raw.js'
import { packCalls, unpackCalls } from './pathCodec.js'

const pathsTable = describeTable('call_paths', {
  chainId: [int8],
  blockNumber: [int8],
  transactionIndex: [int4],
  hasLogs: [nullable(bool)],
  calls: [nullable(hex)],
})

const awaitedTable = describeTable('awaited_traces', {
  chainId: [int8],
  blockNumber: [int8],
  transactionIndex: [int4],
  blockHash: [hex],
  nextAt: [instant],
})

const codesTable = describeTable('keeper_codes', {
  chainId: [int8],
  blockNumber: [int8],
  transactionIndex: [int4],
  contracts: [hex],
})

/** Where a transaction stands in its chain. */
export type Place = Pick<RawTransaction, 'blockNumber' | 'transactionIndex'>

/** The stored evidence of a transaction, as it is read with the transaction. */
export type StoredPaths = Place & { hasLogs: boolean | null; calls: string | null }

function packEvidence({ evidence, input, blockNumber, transactionIndex }: RawTransaction) {
  const paths = evidence === undefined || evidence === 'no trace' ? undefined : evidence
  const calls = paths ? packCalls(paths.calls, input) : null
  return { blockNumber, transactionIndex, hasLogs: paths?.hasLogs ?? null, calls }
}

/** The evidence that is kept of a transaction. */
export function unpackEvidence({ hasLogs, calls }: StoredPaths, { input }: Pick<RawTransaction, 'input'>): Evidence {
  return calls === null ? 'no trace' : { hasLogs: hasLogs === true, calls: unpackCalls(calls, input) }
}

/**
 * Stores the evidence of transactions that have one. With `keep`, stored evidence stays. With `widen`, call paths replace call
 * paths, because they were read again for more logs. With `replace`, new evidence replaces any other: an operator asked for it,
 * or it was awaited.
 */
export async function recordEvidence(
  db: Queryable,
  chainId: number,
  transactions: readonly RawTransaction[],
  how: 'keep' | 'widen' | 'replace' = 'keep',
): Promise<void> {
  const rows = transactions.filter(({ evidence }) => evidence !== undefined).map(packEvidence)
  const set =
    '(chain_id, block_number, transaction_index) do update set has_logs = excluded.has_logs, calls = excluded.calls'
  const conflict = {
    keep: 'do nothing',
    widen: `${set} where call_paths.calls is not null and excluded.calls is not null`,
    replace: set,
  }[how]
  await insertRows(db, pathsTable, rows, { shared: { chainId }, conflict })
}

/** Stores which wallets of transactions had code, where a node was asked; stored rows stay. */
export async function recordCodes(
  db: Queryable,
  chainId: number,
  transactions: readonly RawTransaction[],
): Promise<void> {
  const rows = transactions.flatMap(({ blockNumber, transactionIndex, contracts }) =>
    contracts
      ? [{ blockNumber, transactionIndex, contracts: `0x${contracts.map((wallet) => wallet.slice(2)).join('')}` }]
      : [],
  )
  await insertRows(db, codesTable, rows, { shared: { chainId }, conflict: 'do nothing' })
}

export type StoredCodes = Place & { contracts: string }

/** Which wallets had code, as stored for blocks in [from, to]. */
export async function listStoredCodes(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<StoredCodes[]> {
  return db<StoredCodes[]>`
    select block_number as "blockNumber", transaction_index as "transactionIndex", hex_text(contracts) as contracts
    from keeper_codes where chain_id = ${chainId} and block_number between ${from} and ${to}`
}

/** The wallets with code that are kept of a transaction. */
export function unpackCodes({ contracts }: StoredCodes): string[] {
  return (contracts.slice(2).match(/.{40}/g) ?? []).map((digits) => `0x${digits}`)
}

/** Stored call paths of the transactions in [from, to], in order. */
export async function listStoredPaths(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<StoredPaths[]> {
  return db<StoredPaths[]>`
    select block_number as "blockNumber", transaction_index as "transactionIndex", has_logs as "hasLogs",
      hex_text(calls) as calls
    from call_paths where chain_id = ${chainId} and block_number between ${from} and ${to}`
}

/** Transactions whose calls no node told, as statements of other rooms read them. */
export const untracedOf = (db: Queryable): Fragment => db.view`(
  select chain_id, block_number, transaction_index from call_paths where calls is null)`

/** The blocks in which the calls of a transaction are known. */
export async function listTraced(db: Queryable, hash: string): Promise<{ chainId: number; blockHash: string }[]> {
  return db<{ chainId: number; blockHash: string }[]>`
    select t.chain_id as "chainId", hex_text(b.hash) as "blockHash"
    from transactions t
    join call_paths p on p.chain_id = t.chain_id and p.block_number = t.block_number
      and p.transaction_index = t.transaction_index
    join blocks b on b.chain_id = t.chain_id and b.number = t.block_number
    where t.hash = hex_bytes(${hash}) and p.calls is not null`
}

/** Removes evidence above a block, and what is awaited there. */
export async function removeEvidenceAbove(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<void> {
  await db`delete from call_paths where chain_id = ${chainId} and block_number between ${from} and ${to}`
  await db`delete from keeper_codes where chain_id = ${chainId} and block_number between ${from} and ${to}`
  await db`delete from awaited_traces where chain_id = ${chainId} and block_number >= ${from}`
}

/** Remembers transactions whose trace is to be asked for later. */
export async function recordAwaited(
  db: Queryable,
  input: { chainId: number; awaited: readonly (Place & { blockHash: string })[]; at: Date },
): Promise<void> {
  const { chainId, awaited, at } = input
  await insertRows(db, awaitedTable, awaited, { shared: { chainId, nextAt: at }, conflict: 'do nothing' })
}

export type Awaited = Place & { blockHash: string }

const awaitedColumns = (db: Queryable) =>
  db`block_number as "blockNumber", transaction_index as "transactionIndex", hex_text(block_hash) as "blockHash"`

/** Whether any trace of a chain is awaited. */
export async function isAnyAwaited(db: Queryable, chainId: number): Promise<boolean> {
  const rows = await db`select from awaited_traces where chain_id = ${chainId} limit 1`
  return rows.length > 0
}

/** Those whose turn has come, the oldest blocks first; each is due again later, and later each time. */
export async function takeDue(
  db: Queryable,
  { chainId, at, limit }: { chainId: number; at: Date; limit: number },
): Promise<Awaited[]> {
  return db<Awaited[]>`
    update awaited_traces a set tries = tries + 1,
      next_at = ${at}::timestamptz + least(60, power(2, least(tries, 6))) * interval '1 second'
    where a.chain_id = ${chainId} and (a.block_number, a.transaction_index) in (
      select d.block_number, d.transaction_index from awaited_traces d where d.chain_id = ${chainId} and d.next_at <= ${at}
      order by d.block_number, d.transaction_index limit ${limit})
    returning ${awaitedColumns(db)}`
}

/** Awaited traces that were requested at least once and are confirmed for `waitSeconds`. Records first which are confirmed. */
export async function listOverdue(
  db: Queryable,
  input: { chainId: number; confirmedTo: number; at: Date; waitSeconds: number },
): Promise<Awaited[]> {
  const { chainId, confirmedTo, at, waitSeconds } = input
  await db`
    update awaited_traces set confirmed_at = ${at}
    where chain_id = ${chainId} and confirmed_at is null and block_number <= ${confirmedTo}`
  return db<Awaited[]>`
    select ${awaitedColumns(db)} from awaited_traces
    where chain_id = ${chainId} and tries > 0 and confirmed_at <= ${at}::timestamptz - ${waitSeconds} * interval '1 second'`
}

/** Ends the wait for some traces; returns those that were still awaited in these blocks. */
export async function endWait(db: Queryable, chainId: number, awaited: readonly Awaited[]): Promise<Place[]> {
  if (awaited.length === 0) return []
  return db<Place[]>`
    delete from awaited_traces a
    using ${rowSet(db, awaitedTable, ['blockNumber', 'transactionIndex', 'blockHash'], awaited)} t
    where a.chain_id = ${chainId} and a.block_number = t.block_number and a.transaction_index = t.transaction_index
      and a.block_hash = t.block_hash
    returning a.block_number as "blockNumber", a.transaction_index as "transactionIndex"`
}

/** Stores the kind of evidence that the nodes of a chain give. */
export async function recordChainEvidence(
  db: Queryable,
  input: { chainId: number; evidence: 'trace' | 'calldata'; at: Date },
): Promise<void> {
  await db`
    insert into chain_evidence (chain_id, evidence, told_at) values (${input.chainId}, ${input.evidence}, ${input.at})
    on conflict (chain_id) do update set evidence = excluded.evidence, told_at = excluded.told_at`
}
