import type { Fall } from '../../derive/paidPrice.js'
import { daySeconds } from '../../kernel/clock.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { vaultsOf } from '../../vaults/configured/index.js'

/** A whole UTC day of a vault, by its number since 1970, counted for every distributor. */
export type CountedDay = {
  vaultId: number
  day: number
  isAwaited: boolean
  /** Vaults whose shares the price of the asset follows from. */
  bases: readonly number[]
  falls: readonly Fall[]
}

/** The USD-days of a distributor on such a day: exact, of all of it and of its stretches of 900 s, divided by 10^scale. */
export type DaySums = {
  distributorId: string
  vaultId: number
  day: number
  scale: number
  total: bigint
  unpricedMs: number
  unguardedMs: number
  sums: readonly bigint[]
  /** Each stretch cut, in units of 10^-18. */
  cuts: readonly bigint[]
}

type StoredFall = [number, string, string]

/** The instant at which a counted day, or the day after it, begins. */
const dayStart = (db: Queryable, later: 0 | 1) =>
  db`to_timestamp((d.day + ${later}::int)::bigint * ${daySeconds}::bigint)`

/** Whether facts that a counted day `d` follows from changed since. */
const isMarked = (db: Queryable) => db`
  exists (select from usd_day_marks m where m.vault_id = d.vault_id
    and m.from_at < ${dayStart(db, 1)} and m.to_at > ${dayStart(db, 0)})
  or (d.bases <> '{}' and exists (select from usd_day_marks m where m.vault_id = any(d.bases)
    and m.from_at < ${dayStart(db, 1)}))`

/** A counted day as it is read for a distributor; `own` undefined: it has nothing. */
export type StoredDay = Omit<CountedDay, 'bases'> & {
  own:
    | (Pick<DaySums, 'scale' | 'total' | 'unpricedMs' | 'unguardedMs'> & {
        /** Of each stretch of 900 s: exact, or cut where that was asked for. */
        parts: readonly bigint[]
      })
    | undefined
}

/** Counted days of vaults for a distributor, each from one day up to another (not part of it), that no later fact changes. */
export async function listCountedDays(
  db: Queryable,
  ask: {
    distributorId: string
    spans: readonly { vaultId: number; from: number; to: number }[]
    isCut: boolean
  },
): Promise<StoredDay[]> {
  const { distributorId, spans, isCut } = ask
  type Row = Omit<StoredDay, 'falls' | 'own'> & { falls: StoredFall[]; total: string; parts: string | null } & {
    scale: number
    unpricedMs: number
    unguardedMs: number
  }
  const rows = await db<Row[]>`
    select d.vault_id as "vaultId", d.day, d.is_awaited as "isAwaited", d.falls, s.scale, s.total::text as total,
      s.unpriced_ms as "unpricedMs", s.unguarded_ms as "unguardedMs", ${isCut ? db`s.cuts` : db`s.sums`} as parts
    from unnest(${spans.map(({ vaultId }) => vaultId)}::int[], ${spans.map(({ from }) => from)}::int[],
      ${spans.map(({ to }) => to)}::int[]) as v (id, first, "end")
    join usd_days d on d.vault_id = v.id and d.day >= v.first and d.day < v."end"
    left join usd_day_sums s on s.distributor_id = ${distributorId} and s.vault_id = d.vault_id and s.day = d.day
    where not (${isMarked(db)}) order by d.vault_id, d.day`
  return rows.map(({ vaultId, day, isAwaited, falls, parts, total, ...own }) => ({
    ...{ vaultId, day, isAwaited },
    falls: falls.map(([snapshot, full, low]) => ({ snapshot, full: BigInt(full), low: BigInt(low) })),
    own: parts === null ? undefined : { ...own, total: BigInt(total), parts: parts.split(' ').map(BigInt) },
  }))
}

/** A vault with days to count, and the first day on which a distributor has shares in it. */
export type DueVault = { vaultId: number; chainId: number; assetDecimals: number; first: number }

/** Vaults with days to count before the end of what is known of their chain (a day, not part of it), the fewest counted first. */
export async function listDueVaults(
  db: Queryable,
  ends: readonly { chainId: number; end: number }[],
): Promise<DueVault[]> {
  return db<DueVault[]>`
    with recursive pairs as (
      (select a.distributor_id, a.vault_id, a.step from attributed_steps a
        order by a.distributor_id, a.vault_id, a.step limit 1)
      union all
      select n.* from pairs p cross join lateral (
        select a.distributor_id, a.vault_id, a.step from attributed_steps a
        where (a.distributor_id, a.vault_id) > (p.distributor_id, p.vault_id)
        order by a.distributor_id, a.vault_id, a.step limit 1) n),
    held as (select vault_id, min(step) / 96 as first from pairs group by vault_id)
    select v.id as "vaultId", v.chain_id as "chainId", v.asset_decimals as "assetDecimals", h.first
    from held h join ${vaultsOf(db)} v on v.id = h.vault_id
    join unnest(${ends.map(({ chainId }) => chainId)}::bigint[], ${ends.map((each) => each.end)}::int[]) as e (chain_id, "end")
      on e.chain_id = v.chain_id
    cross join lateral (
      select count(*) filter (where d.day between h.first and e."end" - 1) as counted from usd_days d
      where d.vault_id = v.id) d
    where d.counted < e."end" - h.first order by d.counted, v.id`
}

