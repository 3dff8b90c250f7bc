import type { KeyKind } from '../../kernel/operation.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'

/** Publishable and secret API keys of an organization have idempotency keys of their own. */
export type IdempotencyKey = { organizationId: string; keyKind: KeyKind; key: string }

/** One request's hold on a key. `turn` is new with every one. */
export type Lease = IdempotencyKey & { turn: string }

/** `status` and `body` are null while the request is at work. */
export type IdempotencyRecord = { fingerprint: Uint8Array; status: number | null; body: string | null }

/** Takes a key that is new, expired, or whose holder's lease has run out. False when it is taken. */
export async function takeLease(
  db: Queryable,
  { organizationId, keyKind, key, turn }: Lease,
  times: { now: Date; leasedUntil: Date; expiresAt: Date },
  fingerprint: Uint8Array,
): Promise<boolean> {
  const rows = await db`
    insert into idempotency_keys as k
      (organization_id, key_kind, key, fingerprint, turn, leased_until, expires_at)
    values (${organizationId}, ${keyKind}, ${key}, ${Buffer.from(fingerprint)}, ${turn}, ${times.leasedUntil},
      ${times.expiresAt})
    on conflict (organization_id, key_kind, key) do update set fingerprint = excluded.fingerprint, turn = excluded.turn,
      leased_until = excluded.leased_until, expires_at = excluded.expires_at, status = null, body = null
    where k.expires_at <= ${times.now} or (k.status is null and k.leased_until <= ${times.now})
    returning 1`
  return rows.length > 0
}

/** The record of a key; undefined when it is free to be taken. */
export async function findRecord(
  db: Queryable,
  { organizationId, keyKind, key }: IdempotencyKey,
  now: Date,
): Promise<IdempotencyRecord | undefined> {
  const rows = await db<IdempotencyRecord[]>`
    select fingerprint, status, body from idempotency_keys
    where organization_id = ${organizationId} and key_kind = ${keyKind} and key = ${key}
      and expires_at > ${now} and (status is not null or leased_until > ${now})`
  return rows[0]
}

/**
 * Keeps the answer, until `heldUntil` or as long as answers are kept. False when the lease ran out and another request took
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
