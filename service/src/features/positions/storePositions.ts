import type { AttributionKind } from '@openearn/attribution'
import { type BalanceChange, type DerivedRows, holderKey, type LotChange, type RequestLot } from '../../derive/rows.js'
import { bool, hex, int4, int8, nullable, numeric, oneOf, seconds, text, uuid } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, insertRows, rowSet } from '../../postgres/table.js'
import { type Above, type DerivedTable, inPlace, type Place } from '../../sync/projection.js'
import { cutMovesTable, removeCutMovesAbove } from './storeCutMoves.js'
import { heldChangesTable, heldLines, heldTable, removeHeldAbove } from './storeHeld.js'
import { balanceLines, lotLines, requestLines, signatureLines } from './storeLines.js'
import { ownersTable, removeOwnersAbove } from './storeOwners.js'
import { removeUsedSignaturesAbove, usedSignaturesTable } from './storeSignatures.js'

export const balancesTable = describeTable('balances', {
  chainId: [int8],
  vaultId: [int4],
  wallet: [hex],
  shares: [numeric],
  attributed: [numeric],
  firstBlock: [int8],
})

export const lotsTable = describeTable('lots', {
  chainId: [int8],
  vaultId: [int4],
  wallet: [hex],
  distributorId: [text],
  shares: [numeric],
  firstBlock: [int8],
})

export const balanceChangesTable = describeTable('balance_changes', {
  chainId: [int8],
  vaultId: [int4],
  wallet: [hex],
  blockNumber: [int8],
  transactionIndex: [int4],
  timestamp: [seconds, 'block_timestamp'],
  before: [numeric],
  after: [numeric],
  attributedBefore: [numeric],
  attributedAfter: [numeric],
})

export const lotChangesTable = describeTable('lot_changes', {
  chainId: [int8],
  vaultId: [int4],
  wallet: [hex],
  distributorId: [text],
  blockNumber: [int8],
  transactionIndex: [int4],
  timestamp: [seconds, 'block_timestamp'],
  before: [numeric],
  after: [numeric],
})

export const requestsTable = describeTable('requests', {
  chainId: [int8],
  id: [uuid],
  vaultId: [int4],
  kind: [oneOf<RequestLot['kind']>()],
  controller: [hex],
  owner: [hex],
  requestId: [numeric],
  distributorId: [nullable(text)],
  attribution: [nullable(oneOf<AttributionKind>())],
  isSwap: [bool],
  amount: [numeric],
  counted: [numeric],
  lots: [text],
  promised: [nullable(numeric)],
  openUntil: [nullable(numeric)],
  remaining: [numeric],
  cancelled: [numeric],
  cancelling: [bool],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  transactionIndex: [int4],
  logIndex: [int4],
  transactionHash: [hex],
})

export const requestChangesTable = describeTable('request_changes', {
  chainId: [int8],
  requestId: [uuid],
  vaultId: [int4],
  blockNumber: [int8],
  logIndex: [int4],
  remainingBefore: [numeric],
  remainingAfter: [numeric],
  cancelledBefore: [numeric],
  cancelledAfter: [numeric],
  cancellingBefore: [bool],
  cancellingAfter: [bool],
})

/** Writes the changes and the present they lead to. Changes of one wallet must be in the order they happened. */
export async function recordPositions(db: Queryable, chainId: number, rows: DerivedRows): Promise<void> {
  const shared = { chainId }
  await insertRows(db, balanceChangesTable, rows.balanceChanges, { shared })
  await insertRows(db, lotChangesTable, rows.lotChanges, { shared })
  await recordBalances(db, chainId, rows.balanceChanges)
  await recordLots(db, chainId, rows.lotChanges)
  await recordRequests(db, chainId, rows, inPlace)
}

/** The last change of each key, with the block of its first one. */
function lastOf<T extends { blockNumber: number }>(
  rows: readonly T[],
  key: (row: T) => string,
): (T & { firstBlock: number })[] {
  const last = new Map<string, T & { firstBlock: number }>()
  for (const row of rows) {
    const name = key(row)
    last.set(name, { ...row, firstBlock: last.get(name)?.firstBlock ?? row.blockNumber })
  }
  return [...last.values()]
}

async function recordBalances(db: Queryable, chainId: number, changes: readonly BalanceChange[]): Promise<void> {
  const last = lastOf(changes, (row) => holderKey(row.vaultId, row.wallet))
  const rows = last.map((row) => ({ ...row, shares: row.after, attributed: row.attributedAfter }))
  const conflict = '(vault_id, wallet) do update set shares = excluded.shares, attributed = excluded.attributed'
  await insertRows(db, balancesTable, rows, { shared: { chainId }, conflict })
}

async function recordLots(db: Queryable, chainId: number, changes: readonly LotChange[]): Promise<void> {
  const last = lastOf(changes, (row) => `${holderKey(row.vaultId, row.wallet)}:${row.distributorId}`)
  const rows = last.map((row) => ({ ...row, shares: row.after }))
  const conflict = '(vault_id, wallet, distributor_id) do update set shares = excluded.shares'
  await insertRows(db, lotsTable, rows, { shared: { chainId }, conflict })
}

