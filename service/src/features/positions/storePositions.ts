import type { AttributionKind } from '@openearn/attribution'
import type { RequestOwner } from '../../derive/derive.js'
import { emptyHolder } from '../../derive/lots.js'
import {
  type BalanceChange,
  type DerivedRows,
  type DeriveState,
  emptyState,
  holderKey,
  type LotChange,
  type RequestLot,
  requestKey,
} from '../../derive/rows.js'
import { bool, hex, int4, int8, nullable, numeric, oneOf, seconds, text, uuid } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows, rowSet } from '../../postgres/table.js'
import { removeUsedSignaturesAbove } from './storeSignatures.js'

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

const requestsTable = describeTable('requests', {
  chainId: [int8],
  id: [uuid],
  vaultId: [int4],
  kind: [oneOf<RequestLot['kind']>()],
  controller: [hex],
  owner: [hex],
  requestId: [numeric],
  distributorId: [nullable(text)],
  attribution: [nullable(oneOf<AttributionKind>())],
  amount: [numeric],
  remaining: [numeric],
  cancelled: [numeric],
  cancelling: [bool],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  transactionIndex: [int4],
  logIndex: [int4],
  transactionHash: [hex],
})

const requestChangesTable = describeTable('request_changes', {
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

/** Loads the holders and open requests that blocks are about to change. */
export async function loadState(
  db: Queryable,
  keys: { holders: Iterable<{ vaultId: number; wallet: string }>; requests: Iterable<RequestOwner> },
): Promise<DeriveState> {
  const state = emptyState()
  const holders = [...keys.holders]
  const owners = [...keys.requests]
  if (holders.length > 0) {
    const [balances, lots] = await Promise.all([
      findRows(db, balancesTable, ['vaultId', 'wallet'], holders),
      findRows(db, lotsTable, ['vaultId', 'wallet'], holders),
    ])
    for (const { vaultId, wallet, shares, attributed } of balances)
      state.holders.set(holderKey(vaultId, wallet), { shares, attributed, lots: new Map() })
    for (const { vaultId, wallet, distributorId, shares } of lots) {
      const key = holderKey(vaultId, wallet)
      const holder = state.holders.get(key) ?? emptyHolder()
      state.holders.set(key, holder)
      holder.lots.set(distributorId, shares)
    }
  }
  if (owners.length > 0) {
    const open = await findRows(db, requestsTable, ['vaultId', 'kind', 'controller'], owners, {
      ...{ without: ['chainId'], tail: 'where r.remaining > 0 order by r.block_number, r.log_index' },
    })
    for (const lot of open) {
      const key = requestKey(lot.vaultId, lot.kind, lot.controller)
      state.requests.set(key, [...(state.requests.get(key) ?? []), lot])
    }
  }
  return state
}

/** Writes the changes and the present they lead to. Changes of one wallet must be in the order they happened. */
export async function recordPositions(db: Queryable, chainId: number, rows: DerivedRows): Promise<void> {
  const shared = { chainId }
  await insertRows(db, balanceChangesTable, rows.balanceChanges, { shared })
  await insertRows(db, lotChangesTable, rows.lotChanges, { shared })
  await recordBalances(db, chainId, rows.balanceChanges)
  await recordLots(db, chainId, rows.lotChanges)
  await recordRequests(db, chainId, rows)
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
): Promise<void> {
  await insertRows(db, requestsTable, requests, { shared: { chainId } })
  if (requestChanges.length === 0) return
  const changes = requestChanges.map(({ before, after, ...row }) => ({
    ...row,
    ...{ remainingBefore: before.remaining, remainingAfter: after.remaining },
    ...{ cancelledBefore: before.cancelled, cancelledAfter: after.cancelled },
    ...{ cancellingBefore: before.cancelling, cancellingAfter: after.cancelling },
  }))
  await insertRows(db, requestChangesTable, changes, { shared: { chainId } })
  const last = lastOf(requestChanges, (row) => row.requestId).map(({ requestId, after }) => ({
    id: requestId,
    ...after,
  }))
  await db`
    update requests r set remaining = t.remaining, cancelled = t.cancelled, cancelling = t.cancelling
    from ${rowSet(db, requestsTable, ['id', 'remaining', 'cancelled', 'cancelling'], last)} t where r.id = t.id`
}

/** What a rewind takes back: what vaults of a chain have above a block, up to where the chain is derived. */
export type Above = { chainId: number; number: number; tip: number }

/**
 * Takes positions, and the signatures that have counted, back to what they were at the end of a block. Rows are found by
 * chain and block between two ends: without the upper one PostgreSQL takes what lies above a block of a low chain for most
 * of the rows of all chains, and reads them all. What began above the block is found by its changes, which go with it.
 */
export async function rewindPositions(db: Queryable, vaultIds: readonly number[], above: Above): Promise<void> {
  const { chainId, number } = above
  const vaults = [...vaultIds]
  const [from, to] = [number + 1, Math.max(number, above.tip)]
  await db`
    with gone as (
      delete from balance_changes
      where chain_id = ${chainId} and block_number between ${from} and ${to} and vault_id = any(${vaults}) returning *),
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
      where chain_id = ${chainId} and block_number between ${from} and ${to} and vault_id = any(${vaults}) returning *),
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
      where chain_id = ${chainId} and block_number between ${from} and ${to} and vault_id = any(${vaults}) returning *),
    first as (select distinct on (request_id) * from gone order by request_id, block_number, log_index)
    update requests r set remaining = first.remaining_before, cancelled = first.cancelled_before,
      cancelling = first.cancelling_before
    from first where r.id = first.request_id`
  await db`
    delete from requests
    where chain_id = ${chainId} and block_number between ${from} and ${to} and vault_id = any(${vaults})`
  await removeUsedSignaturesAbove(db, vaultIds, above)
}
