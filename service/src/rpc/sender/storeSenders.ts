import type { Queryable, Transaction } from '../../postgres/pool.js'
import type { SenderKey } from './storeOutgoing.js'

/** The stored state of a key on a chain. */
export type SenderRow = {
  /** Undefined where the key was never used here. */
  next: number | undefined
  stopped: string | null
  /** When an operator let the key go on; null where none does. */
  releasedAt: Date | null
}

/** Locks the sender's row until the transaction ends: every signature with the key is made under this lock. */
export async function lockSender(tx: Transaction, { chainId, address }: SenderKey): Promise<void> {
  await tx`
    insert into senders (chain_id, address) values (${chainId}, hex_bytes(${address}))
    on conflict (chain_id, address) do update set address = excluded.address`
}

/** Reads the stored state of a key: its next nonce is one more than our highest, and at least the accepted count. */
export async function readSender(db: Queryable, { chainId, address }: SenderKey): Promise<SenderRow> {
  const [row] = await db<{ next: number | null; stopped: string | null; releasedAt: Date | null }[]>`
    select greatest(accepted_count, highest + 1) as next, stopped, release_asked_at as "releasedAt"
    from (select max(nonce) as highest from outgoing_transactions
      where chain_id = ${chainId} and sender = hex_bytes(${address})) own
    left join senders on chain_id = ${chainId} and address = hex_bytes(${address})`
  return { next: row?.next ?? undefined, stopped: row?.stopped ?? null, releasedAt: row?.releasedAt ?? null }
}

/** Accepts the transactions up to this count, also those of other senders of the key. */
export async function acceptCount(tx: Transaction, { chainId, address }: SenderKey, count: number): Promise<void> {
  await tx`
    update senders set accepted_count = ${count}, release_asked_at = null
    where chain_id = ${chainId} and address = hex_bytes(${address})`
}

/** Nonces that our own transactions have, from one on. */
export async function listNonces(db: Queryable, { chainId, address }: SenderKey, from: number): Promise<number[]> {
  const rows = await db<{ nonce: number }[]>`
    select nonce from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and nonce >= ${from} order by nonce`
  return rows.map(({ nonce }) => nonce)
}

/** The cost, or possible cost, of a sender's transactions since an instant. Transactions that can still be mined always count. */
export async function sumSpending(db: Queryable, { chainId, address }: SenderKey, since: Date): Promise<bigint> {
  const [row] = await db<{ sum: string }[]>`
    select coalesce(sum(coalesce(cost, reserved)), 0) as sum from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and (reserved_at > ${since} or state = 'sent')`
  return BigInt(row?.sum ?? 0)
}

/** Gives a queued transaction its nonce. False when it is not queued any more. */
export async function takeNonce(
  tx: Transaction,
  outgoing: { id: string; nonce: number; gasLimit: bigint; reserved: bigint; at: Date },
): Promise<boolean> {
  const { id, nonce, gasLimit, reserved, at } = outgoing
  const taken = await tx`
    update outgoing_transactions set state = 'sent', nonce = ${nonce}, gas_limit = ${gasLimit.toString()}, reason = null,
      held = null, reserved = ${reserved.toString()}, reserved_at = ${at}
    where id = ${id} and state = 'queued' returning id`
  return taken.length > 0
}

/** A dearer form may cost more; a cheaper one frees nothing, for both can be mined. Returns what all may cost then. */
export async function raiseReserved(
  tx: Transaction,
  key: SenderKey,
  { id, reserved, since }: { id: string; reserved: bigint; since: Date },
): Promise<bigint> {
  await tx`
    update outgoing_transactions set reserved = greatest(reserved, ${reserved.toString()}::numeric) where id = ${id}`
  return sumSpending(tx, key, since)
}

/** Says why nothing is signed with a key, or that it goes on. False where that was known. */
export async function recordStop(
  db: Queryable,
  { chainId, address }: SenderKey,
  why: string | null,
  at: Date,
): Promise<boolean> {
  const changed = await db`
    insert into senders (chain_id, address, stopped, stopped_at)
    values (${chainId}, hex_bytes(${address}), ${why}, ${why === null ? null : at})
    on conflict (chain_id, address) do update set stopped = excluded.stopped,
      stopped_at = case when excluded.stopped is null then null else coalesce(senders.stopped_at, excluded.stopped_at) end
    where senders.stopped is distinct from excluded.stopped returning address`
  return changed.length > 0
}

/** Releases a stopped key: the transactions on the chain are accepted. Returns false if the key is not stopped. */
export async function releaseSender(db: Queryable, { chainId, address }: SenderKey, at: Date): Promise<boolean> {
  const released = await db`
    update senders set release_asked_at = ${at}
    where chain_id = ${chainId} and address = hex_bytes(${address}) and stopped is not null returning address`
  return released.length > 0
}

/** How a key of this installation fares on a chain. */
export type SenderStatus = {
  chainId: number
  address: string
  stopped: string | null
  stoppedAt: Date | null
  isReleased: boolean
  open: number
  /** The oldest transaction that is not over: since when it is wanted, and why it waits. */
  oldestId: string | null
  oldestAt: Date | null
  oldestReason: string | null
}

/** All keys that have sent or are to send. */
export async function listSenders(db: Queryable): Promise<SenderStatus[]> {
  return db<SenderStatus[]>`
    with open as (
      select distinct on (chain_id, sender) chain_id, sender, id, created_at, reason,
        count(*) over (partition by chain_id, sender)::int as count
      from outgoing_transactions where state in ('queued', 'sent') order by chain_id, sender, created_at, id
    )
    select coalesce(s.chain_id, open.chain_id) as "chainId", hex_text(coalesce(s.address, open.sender)) as address,
      stopped, stopped_at as "stoppedAt", release_asked_at is not null as "isReleased", coalesce(open.count, 0) as open,
      open.id as "oldestId", open.created_at as "oldestAt", open.reason as "oldestReason"
    from senders s full join open on open.chain_id = s.chain_id and open.sender = s.address
    order by 1, 2`
}
