import type { Fragment, Queryable } from '../../postgres/pool.js'
import type { Buckets } from './buckets.js'
import { fitsSteps } from './storeSeries.js'
import { stepSeconds } from './storeSteps.js'
import type { SeriesVault } from './storeVaults.js'

/** How many wallets are LPs, and how many ever were. */
export type LpCount = { active: number; participated: number }

/** The last count of a bucket with a change; the bucket before the first has the count of all earlier changes. */
export type LpPoint = LpCount & { bucket: number }

/** Wallets of a distributor, or of a scope, in some vaults; one in several of them counts once. */
export async function readLps(
  db: Queryable,
  of: { scope: string; vaults: readonly SeriesVault[] },
  buckets: Buckets,
): Promise<LpPoint[]> {
  const [only, ...others] = of.vaults
  if (!only) return []
  const [era] = only.eras
  if (others.length === 0 && only.eras.length === 1 && era && fitsSteps(buckets))
    return readCounts(db, { scope: of.scope, vaultId: only.id, level: era.level }, buckets)
  return countEdges(db, of, buckets)
}

/** Counts of one vault stand in its steps. */
async function readCounts(
  db: Queryable,
  of: { scope: string; vaultId: number; level: number },
  { step, first, last }: Buckets,
): Promise<LpPoint[]> {
  const steps = step / stepSeconds
  const own = db`vault_id = ${of.vaultId} and distributor_id = ${of.scope} and level = ${of.level}`
  const count = db`active, participated`
  return db<LpPoint[]>`
    select * from (
      (select ${first - 1}::bigint as bucket, ${count} from lp_steps
        where ${own} and step < ${first * steps}::bigint order by step desc limit 1)
      union all
      (select distinct on (s.bucket) s.bucket, ${count} from (
          select (step / ${steps}::int)::bigint as bucket, step, ${count} from lp_steps
          where ${own} and step >= ${first * steps}::bigint and step < ${(last + 1) * steps}::bigint) s
        order by s.bucket, s.step desc)) p
    order by bucket`
}

/** Where the wallets of one statement begin; two run side by side. */
const halves = [
  { from: '', to: '\\x80' },
  { from: '\\x80', to: undefined },
] as const

type Half = (typeof halves)[number]

/**
 * Counts every edge of the wallets' LP states: a wallet is counted from its first vault to its last. Where a floor was
 * changed, each level counts in its own eras.
 */
async function countEdges(
  db: Queryable,
  of: { scope: string; vaults: readonly SeriesVault[] },
  buckets: Buckets,
): Promise<LpPoint[]> {
  const changes = new Map<number, LpCount>()
  for (const rows of await Promise.all(halves.map((half) => listCountChanges(db, { ...of, half }, buckets))))
    for (const { bucket, active, participated } of rows) {
      const known = changes.get(bucket)
      changes.set(bucket, {
        active: active + (known?.active ?? 0),
        participated: participated + (known?.participated ?? 0),
      })
    }
  const count = { active: 0, participated: 0 }
  return [...changes]
    .sort(([a], [b]) => a - b)
    .map(([bucket, { active, participated }]) => {
      count.active += active
      count.participated += participated
      return { bucket, ...count }
    })
}

/** By how much the counts of some wallets changed in each bucket. */
async function listCountChanges(
  db: Queryable,
  of: { scope: string; vaults: readonly SeriesVault[]; half: Half },
  buckets: Buckets,
): Promise<LpPoint[]> {
  const isDated = of.vaults.some(({ eras }) => eras.length > 1)
  const edges = isDated ? edgesByEra(db, of, buckets) : edgesOfLevels(db, of, buckets)
  const { step, first } = buckets
  return db<LpPoint[]>`
    select bucket, sum(active)::int as active, sum(begun)::int as participated
    from (
      select greatest(floor(e.at / ${step}::int)::bigint, ${first - 1}::bigint) as bucket,
        (e.held > 0)::int - (e.held - e.change > 0)::int as active, (e.place = 1)::int as begun
      from (
        select e.at, e.change, sum(e.change) over w as held, row_number() over w as place from (${edges}) e
        window w as (partition by e.wallet order by e.at, e.block_number rows unbounded preceding)) e) counted
    where active <> 0 or begun <> 0
    group by bucket`
}

const ofHalf = (db: Queryable, { from, to }: Half) =>
  db`r.wallet >= ${from}::bytea ${to === undefined ? db`` : db`and r.wallet < ${to}::bytea`}`

