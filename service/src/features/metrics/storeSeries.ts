import type { Fragment, Queryable } from '../../postgres/pool.js'
import { snapshotsOf } from '../../snapshots/index.js'
import type { Buckets } from './buckets.js'
import { stepSeconds } from './storeSteps.js'
import type { SeriesVault } from './storeVaults.js'

/** Of whom: a distributor in some vaults. */
export type Attributed = { distributorId: string; vaults: readonly SeriesVault[] }

/** Whether the stored steps tell what held at the end of every bucket. */
export const fitsSteps = ({ step }: Pick<Buckets, 'step'>): boolean => step % stepSeconds === 0

/** Statements of one request that run side by side. */
const statementsMax = 2
/** Values of vaults in buckets that one statement makes: few enough that it sorts and joins them in memory. */
const valuesMax = 36_000
/** Vaults of one statement: as many as a number has bits for. */
const vaultsMax = 50
/** From this step on buckets are so few that the newest row of each is looked up. */
const coarseStep = 7_200

const startOf = ({ step, first }: Buckets) => first * step
const endOf = ({ step, last }: Buckets) => (last + 1) * step

/**
 * The attributed TVL at the end of each bucket in US dollars, in units of 10^-18; missing buckets have 0. The range is read in
 * slices of time, because snapshots of all vaults are stored together by time.
 */
export async function readAttributedTvl(
  db: Queryable,
  of: Attributed,
  buckets: Buckets,
): Promise<ReadonlyMap<number, bigint>> {
  const sums = new Map<number, bigint>()
  const isCoarse = fitsSteps(buckets) && buckets.step >= coarseStep
  const sum = isCoarse ? lookUpValues : buckets.step === stepSeconds ? sumSteps : sumValues
  const parts = chunk(of.vaults, vaultsMax).flatMap((vaults) =>
    sliceBuckets(buckets, Math.ceil(valuesMax / vaults.length)).map((slice) => ({ slice, vaults })),
  )
  const work = async () => {
    for (let part = parts.shift(); part; part = parts.shift())
      for (const { bucket, value } of await sum(db, { ...of, vaults: part.vaults }, part.slice))
        sums.set(bucket, (sums.get(bucket) ?? 0n) + BigInt(value))
  }
  await Promise.all(Array.from({ length: statementsMax }, work))
  return sums
}

const chunk = <T>(all: readonly T[], size: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))

/** Splits a range into parts of at most `most` buckets, at least as many parts as run in parallel. */
function sliceBuckets({ step, first, last }: Buckets, most: number): Buckets[] {
  const size = Math.min(most, Math.ceil((last - first + 1) / statementsMax))
  const slices: Buckets[] = []
  for (let from = first; from <= last; from += size)
    slices.push({ step, first: from, last: Math.min(last, from + size - 1) })
  return slices
}

/** The vaults `v` of a statement. */
const vaultSet = (db: Queryable, vaults: readonly SeriesVault[]) => db`
  unnest(${vaults.map(({ id }) => id)}::int[], ${vaults.map(({ priceExponent }) => priceExponent)}::int[],
    ${vaults.map(({ factor }) => factor)}::numeric[]) as v (id, exponent, factor)`

/** The price of a share of a vault `v` in US dollars by a snapshot `s`, times a power of ten of the vault's own. */
const sharePrice = (db: Queryable) => db`
  case when s.price_exponent = v.exponent then s.price_numerator * s.price_usd
    else s.price_numerator * s.price_usd * power(10::numeric, v.exponent - s.price_exponent) end`

/** The same in units of 10^-18 dollars. */
const sharePriceUsd = (db: Queryable) => db`${sharePrice(db)} * v.factor`

/**
 * The shares of each vault `v`, times its factor, from bucket to bucket. A value that was superseded within its bucket spans
 * no bucket.
 */
