import type { Fragment, Queryable } from '../postgres/pool.js'
import { chainTimes } from '../sync/storeDepths.js'
import type { ChainTime } from '../sync/storeNow.js'
import { pausesOf, vaultsOf } from '../vaults/configured/index.js'

/** The present state that decides whether a vault's series are served. */
export type SeriesHead = {
  vaultId: number
  newestAt: Date | null
  newestSupply: string | null
  pauses: readonly { from: Date; to: Date | null }[]
}

type Row = Omit<SeriesHead, 'pauses'> & { chainId: number; address: string; starts: Date[]; ends: (Date | null)[] }

const heads = (db: Queryable): Fragment => db.view`(
  select v.id as "vaultId", v.chain_id as "chainId", v.address, s.block_timestamp as "newestAt",
    s.total_supply as "newestSupply",
    array(select paused_from from ${pausesOf(db)} p where vault_id = v.id order by paused_from) as starts,
    array(select resumed_at from ${pausesOf(db)} p where vault_id = v.id order by paused_from) as ends
  from ${vaultsOf(db)} v
  left join lateral (
    select block_timestamp, total_supply from vault_snapshots where vault_id = v.id
    order by block_timestamp desc limit 1) s on true)`

const toHead = <T extends Row>({ starts, ends, ...head }: T) => ({
  ...head,
  pauses: starts.map((from, index) => ({ from, to: ends[index] ?? null })),
})

/**
 * The newest snapshot of a vault, the spans in which it was paused, and the time of its chain, in one statement since each request
 * for a series begins with it; undefined for a vault we do not know.
 */
export async function findSeriesHead(
  db: Queryable,
  chainId: number,
  address: string,
): Promise<(SeriesHead & Omit<ChainTime, 'chainId'>) | undefined> {
  const [row] = await db<(Row & Omit<ChainTime, 'chainId'>)[]>`
    select h.*, coalesce(t.clock, 'wall') as clock, t.confirmed_at as "confirmedAt"
    from ${heads(db)} h left join ${chainTimes(db)} t on t.chain_id = h."chainId"
    where h."chainId" = ${chainId} and h.address = ${address.toLowerCase()}`
  return row && toHead(row)
}

/** The newest snapshot of every vault, and the spans in which it was paused. */
export async function listSeriesHeads(db: Queryable): Promise<(SeriesHead & { chainId: number; address: string })[]> {
  return (await db<Row[]>`select * from ${heads(db)} h`).map(toHead)
}

/** Which snapshots of a vault a series is made of. Instants are whole Unix seconds, both ends included. */
export type SeriesAsk = {
  vaultId: number
  from: number
  to: number
  step: number
  /** How much older the reading is that a rate starts from; undefined where no rates are wanted. */
  lookback: number | undefined
  /** With the hashes of blocks. */
  withHashes: boolean
}

/**
 * The snapshots of a range as lines of text, in no order: instant, block, assets, supply, price numerator, its exponent,
 * USD price or `-`, hash or `-`. A row of its own for each costs more than all the rest of a long series.
 */
const line = (db: Queryable, withHashes: boolean) => db`
  concat_ws(' ', date_part('epoch', block_timestamp)::bigint, block_number, total_assets, total_supply, price_numerator,
    price_exponent, coalesce(price_usd::text, '-'), ${withHashes ? db`encode(block_hash, 'hex')` : db`'-'`})`

