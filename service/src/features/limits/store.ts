import type { KeyKind } from '../../kernel/operation.js'
import type { Fragment, Queryable, Transaction } from '../../postgres/pool.js'
import type { Seen } from '../../postgres/reading.js'
import type { Allowance, NetworkSum, Sum, Used, Windows } from './budget.js'

type UsedRow = { hourAt: Date; hourUsed: number; monthAt: Date; monthUsed: number }
type SeenRow = { lastWrite: string | null; lastEvent: number | null }

/** The last event of the feed as a piece of a statement; null where nobody asks for it. */
export type LastEventOf = (db: Queryable) => Fragment
const noEventOf: LastEventOf = (db) => db.view`null::bigint`

/** A charge tells how far a replica has to be that serves its call; nothing where the last event was not asked for. */
function withSeen<T extends SeenRow>({ lastWrite, lastEvent, ...row }: T) {
  const seen: Seen | undefined = lastEvent === null ? undefined : { lastWrite, lastEvent }
  return { ...row, seen }
}

/**
 * Charges calls to the hour and the month in one statement; undefined, and nothing charged, when there is no room for them
 * in one of the two. A process whose clock is behind charges the window the row is in already, so windows never move back.
 * The commit does not wait for the disk: a database that crashes may forget the charges of its last half second, and every
 * call would wait for a write of its own otherwise. Not for use within another transaction.
 */
export async function chargeUnits(
  db: Queryable,
  { keyId, hourlyUnits, monthlyUnits }: Allowance,
  { hourAt, monthAt }: Windows,
  { units, taken }: Sum,
  lastEventOf: LastEventOf = noEventOf,
): Promise<Used | undefined> {
  const [row] = await db<(UsedRow & SeenRow)[]>`
    insert into budgets as b (key_id, hour_at, hour_used, month_at, month_used)
    select ${keyId}::uuid, ${hourAt}::timestamptz, ${taken}::bigint, ${monthAt}::timestamptz, ${taken}::bigint
    from set_config('synchronous_commit', 'off', true)
    where ${units}::bigint <= least(${hourlyUnits}::bigint, ${monthlyUnits}::bigint)
    on conflict (key_id) do update set
      hour_at = greatest(b.hour_at, excluded.hour_at),
      hour_used = case when b.hour_at >= excluded.hour_at then b.hour_used else 0 end + excluded.hour_used,
      month_at = greatest(b.month_at, excluded.month_at),
      month_used = case when b.month_at >= excluded.month_at then b.month_used else 0 end + excluded.month_used,
      last_write = case when b.has_unplaced_write then pg_current_wal_flush_lsn() else b.last_write end,
      has_unplaced_write = false
    where case when b.hour_at >= excluded.hour_at then b.hour_used else 0 end + ${units}::bigint
        <= ${hourlyUnits}::bigint
      and (${monthlyUnits}::bigint is null
        or case when b.month_at >= excluded.month_at then b.month_used else 0 end + ${units}::bigint
          <= ${monthlyUnits}::bigint)
    returning hour_at as "hourAt", hour_used as "hourUsed", month_at as "monthAt", month_used as "monthUsed",
      ${lastWriteOf(db)} as "lastWrite", ${lastEventOf(db)} as "lastEvent"`
  return row && withSeen(row)
}

/** A position that the server has not reached is of another server, which these rows were copied from: then all there is counts. */
const lastWriteOf = (db: Queryable) =>
  db.view`(case when last_write is not null then least(last_write, pg_current_wal_flush_lsn()) end)::text`

/**
 * Marks that a key writes. To be called last in the transaction of the write: the row stays locked until it commits. Its commit
 * is flushed before it is seen, also where the server is told to be lax.
 */
export async function markWrite(tx: Transaction, keyId: string): Promise<void> {
  await tx`
    update budgets set has_unplaced_write = true from set_config('synchronous_commit',
      case current_setting('synchronous_commit') when 'off' then 'local' else current_setting('synchronous_commit') end, true)
    where key_id = ${keyId}`
}

/** The usage of a key in these windows, or in later ones that another process has begun. */
export async function findUsed(db: Queryable, keyId: string, { hourAt, monthAt }: Windows): Promise<Used> {
  const rows = await db<UsedRow[]>`
    select greatest(hour_at, ${hourAt}) as "hourAt", case when hour_at >= ${hourAt} then hour_used else 0 end as "hourUsed",
      greatest(month_at, ${monthAt}) as "monthAt",
      case when month_at >= ${monthAt} then month_used else 0 end as "monthUsed"
    from budgets where key_id = ${keyId}`
  return rows[0] ?? { hourAt, monthAt, hourUsed: 0, monthUsed: 0 }
}

