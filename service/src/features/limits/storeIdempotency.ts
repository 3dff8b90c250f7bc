import type { Queryable } from '../../kernel/database.js'

export type Turn = { organizationId: string; key: string; turn: string }

export type IdempotencyRow = { fingerprint: Uint8Array; status: number | null; body: string | null }

/** Takes a key that is new, expired, or whose holder's lease has run out. False when it is taken. */
export async function takeTurn(
  db: Queryable,
  { organizationId, key, turn }: Turn,
  times: { now: Date; leasedUntil: Date; expiresAt: Date },
  fingerprint: Uint8Array,
): Promise<boolean> {
  const rows = await db`
    insert into idempotency_keys as k (organization_id, key, fingerprint, turn, leased_until, expires_at)
    values (${organizationId}, ${key}, ${Buffer.from(fingerprint)}, ${turn}, ${times.leasedUntil}, ${times.expiresAt})
    on conflict (organization_id, key) do update set fingerprint = excluded.fingerprint, turn = excluded.turn,
      leased_until = excluded.leased_until, expires_at = excluded.expires_at, status = null, body = null
    where k.expires_at <= ${times.now} or (k.status is null and k.leased_until <= ${times.now})
    returning 1`
  return rows.length > 0
}

export async function findIdempotencyRow(
  db: Queryable,
  organizationId: string,
  key: string,
): Promise<IdempotencyRow | undefined> {
  const rows = await db<IdempotencyRow[]>`
    select fingerprint, status, body from idempotency_keys where organization_id = ${organizationId} and key = ${key}`
  return rows[0]
}

/** Keeps the answer of a turn. False when the turn is over: its lease ran out and another request took the key. */
export async function recordAnswer(db: Queryable, turn: Turn, status: number, body: string): Promise<boolean> {
  const rows = await db`
    update idempotency_keys set status = ${status}, body = ${body}
    where organization_id = ${turn.organizationId} and key = ${turn.key} and turn = ${turn.turn} and status is null
    returning 1`
  return rows.length > 0
}

/** Frees the key of a turn that is to leave no answer. */
export async function removeTurn(db: Queryable, { organizationId, key, turn }: Turn): Promise<void> {
  await db`delete from idempotency_keys where organization_id = ${organizationId} and key = ${key} and turn = ${turn}`
}

/** Removes some of the rows nobody may ask for any more; how many. */
export async function removeExpired(db: Queryable, now: Date): Promise<number> {
  const { count } = await db`
    delete from idempotency_keys where ctid = any (array(
      select ctid from idempotency_keys where expires_at <= ${now} limit 1000 for update skip locked))`
  return count
}