/** The last snapshot of every bucket, and for each the newest one that is older by the lookback. */
export async function readSparse(db: Queryable, ask: SeriesAsk): Promise<string> {
  const { vaultId, from, to, step, lookback } = ask
  const rows = await db<{ lines: string | null }[]>`
    with buckets as materialized (
      select to_timestamp(greatest(k * ${step}::bigint, ${from}::bigint)) as first_at,
        to_timestamp(least((k + 1) * ${step}::bigint - 1, ${to}::bigint)) as last_at
      from generate_series(${Math.floor(from / step)}::bigint, ${Math.floor(to / step)}::bigint) k),
    ends as materialized (
      select s.* from buckets b cross join lateral (
        select * from vault_snapshots where vault_id = ${vaultId} and block_timestamp between b.first_at and b.last_at
        order by block_timestamp desc limit 1) s)
    select string_agg(${line(db, ask.withHashes)}, e'\n') as lines from (
      select * from ends
      ${
        lookback === undefined
          ? db``
          : db`union all
      select s.* from ends e cross join lateral (
        select * from vault_snapshots
        where vault_id = ${vaultId} and block_timestamp <= e.block_timestamp - make_interval(secs => ${lookback})
        order by block_timestamp desc limit 1) s`
      }) s`
  return rows[0]?.lines ?? ''
}

/** Every snapshot a series may rest on: those of the range, and those of the same range one lookback before. */
export async function readDense(
  db: Queryable,
  ask: SeriesAsk & { dustFloor: string; isPriced: boolean },
): Promise<string> {
  const { vaultId, from, to, lookback } = ask
  const rows = await db<{ lines: string | null }[]>`
    select string_agg(${line(db, ask.withHashes)}, e'\n') as lines from (
      select * from vault_snapshots
      where vault_id = ${vaultId} and block_timestamp between to_timestamp(${from}::bigint) and to_timestamp(${to}::bigint)
      ${
        lookback === undefined
          ? db``
          : db`union all
      select * from vault_snapshots
      where vault_id = ${vaultId} and block_timestamp < to_timestamp(${from}::bigint)
        and block_timestamp <= to_timestamp(${to - lookback}::bigint)
        and block_timestamp >= coalesce(
          (select block_timestamp from vault_snapshots
          where vault_id = ${vaultId} and block_timestamp <= to_timestamp(${from - lookback}::bigint)
            and total_supply >= ${ask.dustFloor}::numeric ${ask.isPriced ? db`and price_usd is not null` : db``}
            and not exists (select from ${pausesOf(db)} p
              where vault_id = ${vaultId} and block_timestamp >= paused_from and block_timestamp < resumed_at)
          order by block_timestamp desc limit 1), '-infinity')`
      }) s`
  return rows[0]?.lines ?? ''
}

/**
 * Of each vault at each instant: its newest snapshot, its newest reading, and the newest reading that is older than that
 * by the lookback, as lines; null if missing.
 */
export async function listReadingsAt(
  db: Queryable,
  ask: { vaultIds: readonly number[]; instants: readonly number[]; lookback: number; isPriced: boolean },
): Promise<{ vaultId: number; at: number; last: string | null; to: string | null; from: string | null }[]> {
  const reading = db`
    s.vault_id = v.id and s.total_supply >= v.dust_floor
      ${ask.isPriced ? db`and s.price_usd is not null` : db``}
      and not exists (select from ${pausesOf(db)} p
        where p.vault_id = v.id and s.block_timestamp >= p.paused_from
          and (p.resumed_at is null or s.block_timestamp < p.resumed_at))`
  return db<{ vaultId: number; at: number; last: string | null; to: string | null; from: string | null }[]>`
    select v.id as "vaultId", i.at, l.line as last, t.line as "to", f.line as "from"
    from ${vaultsOf(db)} v cross join unnest(${[...ask.instants]}::bigint[]) i (at)
    left join lateral (
      select ${line(db, false)} as line from vault_snapshots s
      where s.vault_id = v.id and s.block_timestamp <= to_timestamp(i.at)
      order by s.block_timestamp desc limit 1) l on true
    left join lateral (
      select s.block_timestamp as reached, ${line(db, false)} as line from vault_snapshots s
      where ${reading} and s.block_timestamp <= to_timestamp(i.at)
      order by s.block_timestamp desc limit 1) t on true
    left join lateral (
      select ${line(db, false)} as line from vault_snapshots s
      where ${reading} and s.block_timestamp <= t.reached - make_interval(secs => ${ask.lookback})
      order by s.block_timestamp desc limit 1) f on true
    where v.id = any(${[...ask.vaultIds]}::int[])`
}
