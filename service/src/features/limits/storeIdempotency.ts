import type { KeyKind } from '../../kernel/operation.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import type { KeyRecord } from './lease.js'

/** Publishable and secret API keys of an organization have idempotency keys of their own. */
export type IdempotencyKey = { organizationId: string; keyKind: KeyKind; key: string }

/** One request's hold on a key. `turn` is new with every one. */
export type Lease = IdempotencyKey & { turn: string }

type Times = { leasedUntil: Date; expiresAt: Date }

/** Takes a key of which nothing is kept. False when something is. */
export async function insertLease(
  db: Queryable,
  { organizationId, keyKind, key, turn }: Lease,
  { leasedUntil, expiresAt }: Times,
  fingerprint: Uint8Array,
): Promise<boolean> {
  const rows = await db`
    insert into idempotency_keys (organization_id, key_kind, key, fingerprint, turn, leased_until, expires_at)
    values (${organizationId}, ${keyKind}, ${key}, ${Buffer.from(fingerprint)}, ${turn}, ${leasedUntil}, ${expiresAt})
    on conflict (organization_id, key_kind, key) do nothing
    returning 1`
  return rows.length > 0
}

/** Takes a key from the request that was seen to have it. False when that has answered meanwhile, or has it no more. */
export async function replaceLease(
  db: Queryable,
  { organizationId, keyKind, key, turn }: Lease,
  seen: Pick<KeyRecord, 'turn' | 'status'>,
  { leasedUntil, expiresAt }: Times,
  fingerprint: Uint8Array,
): Promise<boolean> {
  const rows = await db`
    update idempotency_keys set fingerprint = ${Buffer.from(fingerprint)}, turn = ${turn}, leased_until = ${leasedUntil},
      expires_at = ${expiresAt}, status = null, body = null
    where organization_id = ${organizationId} and key_kind = ${keyKind} and key = ${key} and turn = ${seen.turn}
      and status is not distinct from ${seen.status}
    returning 1`
  return rows.length > 0
}

/** The record of a key, if any. `standingOf` decides whether it still counts. */
export async function findRecord(
  db: Queryable,
  { organizationId, keyKind, key }: IdempotencyKey,
): Promise<KeyRecord | undefined> {
  const rows = await db<KeyRecord[]>`
    select fingerprint, turn, leased_until as "leasedUntil", expires_at as "expiresAt", status, body from idempotency_keys
    where organization_id = ${organizationId} and key_kind = ${keyKind} and key = ${key}`
  return rows[0]
}

/**
 * Stores the response until `heldUntil`, or for the usual time. Returns false if the lease ran out and another request took
 * the key.
 */
export async function recordAnswer(
  tx: Transaction,
  { organizationId, keyKind, key, turn }: Lease,
  { status, body, heldUntil }: { status: number; body: string; heldUntil: Date | undefined },
): Promise<boolean> {
  const rows = await tx`
    update idempotency_keys set status = ${status}, body = ${body},
      expires_at = coalesce(${heldUntil ?? null}::timestamptz, expires_at)
    where organization_id = ${organizationId} and key_kind = ${keyKind} and key = ${key} and turn = ${turn}
      and status is null
    returning 1`
  return rows.length > 0
}

/** Frees a key that has no answer. An answer whose commit was not heard of stays. */
export async function removeLease(db: Queryable, { organizationId, keyKind, key, turn }: Lease): Promise<void> {
  await db`
    delete from idempotency_keys
    where organization_id = ${organizationId} and key_kind = ${keyKind} and key = ${key} and turn = ${turn}
      and status is null`
}

/** Removes some of the rows nobody may ask for any more; how many. */
export async function removeExpired(db: Queryable, now: Date): Promise<number> {
  const { count } = await db`
    delete from idempotency_keys where ctid = any (array(
      select ctid from idempotency_keys where expires_at <= ${now} limit 1000 for update skip locked))`
  return count
}