/** Vaults that are marked: all of them, whether or not a distributor has shares in them. */
export async function listMarkedVaults(db: Queryable): Promise<number[]> {
  const rows = await db<{ id: number }[]>`select distinct vault_id as id from usd_day_marks order by 1`
  return rows.map(({ id }) => id)
}

/**
 * Drops the counted days of a vault that facts changed of, and its marks: those of vaults whose price follows from its share
 * are marked in their place, where they have counted days that the change reaches. So a circle of vaults ends once their days are gone.
 */
export async function dropMarkedDays(tx: Transaction, vaultId: number): Promise<void> {
  await tx`
    insert into usd_day_marks (vault_id, from_at, to_at)
    select distinct d.vault_id, m.from_at, 'infinity'::timestamptz
    from (select min(from_at) as from_at from usd_day_marks where vault_id = ${vaultId}) m
    join usd_days d on d.bases @> array[${vaultId}::int] and d.vault_id <> ${vaultId}
      and m.from_at < ${dayStart(tx, 1)}`
  await tx`
    with gone as (
      delete from usd_days d where d.vault_id = ${vaultId} and (${isMarked(tx)}) returning d.day)
    delete from usd_day_sums s using gone where s.vault_id = ${vaultId} and s.day = gone.day`
  await tx`delete from usd_day_marks where vault_id = ${vaultId}`
}

/** The newest days of a vault, from one up to another (not part of it), that are not counted; in order. */
export async function listMissingDays(
  db: Queryable,
  { vaultId, first, end, limit }: { vaultId: number; first: number; end: number; limit: number },
): Promise<number[]> {
  const rows = await db<{ day: number }[]>`
    select g.day from generate_series(${end}::int - 1, ${first}::int, -1) as g (day)
    where not exists (select from usd_days d where d.vault_id = ${vaultId} and d.day = g.day)
    order by g.day desc limit ${limit}`
  return rows.map(({ day }) => day).reverse()
}

/** Distributors that ever had a lot in a vault. */
export async function listVaultDistributors(db: Queryable, vaultId: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    with recursive ids as (
      (select distributor_id as id from attributed_steps order by 1 limit 1)
      union all
      select (select min(a.distributor_id) from attributed_steps a where a.distributor_id > ids.id) from ids
      where ids.id is not null)
    select id from ids where id is not null
      and exists (select from attributed_steps a where a.distributor_id = ids.id and a.vault_id = ${vaultId}) order by 1`
  return rows.map(({ id }) => id)
}

/** Stores counted days. */
export async function recordDays(
  tx: Transaction,
  { days, sums }: { days: readonly CountedDay[]; sums: readonly DaySums[] },
): Promise<void> {
  const dayRows = days.map(({ vaultId, day, isAwaited, bases, falls }) => ({
    ...{ vaultId, day, isAwaited, bases },
    falls: falls.map(({ snapshot, full, low }): StoredFall => [snapshot, String(full), String(low)]),
  }))
  await tx`
    insert into usd_days (vault_id, day, is_awaited, bases, falls)
    select r."vaultId", r.day, r."isAwaited", r.bases, r.falls
    from jsonb_to_recordset(${tx.json(dayRows as never)}) as r ("vaultId" integer, day integer, "isAwaited" boolean,
      bases integer[], falls jsonb)
    on conflict do nothing`
  const sumRows = sums.map((each) => ({
    ...each,
    total: String(each.total),
    ...{ sums: toHex(each.sums), cuts: toHex(each.cuts) },
  }))
  await tx`
    insert into usd_day_sums (distributor_id, vault_id, day, scale, total, unpriced_ms, unguarded_ms, sums, cuts)
    select r."distributorId", r."vaultId", r.day, r.scale, r.total, r."unpricedMs", r."unguardedMs", r.sums, r.cuts
    from jsonb_to_recordset(${tx.json(sumRows as never)}) as r ("distributorId" text, "vaultId" integer, day integer,
      scale smallint, total numeric, "unpricedMs" integer, "unguardedMs" integer, sums text, cuts text)
    on conflict do nothing`
}

const toHex = (values: readonly bigint[]) => values.map((value) => `0x${value.toString(16)}`).join(' ')