function heldSpans(db: Queryable, of: Attributed, buckets: Buckets): Fragment {
  const { first, last } = buckets
  const shares = fitsSteps(buckets) ? sharesByStep(db, of, buckets) : sharesByChange(db, of, buckets)
  return db`
    select v.id as vault_id, r.bucket, r.next, r.shares * v.factor as value from v cross join lateral (
      select greatest(r.bucket, ${first}::bigint) as bucket, r.shares,
        lead(r.bucket, 1, ${last + 1}::bigint) over (order by r.position) as next
      from (${shares}) r) r
    where r.next > r.bucket and r.shares > 0`
}

/** A vault and a bucket as one number, which is joined faster than two. */
const cellOf = (db: Queryable, vault: Fragment, bucket: Fragment) => db`(${vault}::bigint << 32) + ${bucket}`

/** Spans bucket by bucket; most span one. The limit says how many there are at most, which could not be guessed. */
const cells = (db: Queryable, spans: Fragment, { vaults }: Attributed, { first, last }: Buckets) => db`(
  select ${cellOf(db, db`vault_id`, db`bucket`)} as cell, bucket, value from ${spans} where next = bucket + 1
  union all
  select ${cellOf(db, db`vault_id`, db`bucket`)}, bucket, value from (
    select vault_id, generate_series(bucket, next - 1) as bucket, value from ${spans} where next > bucket + 1) s
  limit ${vaults.length * (last - first + 1)})`

type Sum = { bucket: number; value: string }

/**
 * Sums in steps of 900 s, where every vault mostly has one snapshot a bucket: then there is nothing to look for in others.
 * Where one has none or several, all of it is summed the long way.
 */
async function sumSteps(db: Queryable, of: Attributed, buckets: Buckets): Promise<readonly Sum[]> {
  const { vaults } = of
  const rows = await db<(Sum & { count: number; seen: string })[]>`
    with v as materialized (select *, 1::bigint << (row_number() over () - 1)::int as mark from ${vaultSet(db, vaults)}),
    held as materialized (${heldSpans(db, of, buckets)})
    select s.bucket, count(*) as count, bit_or(s.mark)::text as seen, coalesce(sum(trunc(h.value * s.value)), 0)::text as value
    from (
      select v.id as vault_id, v.mark, floor(date_part('epoch', s.block_timestamp) / ${stepSeconds}::int)::bigint as bucket,
        ${sharePrice(db)} as value
      from ${snapshotsOf(db)} s join v on v.id = s.vault_id
      where s.vault_id = any(${vaults.map(({ id }) => id)}::int[])
        and s.block_timestamp >= to_timestamp(${startOf(buckets)})
        and s.block_timestamp < to_timestamp(${endOf(buckets)})) s
    left join ${cells(db, db`held`, of, buckets)} h on h.cell = ${cellOf(db, db`s.vault_id`, db`s.bucket`)}
    group by s.bucket`
  const all = String(2n ** BigInt(vaults.length) - 1n)
  const isWhole = rows.length === buckets.last - buckets.first + 1
  return isWhole && rows.every(({ count, seen }) => count === vaults.length && seen === all)
    ? rows
    : sumValues(db, of, buckets)
}

/** The price of a bucket is that of the newest snapshot before its end: share price × price of the asset. */
function sumValues(db: Queryable, of: Attributed, buckets: Buckets): Promise<readonly Sum[]> {
  const { vaults } = of
  const { step, first, last } = buckets
  const ids = vaults.map(({ id }) => id)
  const snapshot = db`s.block_timestamp, s.block_number, s.price_numerator, s.price_exponent, s.price_usd`
  return db<Sum[]>`
    with v as materialized (select * from ${vaultSet(db, vaults)}),
    held as materialized (${heldSpans(db, of, buckets)}),
    priced as materialized (
      select * from (
        select v.id as vault_id, greatest(s.bucket, ${first}::bigint) as bucket, ${sharePrice(db)} as value,
          lead(s.bucket, 1, ${last + 1}::bigint) over (partition by v.id order by s.block_timestamp, s.block_number) as next
        from v join (
          select b.id as vault_id, (${first}::bigint - 1) as bucket, s.* from v b cross join lateral (
            select ${snapshot} from ${snapshotsOf(db)} s
            where s.vault_id = b.id and s.block_timestamp < to_timestamp(${startOf(buckets)})
            order by s.block_timestamp desc, s.block_number desc limit 1) s
          union all
          select s.vault_id, floor(date_part('epoch', s.block_timestamp) / ${step}::int)::bigint, ${snapshot}
          from ${snapshotsOf(db)} s where s.vault_id = any(${ids}::int[])
            and s.block_timestamp >= to_timestamp(${startOf(buckets)})
            and s.block_timestamp < to_timestamp(${endOf(buckets)})) s on s.vault_id = v.id) spans
      where next > bucket and value is not null)
    select h.bucket, sum(trunc(h.value * p.value))::text as value
    from ${cells(db, db`held`, of, buckets)} h join ${cells(db, db`priced`, of, buckets)} p on p.cell = h.cell
    group by h.bucket`
}