const endOf = ({ step, last }: Buckets) => (last + 1) * step

/** Edges of vaults whose floor was never changed. */
function edgesOfLevels(
  db: Queryable,
  { scope, vaults, half }: { scope: string; vaults: readonly SeriesVault[]; half: Half },
  buckets: Buckets,
): Fragment {
  return db`
    select r.wallet, date_part('epoch', r.block_timestamp) as at, r.block_number, r.change::int as change from lp_edges r
    where r.distributor_id = ${scope} and r.vault_id = any(${vaults.map(({ id }) => id)}::int[]) and r.level = 0
      and ${ofHalf(db, half)} and r.block_timestamp < to_timestamp(${endOf(buckets)})`
}

/** How long each wallet was at or above each floor, cut to when that floor decided. */
function edgesByEra(
  db: Queryable,
  { scope, vaults, half }: { scope: string; vaults: readonly SeriesVault[]; half: Half },
  buckets: Buckets,
): Fragment {
  const eras = vaults.flatMap(({ id, eras: own }) => own.map((era) => ({ id, ...era })))
  return db`
    select cut.wallet, edge.at, cut.block_number, edge.change from (
      select s.wallet, s.block_number, s.change, greatest(s.at, e.since) as at, least(s.until, e.until) as until
      from (
        select r.vault_id, r.level, r.wallet, r.block_number, r.change, date_part('epoch', r.block_timestamp) as at,
          coalesce(date_part('epoch', lead(r.block_timestamp) over (
            partition by r.vault_id, r.level, r.wallet order by r.block_number)), 'infinity') as until
        from lp_edges r
        where r.distributor_id = ${scope} and r.vault_id = any(${vaults.map(({ id }) => id)}::int[])
          and ${ofHalf(db, half)}) s
      join unnest(${eras.map(({ id }) => id)}::int[], ${eras.map(({ level }) => level)}::int[],
        ${eras.map(({ from }) => from)}::bigint[], ${eras.map(({ to }) => to)}::bigint[])
        as e (vault_id, level, since, until) on e.vault_id = s.vault_id and e.level = s.level
      where (s.change = 1 and greatest(s.at, e.since) < least(s.until, e.until))
        -- Blocks of one second may both reach and leave a floor.
        or ((s.change = 0 or s.until = s.at) and s.at >= e.since and s.at < e.until)) cut
    cross join lateral (values (cut.at, cut.change::int), (cut.until, -cut.change::int)) as edge (at, change)
    where edge.at < ${endOf(buckets)}::bigint and (cut.change = 1 or edge.at = cut.at)`
}

/** Whether anything was ever counted of a vault. */
export async function hasLpFacts(db: Queryable, vaultId: number): Promise<boolean> {
  const rows = await db`select from lp_steps where vault_id = ${vaultId} limit 1`
  return rows.length > 0
}

/**
 * How many LPs vaults had by the end of the last whole step at or before instants, and have now where an instant is left
 * out; null where nothing is known of a vault by then.
 */
export async function countActiveLps(
  db: Queryable,
  vaults: readonly SeriesVault[],
  instants: readonly (Date | undefined)[],
): Promise<ReadonlyMap<number, (number | null)[]>> {
  const asked = vaults.flatMap(({ id, eras }) =>
    instants.map((at, place) => {
      const seconds = at === undefined ? undefined : at.getTime() / 1000
      const era = eras.findLast(({ from }) => seconds === undefined || from <= seconds) ?? eras[0]
      // No step is later.
      const end = seconds === undefined ? 2 ** 31 - 1 : Math.floor(seconds / stepSeconds)
      return { id, place, level: era?.level ?? 0, end }
    }),
  )
  const rows = await db<{ id: number; place: number; active: number | null }[]>`
    select a.id, a.place, (
      select s.active from lp_steps s where s.vault_id = a.id and s.distributor_id = '' and s.level = a.level
        and s.step < a.until order by s.step desc limit 1) as active
    from unnest(${asked.map(({ id }) => id)}::int[], ${asked.map(({ place }) => place)}::int[],
      ${asked.map(({ level }) => level)}::int[], ${asked.map(({ end }) => end)}::int[]) as a (id, place, level, until)`
  const counts = new Map(vaults.map(({ id }) => [id, instants.map((): number | null => null)]))
  for (const { id, place, active } of rows) counts.get(id)?.splice(place, 1, active)
  return counts
}
