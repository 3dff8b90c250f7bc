import type { KeyKind } from '../../kernel/operation.js'
import type { Queryable } from '../../postgres/pool.js'

export type KeyRow = {
  id: string
  kind: KeyKind
  hint: string
  name: string
  organizationId: string
  distributorId: string | null
  permissions: string[]
  origins: string[]
  hourlyUnits: number
  monthlyUnits: number | null
  /** The share of the hour one client address may use, above 0; 1 is all of it. */
  addressShare: number
  /** The share in units; null for all of it. */
  addressUnits: number | null
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
}

const columns = (db: Queryable) => db`
  id, kind, hint, name, organization_id as "organizationId", distributor_id as "distributorId", permissions, origins,
  hourly_units as "hourlyUnits", monthly_units as "monthlyUnits",
  address_share::float8 as "addressShare",
  case when address_share < 1 then floor(hourly_units * address_share)::bigint end as "addressUnits", created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt"`

export async function findKeyByHash(db: Queryable, hash: Uint8Array): Promise<KeyRow | undefined> {
  const rows = await db<KeyRow[]>`select ${columns(db)} from api_keys where hash = ${Buffer.from(hash)}`
  return rows[0]
}

/** Keys by id, hint or text. */
export async function findKeys(db: Queryable, name: { idOrHint: string; hash?: Uint8Array }): Promise<KeyRow[]> {
  const { idOrHint, hash } = name
  return db<KeyRow[]>`
    select ${columns(db)} from api_keys
    where id::text = ${idOrHint} or hint = ${idOrHint} or hash = ${hash ? Buffer.from(hash) : null} order by created_at, id`
}

/** Keys of one organization, or of all, newest first. */
export async function listKeys(db: Queryable, organizationId: string | undefined): Promise<KeyRow[]> {
  return db<KeyRow[]>`
    select ${columns(db)} from api_keys
    ${organizationId === undefined ? db`` : db`where organization_id = ${organizationId}`}
    order by created_at desc, id`
}

export type NewKey = Omit<KeyRow, 'createdAt' | 'revokedAt' | 'addressUnits'> & { hash: Uint8Array }

/** Records a key. False when an equal key is there already. */
export async function recordKey(db: Queryable, key: NewKey): Promise<boolean> {
  const rows = await db`
    insert into api_keys (id, hash, kind, hint, name, organization_id, distributor_id, permissions, origins,
      hourly_units, monthly_units, address_share, expires_at)
    values (${key.id}, ${Buffer.from(key.hash)}, ${key.kind}, ${key.hint}, ${key.name}, ${key.organizationId},
      ${key.distributorId}, ${key.permissions}, ${key.origins}, ${key.hourlyUnits}, ${key.monthlyUnits},
      ${key.addressShare}, ${key.expiresAt})
    on conflict (hash) do nothing returning id`
  return rows.length === 1
}

/** Revokes by id or hint. The rows revoked; a key revoked before is not among them. */
export async function updateRevoked(
  db: Queryable,
  idOrHint: string,
  at: Date,
): Promise<{ id: string; hint: string; organizationId: string }[]> {
  return db<{ id: string; hint: string; organizationId: string }[]>`
    update api_keys set revoked_at = ${at} where (id::text = ${idOrHint} or hint = ${idOrHint}) and revoked_at is null
    returning id, hint, organization_id as "organizationId"`
}

/** Sets the address share of a publishable key by id or hint. The rows set. */
export async function updateAddressShare(
  db: Queryable,
  idOrHint: string,
  share: number,
): Promise<{ id: string; hint: string }[]> {
  return db<{ id: string; hint: string }[]>`
    update api_keys set address_share = ${share}
    where (id::text = ${idOrHint} or hint = ${idOrHint}) and revoked_at is null and kind = 'publishable'
    returning id, hint`
}