/** The same where buckets are large: the last shares and the newest snapshot before the end of each. */
function lookUpValues(
  db: Queryable,
  { distributorId, vaults }: Attributed,
  { step, first, last }: Buckets,
): Promise<readonly Sum[]> {
  return db<Sum[]>`
    select b.bucket, sum(trunc(h.shares * (${sharePriceUsd(db)})))::text as value
    from generate_series(${first}::bigint, ${last}::bigint) as b (bucket) cross join ${vaultSet(db, vaults)}
    cross join lateral (
      select a.shares from attributed_steps a where a.distributor_id = ${distributorId} and a.vault_id = v.id
        and a.step < (b.bucket + 1) * ${step / stepSeconds}::bigint order by a.step desc limit 1) h
    cross join lateral (
      select s.price_numerator, s.price_exponent, s.price_usd from ${snapshotsOf(db)} s
      where s.vault_id = v.id and s.block_timestamp < to_timestamp((b.bucket + 1) * ${step}::bigint)
      order by s.block_timestamp desc, s.block_number desc limit 1) s
    where h.shares > 0 and s.price_usd is not null group by b.bucket`
}

function sharesByStep(db: Queryable, { distributorId }: Attributed, buckets: Buckets): Fragment {
  const [steps, from, end] = [buckets.step / stepSeconds, startOf(buckets) / stepSeconds, endOf(buckets) / stepSeconds]
  return db`
    select (a.step / ${steps}::int)::bigint as bucket, a.step as position, a.shares
    from attributed_steps a where a.distributor_id = ${distributorId} and a.vault_id = v.id and a.step < ${end}::bigint
      and a.step >= coalesce((
        select max(e.step) from attributed_steps e
        where e.distributor_id = ${distributorId} and e.vault_id = v.id and e.step < ${from}::bigint), 0)`
}

/** Where buckets cut steps in two: from the last whole step on, change by change, as far as steps are derived. */
function sharesByChange(db: Queryable, { distributorId }: Attributed, buckets: Buckets): Fragment {
  const from = Math.floor(startOf(buckets) / stepSeconds)
  return db`
    select m.bucket, m.bucket as position, sum(m.moved) over (order by m.bucket) as shares from (
      select d.bucket, sum(d.moved) as moved from (
        select (${buckets.first}::bigint - 1) as bucket, e.shares as moved from (
          select a.shares from attributed_steps a
          where a.distributor_id = ${distributorId} and a.vault_id = v.id and a.step < ${from}::bigint
          order by a.step desc limit 1) e
        union all
        select greatest(floor(date_part('epoch', c.block_timestamp) / ${buckets.step}::int)::bigint,
          ${buckets.first}::bigint - 1), c.after - c.before
        from lot_changes c where c.distributor_id = ${distributorId} and c.vault_id = v.id
          and c.block_timestamp >= to_timestamp(${from * stepSeconds})
          and c.block_timestamp < to_timestamp(${endOf(buckets)})
          and c.block_number <= ${derivedTo(db)}) d
      group by d.bucket) m`
}