/** The same where addresses have shares: charges key and addresses all or nothing, and tells what is used by then. */
export async function chargeByAddress(
  db: Queryable,
  { keyId, hourlyUnits, monthlyUnits }: Allowance,
  { hourAt, monthAt }: Windows,
  { units, taken }: Sum,
  networks: readonly NetworkSum[],
  lastEventOf: LastEventOf = noEventOf,
): Promise<{ charged: boolean; used: Used }> {
  type Row = UsedRow & SeenRow & { charged: boolean; networkUsed: string[] }
  const [row] = await db<Row[]>`
    select charged, hour_at as "hourAt", hour_used as "hourUsed", month_at as "monthAt", month_used as "monthUsed",
      network_used::text[] as "networkUsed", ${lastWriteOf(db)} as "lastWrite", ${lastEventOf(db)} as "lastEvent"
    from charge_by_address(${keyId}::uuid, ${hourAt}::timestamptz, ${monthAt}::timestamptz, ${hourlyUnits}::bigint,
      ${monthlyUnits}::bigint, ${units}::bigint, ${taken}::bigint, ${networks.map((n) => n.network)}::text[],
      ${networks.map((n) => n.limit)}::bigint[], ${networks.map((n) => n.units)}::bigint[],
      ${networks.map((n) => n.taken)}::bigint[]), set_config('synchronous_commit', 'off', true)`
  if (!row) throw new Error('a charge was not answered')
  const { charged, networkUsed, ...used } = withSeen(row)
  const byNetwork = new Map(networks.map(({ network }, at) => [network, Number(networkUsed[at] ?? 0)]))
  return { charged, used: { ...used, byNetwork } }
}

/** Removes some of what addresses used in hours before this one; how many rows. */
export async function removeOldAddresses(db: Queryable, before: Date): Promise<number> {
  const { count } = await db`
    delete from address_budgets where ctid = any (array(
      select ctid from address_budgets where hour_at < ${before} limit 1000 for update skip locked))`
  return count
}

/** A key that has used much of its hour or its month. */
export type BusyKey = {
  keyId: string
  hint: string
  organizationId: string
  window: 'hourly' | 'monthly'
  startsAt: Date
  limit: number
  used: number
}

/** Keys that have used this share of the hour or the month that an instant is in. */
export async function listBusyKeys(db: Queryable, { at, percent }: { at: Date; percent: number }): Promise<BusyKey[]> {
  return db<BusyKey[]>`
    select k.id as "keyId", k.hint, k.organization_id as "organizationId", w.name as window, w.starts_at as "startsAt",
      w.most as limit, w.used
    from budgets b join api_keys k on k.id = b.key_id
    cross join lateral (values
      ('hourly', b.hour_at, k.hourly_units, b.hour_used, b.hour_at + interval '1 hour'),
      ('monthly', b.month_at, k.monthly_units, b.month_used, b.month_at + interval '1 month'))
      as w (name, starts_at, most, used, ends_at)
    where w.most > 0 and w.used * 100 >= w.most * ${percent}::int and ${at} >= w.starts_at and ${at} < w.ends_at
    order by k.id, w.name`
}

/** A key as its holder sees it. */
export type ShownKey = {
  hint: string
  kind: KeyKind
  organizationId: string
  distributorId: string | null
  permissions: string[]
  origins: string[]
  hourlyUnits: number
  monthlyUnits: number | null
  /** Units an hour of one client address; null without a share. */
  addressUnits: number | null
}

/** The key of a caller. Keys are revoked and never deleted. */
export async function findKey(db: Queryable, keyId: string): Promise<ShownKey> {
  const [row] = await db<ShownKey[]>`
    select hint, kind, organization_id as "organizationId", distributor_id as "distributorId", permissions, origins,
      hourly_units as "hourlyUnits", monthly_units as "monthlyUnits",
      case when address_share < 1 then floor(hourly_units * address_share)::bigint end as "addressUnits"
    from api_keys where id = ${keyId}`
  if (!row) throw new Error('the key of a caller is not kept')
  return row
}
