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
import type { Queryable } from '../../postgres/pool.js'
import { removeUsedSignaturesAbove } from './storeSignatures.js'

const column = <T, V>(rows: readonly T[], read: (row: T) => V): V[] => rows.map(read)
const text = (value: bigint): string => value.toString()

/** Loads the holders and open requests that blocks are about to change. */
export async function loadState(
  db: Queryable,
  keys: { holders: Iterable<{ vaultId: number; wallet: string }>; requests: Iterable<RequestOwner> },
): Promise<DeriveState> {
  const state = emptyState()
  const holders = [...keys.holders]
  const owners = [...keys.requests]
  if (holders.length > 0) {
    const wanted = db`unnest(${column(holders, (h) => h.vaultId)}::int[], ${column(holders, (h) => h.wallet)}::text[])`
    const [balances, lots] = await Promise.all([
      db<{ vaultId: number; wallet: string; shares: string; attributed: string }[]>`
        select b.vault_id as "vaultId", b.wallet, b.shares, b.attributed
        from ${wanted} as k (vault_id, wallet) join balances b using (vault_id, wallet)`,
      db<{ vaultId: number; wallet: string; distributorId: string; shares: string }[]>`
        select l.vault_id as "vaultId", l.wallet, l.distributor_id as "distributorId", l.shares
        from ${wanted} as k (vault_id, wallet) join lots l using (vault_id, wallet)`,
    ])
    for (const { vaultId, wallet, shares, attributed } of balances) {
      const holder = { shares: BigInt(shares), attributed: BigInt(attributed), lots: new Map<string, bigint>() }
      state.holders.set(holderKey(vaultId, wallet), holder)
    }
    for (const { vaultId, wallet, distributorId, shares } of lots) {
      const key = holderKey(vaultId, wallet)
      const holder = state.holders.get(key) ?? emptyHolder()
      state.holders.set(key, holder)
      holder.lots.set(distributorId, BigInt(shares))
    }
  }
  if (owners.length > 0) {
    const rows = await db<RequestRow[]>`
      select ${requestColumns(db)}
      from unnest(${column(owners, (o) => o.vaultId)}::int[], ${column(owners, (o) => o.kind)}::text[],
        ${column(owners, (o) => o.controller)}::text[]) as k (vault_id, kind, controller)
      join requests r using (vault_id, kind, controller)
      where r.remaining > 0 order by r.block_number, r.log_index`
    for (const row of rows) {
      const lot = toRequest(row)
      const key = requestKey(lot.vaultId, lot.kind, lot.controller)
      state.requests.set(key, [...(state.requests.get(key) ?? []), lot])
    }
  }
  return state
}

type RequestRow = Omit<RequestLot, 'requestId' | 'amount' | 'remaining' | 'cancelled'> & {
  requestId: string
  amount: string
  remaining: string
  cancelled: string
}

const requestColumns = (db: Queryable) => db`r.id, r.vault_id as "vaultId", r.kind, r.controller, r.owner,
  r.request_id as "requestId", r.distributor_id as "distributorId", r.attribution, r.amount, r.remaining, r.cancelled,
  r.cancelling, r.block_number as "blockNumber", extract(epoch from r.block_timestamp)::bigint as timestamp,
  r.transaction_index as "transactionIndex", r.log_index as "logIndex", r.transaction_hash as "transactionHash"`

function toRequest(row: RequestRow): RequestLot {
  const { requestId, amount, remaining, cancelled } = row
  return {
    ...row,
    requestId: BigInt(requestId),
    amount: BigInt(amount),
    remaining: BigInt(remaining),
    cancelled: BigInt(cancelled),
  }
}

/** Writes the changes and the present they lead to. Changes of one wallet must be in the order they happened. */
export async function recordPositions(db: Queryable, rows: DerivedRows): Promise<void> {
  await recordBalanceChanges(db, rows.balanceChanges)
  await recordLotChanges(db, rows.lotChanges)
  await recordBalances(db, rows.balanceChanges)
  await recordLots(db, rows.lotChanges)
  await recordRequests(db, rows)
}