/** Up to which block metrics of the chain of a change `c` are derived. */
const derivedTo = (db: Queryable) =>
  db`(select p.derived_to from projections p where p.chain_id = c.chain_id and p.name = 'metrics')`

/** The worth of a wallet's lots, in units of 10^-18 dollars. */
export type TopWallet = { wallet: string; value: string; asOf: Date | null }

/**
 * The wallets whose lots are worth most by the newest snapshots, as of the last confirmed block: later changes are reversed.
 * All are summed as floats first, which takes half the time; the candidates for the first places are summed exactly. The
 * terms are never negative, so floats are off by less than 10^-9 of the sum, and by one unit a vault where values are cut.
 */
export async function listTopWallets(db: Queryable, of: Attributed, limit: number): Promise<TopWallet[]> {
  const { distributorId, vaults } = of
  const ids = vaults.map(({ id }) => id)
  return db<TopWallet[]>`
    with v as materialized (
      select p.*, p.price::float8 as about from (
        select v.id, s.block_timestamp as at, ${sharePriceUsd(db)} as price
        from ${vaultSet(db, vaults)}
        cross join lateral (
          select s.* from ${snapshotsOf(db)} s where s.vault_id = v.id
          order by s.block_timestamp desc limit 1) s
        where s.price_usd is not null) p),
    later as materialized (
      select c.vault_id, c.wallet, sum(c.shares) as shares
      from projections p cross join lateral (
        select c.vault_id, c.wallet, c.before - c.after as shares from lot_changes c
        where c.chain_id = p.chain_id and c.block_number > p.derived_to and c.distributor_id = ${distributorId}
          and c.vault_id = any(${ids}::int[]) offset 0) c
      where p.name = 'metrics' group by c.vault_id, c.wallet),
    summed as materialized (
      select o.wallet, sum(o.shares::float8 * v.about) as about from (
        select l.vault_id, l.wallet, l.shares from lots l
        where l.distributor_id = ${distributorId} and l.vault_id = any(${ids}::int[])
          and (l.vault_id, l.wallet) not in (select vault_id, wallet from later)
        union all
        select t.vault_id, t.wallet, t.shares + coalesce((
          select l.shares from lots l
          where l.vault_id = t.vault_id and l.wallet = t.wallet and l.distributor_id = ${distributorId}), 0)
        from later t) o
      join v on v.id = o.vault_id where o.shares > 0 group by o.wallet),
    likely as materialized (
      select wallet from summed where about >= (
        select min(about) * (1 - 1e-9) - ${vaults.length}::int
        from (select about from summed order by about desc limit ${limit}) s))
    select hex_text(o.wallet) as wallet, sum(trunc(o.shares * v.price))::text as value, max(v.at) as "asOf"
    from (
      select k.wallet, h.vault_id, h.shares from likely k cross join lateral (
        select h.vault_id, sum(h.shares) as shares from (
          select l.vault_id, l.shares from lots l
          where l.wallet = k.wallet and l.distributor_id = ${distributorId} and l.vault_id = any(${ids}::int[])
          union all select t.vault_id, t.shares from later t where t.wallet = k.wallet) h
        group by h.vault_id having sum(h.shares) > 0) h) o
    join v on v.id = o.vault_id group by o.wallet
    having sum(trunc(o.shares * v.price)) > 0
    order by sum(trunc(o.shares * v.price)) desc, o.wallet limit ${limit}`
}

/** The time of the newest snapshot of each vault that a series rests on, of those that have one in the range. */
export async function listSeriesTimes(
  db: Queryable,
  vaults: readonly SeriesVault[],
  range: { from: Date; end: Date },
): Promise<{ id: number; asOf: Date }[]> {
  return db<{ id: number; asOf: Date }[]>`
    select v.id, s.at as "asOf" from unnest(${vaults.map(({ id }) => id)}::int[]) as v (id)
    cross join lateral (
      select max(e.block_timestamp) as at from ${snapshotsOf(db)} e
      where e.vault_id = v.id and e.block_timestamp >= ${range.from} and e.block_timestamp < ${range.end}) s
    where s.at is not null order by v.id`
}