export async function recordRequests(
  db: Queryable,
  chainId: number,
  { requests, requestChanges }: Pick<DerivedRows, 'requests' | 'requestChanges'>,
  place: Place,
): Promise<void> {
  await insertRows(db, place(requestsTable), requests, { shared: { chainId } })
  if (requestChanges.length === 0) return
  const changes = requestChanges.map(({ before, after, ...row }) => ({
    ...row,
    ...{ remainingBefore: before.remaining, remainingAfter: after.remaining },
    ...{ cancelledBefore: before.cancelled, cancelledAfter: after.cancelled },
    ...{ cancellingBefore: before.cancelling, cancellingAfter: after.cancelling },
  }))
  await insertRows(db, place(requestChangesTable), changes, { shared: { chainId } })
  const last = lastOf(requestChanges, (row) => row.requestId).map(({ requestId, after }) => ({
    id: requestId,
    ...after,
  }))
  await db`
    update ${db(place(requestsTable).name)} r set remaining = t.remaining, cancelled = t.cancelled, cancelling = t.cancelling
    from ${rowSet(db, requestsTable, ['id', 'remaining', 'cancelled', 'cancelling'], last)} t where r.id = t.id`
}

/** All of them, in the order in which they are written. */
const summedUp = { leftOut: 'what it changes is summed up in another table of positions' }

export const positionTables: readonly DerivedTable[] = [
  { table: balanceChangesTable, state: summedUp },
  { table: lotChangesTable, state: summedUp },
  { table: balancesTable, state: balanceLines },
  { table: lotsTable, state: lotLines },
  { table: requestsTable, state: requestLines },
  { table: requestChangesTable, state: summedUp },
  { table: usedSignaturesTable, state: signatureLines },
  { table: heldTable, state: heldLines },
  { table: heldChangesTable, state: summedUp },
  { table: cutMovesTable, state: { leftOut: 'a report of moves whose effect is in the balances' } },
  { table: ownersTable, state: { leftOut: 'read for entries, and their effect is in these' } },
]

/**
 * Takes positions and used signatures back to the end of a block. Rows are found by chain and block between two ends: without
 * the upper end PostgreSQL expects that the rows above a block of a low chain are most of the rows of all chains, and reads
 * them all. Positions that began above the block are found by their changes, which are deleted too.
 * `only` limits it to some vaults and forwarders.
 */
export async function rewindPositions(
  db: Queryable,
  above: Above,
  only?: { vaultIds: readonly number[]; forwarders: readonly string[] },
): Promise<void> {
  const vaultIds = only?.vaultIds
  const { chainId, number } = above
  const [ofAll, vaults] = [vaultIds === undefined, [...(vaultIds ?? [])]]
  const [from, to] = [number + 1, Math.max(number, above.tip)]
  await db`
    with gone as (
      delete from balance_changes
      where chain_id = ${chainId} and block_number between ${from} and ${to} and (${ofAll}::boolean or vault_id = any(${vaults}::int[])) returning *),
    first as (
      select distinct on (vault_id, wallet) * from gone order by vault_id, wallet, block_number, transaction_index),
    begun as (
      delete from balances b using first
      where b.vault_id = first.vault_id and b.wallet = first.wallet and b.first_block > ${number})
    update balances b set shares = first.before, attributed = first.attributed_before
    from first where b.vault_id = first.vault_id and b.wallet = first.wallet and b.first_block <= ${number}`
  await db`
    with gone as (
      delete from lot_changes
      where chain_id = ${chainId} and block_number between ${from} and ${to} and (${ofAll}::boolean or vault_id = any(${vaults}::int[])) returning *),
    first as (
      select distinct on (vault_id, wallet, distributor_id) * from gone
      order by vault_id, wallet, distributor_id, block_number, transaction_index),
    begun as (
      delete from lots l using first
      where l.vault_id = first.vault_id and l.wallet = first.wallet and l.distributor_id = first.distributor_id
        and l.first_block > ${number})
    update lots l set shares = first.before
    from first where l.vault_id = first.vault_id and l.wallet = first.wallet and l.distributor_id = first.distributor_id
      and l.first_block <= ${number}`
  await db`
    with gone as (
      delete from request_changes
      where chain_id = ${chainId} and block_number between ${from} and ${to} and (${ofAll}::boolean or vault_id = any(${vaults}::int[])) returning *),
    first as (select distinct on (request_id) * from gone order by request_id, block_number, log_index)
    update requests r set remaining = first.remaining_before, cancelled = first.cancelled_before,
      cancelling = first.cancelling_before
    from first where r.id = first.request_id`
  await db`
    delete from requests
    where chain_id = ${chainId} and block_number between ${from} and ${to}
      and (${ofAll}::boolean or vault_id = any(${vaults}::int[]))`
  await removeUsedSignaturesAbove(db, above, vaultIds)
  await removeHeldAbove(db, above, vaultIds)
  await removeCutMovesAbove(db, above, vaultIds)
  await removeOwnersAbove(db, above, only?.forwarders)
}