export async function recordBalanceChanges(db: Queryable, rows: readonly BalanceChange[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into balance_changes (vault_id, wallet, block_number, transaction_index, block_timestamp, before, after,
      attributed_before, attributed_after)
    select vault_id, wallet, block_number, transaction_index, to_timestamp(at), before, after, ab, aa
    from unnest(${column(rows, (r) => r.vaultId)}::int[], ${column(rows, (r) => r.wallet)}::text[],
      ${column(rows, (r) => r.blockNumber)}::bigint[], ${column(rows, (r) => r.transactionIndex)}::int[],
      ${column(rows, (r) => r.timestamp)}::bigint[], ${column(rows, (r) => text(r.before))}::numeric[],
      ${column(rows, (r) => text(r.after))}::numeric[], ${column(rows, (r) => text(r.attributedBefore))}::numeric[],
      ${column(rows, (r) => text(r.attributedAfter))}::numeric[])
      as t (vault_id, wallet, block_number, transaction_index, at, before, after, ab, aa)`
}

export async function recordLotChanges(db: Queryable, rows: readonly LotChange[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into lot_changes (vault_id, wallet, distributor_id, block_number, transaction_index, block_timestamp, before,
      after)
    select vault_id, wallet, distributor_id, block_number, transaction_index, to_timestamp(at), before, after
    from unnest(${column(rows, (r) => r.vaultId)}::int[], ${column(rows, (r) => r.wallet)}::text[],
      ${column(rows, (r) => r.distributorId)}::text[], ${column(rows, (r) => r.blockNumber)}::bigint[],
      ${column(rows, (r) => r.transactionIndex)}::int[], ${column(rows, (r) => r.timestamp)}::bigint[],
      ${column(rows, (r) => text(r.before))}::numeric[], ${column(rows, (r) => text(r.after))}::numeric[])
      as t (vault_id, wallet, distributor_id, block_number, transaction_index, at, before, after)`
}

/** The last change of each key, with the block of its first one. */
function lastOf<T extends { blockNumber: number }>(
  rows: readonly T[],
  key: (row: T) => string,
): (T & { first: number })[] {
  const last = new Map<string, T & { first: number }>()
  for (const row of rows) {
    const name = key(row)
    last.set(name, { ...row, first: last.get(name)?.first ?? row.blockNumber })
  }
  return [...last.values()]
}

async function recordBalances(db: Queryable, changes: readonly BalanceChange[]): Promise<void> {
  const rows = lastOf(changes, (row) => holderKey(row.vaultId, row.wallet))
  if (rows.length === 0) return
  await db`
    insert into balances (vault_id, wallet, shares, attributed, first_block)
    select * from unnest(${column(rows, (r) => r.vaultId)}::int[], ${column(rows, (r) => r.wallet)}::text[],
      ${column(rows, (r) => text(r.after))}::numeric[], ${column(rows, (r) => text(r.attributedAfter))}::numeric[],
      ${column(rows, (r) => r.first)}::bigint[])
    on conflict (vault_id, wallet) do update set shares = excluded.shares, attributed = excluded.attributed`
}

async function recordLots(db: Queryable, changes: readonly LotChange[]): Promise<void> {
  const rows = lastOf(changes, (row) => `${holderKey(row.vaultId, row.wallet)}:${row.distributorId}`)
  if (rows.length === 0) return
  await db`
    insert into lots (vault_id, wallet, distributor_id, shares, first_block)
    select * from unnest(${column(rows, (r) => r.vaultId)}::int[], ${column(rows, (r) => r.wallet)}::text[],
      ${column(rows, (r) => r.distributorId)}::text[], ${column(rows, (r) => text(r.after))}::numeric[],
      ${column(rows, (r) => r.first)}::bigint[])
    on conflict (vault_id, wallet, distributor_id) do update set shares = excluded.shares`
}

export async function recordRequests(db: Queryable, { requests, requestChanges }: DerivedRows): Promise<void> {
  if (requests.length > 0)
    await db`
      insert into requests (id, vault_id, kind, controller, owner, request_id, distributor_id, attribution, amount,
        remaining, cancelled, cancelling, block_number, block_timestamp, transaction_index, log_index, transaction_hash)
      select id, vault_id, kind, controller, owner, request_id, distributor_id, attribution, amount, remaining, cancelled,
        cancelling = 1, block_number, to_timestamp(at), transaction_index, log_index, transaction_hash
      from unnest(${column(requests, (r) => r.id)}::uuid[], ${column(requests, (r) => r.vaultId)}::int[],
        ${column(requests, (r) => r.kind)}::text[], ${column(requests, (r) => r.controller)}::text[],
        ${column(requests, (r) => r.owner)}::text[], ${column(requests, (r) => text(r.requestId))}::numeric[],
        ${column(requests, (r) => r.distributorId)}::text[], ${column(requests, (r) => r.attribution)}::text[],
        ${column(requests, (r) => text(r.amount))}::numeric[], ${column(requests, (r) => text(r.remaining))}::numeric[],
        ${column(requests, (r) => text(r.cancelled))}::numeric[], ${column(requests, (r) => Number(r.cancelling))}::int[],
        ${column(requests, (r) => r.blockNumber)}::bigint[], ${column(requests, (r) => r.timestamp)}::bigint[],
        ${column(requests, (r) => r.transactionIndex)}::int[], ${column(requests, (r) => r.logIndex)}::int[],
        ${column(requests, (r) => r.transactionHash)}::text[])
        as t (id, vault_id, kind, controller, owner, request_id, distributor_id, attribution, amount, remaining, cancelled,
          cancelling, block_number, at, transaction_index, log_index, transaction_hash)`
  if (requestChanges.length === 0) return
  const c = requestChanges
  await db`
    insert into request_changes (request_id, vault_id, block_number, log_index, remaining_before, remaining_after,
      cancelled_before, cancelled_after, cancelling_before, cancelling_after)
    select request_id, vault_id, block_number, log_index, rb, ra, cb, ca, flag_before = 1, flag_after = 1
    from unnest(${column(c, (r) => r.requestId)}::uuid[], ${column(c, (r) => r.vaultId)}::int[],
      ${column(c, (r) => r.blockNumber)}::bigint[], ${column(c, (r) => r.logIndex)}::int[],
      ${column(c, (r) => text(r.before.remaining))}::numeric[], ${column(c, (r) => text(r.after.remaining))}::numeric[],
      ${column(c, (r) => text(r.before.cancelled))}::numeric[], ${column(c, (r) => text(r.after.cancelled))}::numeric[],
      ${column(c, (r) => Number(r.before.cancelling))}::int[], ${column(c, (r) => Number(r.after.cancelling))}::int[])
      as t (request_id, vault_id, block_number, log_index, rb, ra, cb, ca, flag_before, flag_after)`
  const last = lastOf(c, (row) => row.requestId)
  await db`
    update requests r set remaining = t.remaining, cancelled = t.cancelled, cancelling = t.cancelling = 1
    from unnest(${column(last, (l) => l.requestId)}::uuid[], ${column(last, (l) => text(l.after.remaining))}::numeric[],
      ${column(last, (l) => text(l.after.cancelled))}::numeric[], ${column(last, (l) => Number(l.after.cancelling))}::int[])
      as t (id, remaining, cancelled, cancelling)
    where r.id = t.id`
}

/** Takes positions, and the signatures that have counted, back to what they were at the end of a block. */
export async function rewindPositions(db: Queryable, vaultIds: readonly number[], number: number): Promise<void> {
  const vaults = [...vaultIds]
  await db`
    with gone as (
      delete from balance_changes where vault_id = any(${vaults}) and block_number > ${number} returning *),
    first as (
      select distinct on (vault_id, wallet) * from gone order by vault_id, wallet, block_number, transaction_index)
    update balances b set shares = first.before, attributed = first.attributed_before
    from first where b.vault_id = first.vault_id and b.wallet = first.wallet`
  await db`delete from balances where vault_id = any(${vaults}) and first_block > ${number}`
  await db`
    with gone as (
      delete from lot_changes where vault_id = any(${vaults}) and block_number > ${number} returning *),
    first as (
      select distinct on (vault_id, wallet, distributor_id) * from gone
      order by vault_id, wallet, distributor_id, block_number, transaction_index)
    update lots l set shares = first.before
    from first where l.vault_id = first.vault_id and l.wallet = first.wallet and l.distributor_id = first.distributor_id`
  await db`delete from lots where vault_id = any(${vaults}) and first_block > ${number}`
  await db`
    with gone as (
      delete from request_changes where vault_id = any(${vaults}) and block_number > ${number} returning *),
    first as (select distinct on (request_id) * from gone order by request_id, block_number, log_index)
    update requests r set remaining = first.remaining_before, cancelled = first.cancelled_before,
      cancelling = first.cancelling_before
    from first where r.id = first.request_id`
  await db`delete from requests where vault_id = any(${vaults}) and block_number > ${number}`
  await removeUsedSignaturesAbove(db, vaultIds, number)
}
