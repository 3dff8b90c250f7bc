import type { Fragment, Queryable } from '../../postgres/pool.js'
import type { Buckets } from './buckets.js'
import { stepSeconds } from './storeSteps.js'
import type { SeriesVault } from './storeVaults.js'

/** Of whom: a distributor in some vaults. */
export type Attributed = { distributorId: string; vaults: readonly SeriesVault[] }

/** Whether the stored steps tell what held at the end of every bucket. */
export const fitsSteps = ({ step }: Pick<Buckets, 'step'>): boolean => step % stepSeconds === 0

/** Vaults read by one statement; statements of a request run side by side. */
const statementsMax = 2

const startOf = ({ step, first }: Buckets) => first * step
const endOf = ({ step, last }: Buckets) => (last + 1) * step

/** What was attributed at the end of each bucket in US dollars, in units of 10^-18; buckets that are not there have 0. */
export async function readAttributedTvl(
  db: Queryable,
  of: Attributed,
  buckets: Buckets,
): Promise<ReadonlyMap<number, bigint>> {
  const size = Math.ceil(of.vaults.length / statementsMax)
  const parts = Array.from({ length: size === 0 ? 0 : Math.ceil(of.vaults.length / size) }, (_, index) =>
    of.vaults.slice(index * size, (index + 1) * size),
  )
  const sums = new Map<number, bigint>()
  const read = await Promise.all(parts.map((vaults) => sumValues(db, { ...of, vaults }, buckets)))
  for (const { bucket, value } of read.flat()) sums.set(bucket, (sums.get(bucket) ?? 0n) + BigInt(value))
  return sums
}

/** A whole dollar in the units of sums. */
const dollar = '1000000000000000000'

/**
 * Of each vault what its shares and its price were from bucket to bucket, the price being share price × price of the asset
 * of the newest snapshot. A value that was superseded within its bucket spans no bucket.
 */
function sumValues(db: Queryable, of: Attributed, buckets: Buckets): Promise<{ bucket: number; value: string }[]> {
  const { vaults } = of
  const { step, first, last } = buckets
  const spans = (rows: Fragment, value: Fragment, order: Fragment) => db`
    select generate_series(greatest(s.bucket, ${first}::bigint), s.next - 1) as bucket, s.value from (
      select r.bucket, ${value} as value, lead(r.bucket, 1, ${last + 1}::bigint) over (order by ${order}) as next
      from (${rows}) r) s
    where s.next > ${first}::bigint`
  const prices = db`
    select floor(date_part('epoch', s.block_timestamp) / ${step}::int)::bigint as bucket, s.*
    from vault_snapshots s where s.vault_id = v.id and s.block_timestamp < to_timestamp(${endOf(buckets)})
      and s.block_timestamp >= coalesce((
        select max(e.block_timestamp) from vault_snapshots e
        where e.vault_id = v.id and e.block_timestamp < to_timestamp(${startOf(buckets)})), '-infinity')`
  const price = db`
    r.price_numerator * r.price_usd * case when r.price_exponent = v.exponent then v.factor
      else v.factor * power(10::numeric, v.exponent - r.price_exponent) end`
  const shares = fitsSteps(buckets) ? sharesByStep(db, of, buckets) : sharesByChange(db, of, buckets)
  return db<{ bucket: number; value: string }[]>`
    select c.bucket, sum(c.value)::text as value
    from unnest(${vaults.map(({ id }) => id)}::int[], ${vaults.map(({ priceExponent }) => priceExponent)}::int[],
      ${vaults.map(({ factor }) => factor)}::numeric[]) as v (id, exponent, factor)
    cross join lateral (
      select h.bucket, trunc(h.value * p.value * ${dollar}::numeric) as value
      from (${spans(shares, db`r.shares`, db`r.position`)}) h
      join (${spans(prices, price, db`r.block_timestamp, r.block_number`)}) p on p.bucket = h.bucket
      where h.value > 0 and p.value is not null) c
    group by c.bucket`
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

/** What a wallet's lots were worth, in units of 10^-18 dollars. */
export type TopWallet = { wallet: string; value: string; asOf: Date | null }

/**
 * The wallets whose lots are worth most by the newest snapshots, as of the last confirmed block: what was changed above it
 * is put back. The price of a share is multiplied once a lot.
 */
export async function listTopWallets(db: Queryable, of: Attributed, limit: number): Promise<TopWallet[]> {
  const { distributorId, vaults } = of
  const ids = vaults.map(({ id }) => id)
  return db<TopWallet[]>`
    with v as materialized (
      select v.id, p.at, p.price * v.factor * ${dollar}::numeric as price
      from unnest(${ids}::int[], ${vaults.map(({ priceExponent }) => priceExponent)}::int[],
        ${vaults.map(({ factor }) => factor)}::numeric[]) as v (id, exponent, factor)
      cross join lateral (
        select s.block_timestamp as at,
          s.price_numerator * s.price_usd * power(10::numeric, v.exponent - s.price_exponent) as price
        from vault_snapshots s where s.vault_id = v.id order by s.block_timestamp desc, s.block_number desc limit 1) p
      where p.price is not null),
    later as materialized (
      select c.vault_id, c.wallet, sum(c.before - c.after) as shares
      from projections p join lot_changes c on c.chain_id = p.chain_id and c.block_number > p.derived_to
      where p.name = 'metrics' and c.distributor_id = ${distributorId} and c.vault_id = any(${ids}::int[])
      group by c.vault_id, c.wallet),
    held as (
      select vault_id, wallet, shares from lots
      where distributor_id = ${distributorId} and vault_id = any(${ids}::int[])
      union all select vault_id, wallet, shares from later),
    owned as (
      select vault_id, wallet, sum(shares) as shares from held group by vault_id, wallet having sum(shares) > 0)
    select hex_text(o.wallet) as wallet, sum(trunc(o.shares * v.price))::text as value, max(v.at) as "asOf"
    from owned o join v on v.id = o.vault_id group by o.wallet
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
      select max(e.block_timestamp) as at from vault_snapshots e
      where e.vault_id = v.id and e.block_timestamp >= ${range.from} and e.block_timestamp < ${range.end}) s
    where s.at is not null order by v.id`
}
