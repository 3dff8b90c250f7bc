import type { Queryable } from '../postgres/pool.js'
import { vaultsOf } from '../vaults/configured/index.js'

/** Instants of a vault's grid, both ends among them, in seconds. */
export type Span = { vaultId: number; from: number; to: number }

/** Records that vaults were read for the present instant, and notes the missed instants of their grids before it. */
export async function recordSeen(
  db: Queryable,
  seen: { vaultIds: readonly number[]; instant: number; gaps: readonly Span[]; now: Date },
): Promise<void> {
  const { vaultIds, instant, now } = seen
  if (vaultIds.length > 0)
    await db`
      insert into snapshot_progress (vault_id, seen_to)
      select id, to_timestamp(${instant}) from unnest(${[...vaultIds]}::int[]) as t (id)
      on conflict (vault_id) do update set seen_to = greatest(snapshot_progress.seen_to, excluded.seen_to)`
  await recordGaps(db, seen.gaps, now)
}

/** Notes instants that are to be read. */
export async function recordGaps(db: Queryable, gaps: readonly Span[], now: Date): Promise<void> {
  if (gaps.length === 0) return
  await db`
    insert into snapshot_gaps (vault_id, from_at, to_at, opened_to, opened_at)
    select id, to_timestamp(f), to_timestamp(t), to_timestamp(t), ${now}
    from unnest(${gaps.map(({ vaultId }) => vaultId)}::int[], ${gaps.map(({ from }) => from)}::bigint[],
      ${gaps.map(({ to }) => to)}::bigint[]) as g (id, f, t)
    on conflict (vault_id, from_at) do update set to_at = greatest(snapshot_gaps.to_at, excluded.to_at),
      opened_to = greatest(snapshot_gaps.opened_to, excluded.opened_to)`
}

export type Gap = Span & { intervalSeconds: number; startBlock: number }

/**
 * The newest unread instants of a chain: of one grid, the gaps that reach into its newest `count` instants. Those that
 * failed since `retryBefore` are left alone.
 */
export async function listNewestGaps(
  db: Queryable,
  chainId: number,
  { count, retryBefore }: { count: number; retryBefore: Date },
): Promise<Gap[]> {
  return db<Gap[]>`
    with open as (
      select g.vault_id, g.from_at, g.to_at, v.snapshot_interval_seconds as step, v.start_block
      from ${vaultsOf(db)} v join snapshot_gaps g on g.vault_id = v.id
      where v.chain_id = ${chainId} and (g.tried_at is null or g.tried_at < ${retryBefore})),
    newest as (select to_at, step from open order by to_at desc, step limit 1)
    select o.vault_id as "vaultId", extract(epoch from o.from_at)::bigint as "from",
      extract(epoch from o.to_at)::bigint as "to", o.step as "intervalSeconds", o.start_block as "startBlock"
    from open o join newest n on n.step = o.step
    where o.to_at > n.to_at - make_interval(secs => n.step * ${count}::int)
    order by o.vault_id`
}

/** Takes the instants from `from` on out of gaps; a gap with nothing left goes. */
export async function closeGaps(
  db: Queryable,
  { gaps, from, now }: { gaps: readonly Gap[]; from: number; now: Date },
): Promise<void> {
  if (gaps.length === 0) return
  const ids = gaps.map(({ vaultId }) => vaultId)
  const starts = gaps.map((gap) => gap.from)
  const tops = gaps.map(({ intervalSeconds }) => from - intervalSeconds)
  await db`
    delete from snapshot_gaps g using unnest(${ids}::int[], ${starts}::bigint[]) as t (id, f)
    where g.vault_id = t.id and g.from_at = to_timestamp(t.f) and g.from_at >= to_timestamp(${from})`
  await db`
    update snapshot_gaps g set to_at = to_timestamp(t.top), read_at = ${now}, reason = null, tried_at = null
    from unnest(${ids}::int[], ${starts}::bigint[], ${tops}::bigint[]) as t (id, f, top)
    where g.vault_id = t.id and g.from_at = to_timestamp(t.f) and g.to_at > to_timestamp(t.top)
      and to_timestamp(t.top) >= g.from_at`
}

/** Gaps below which there is nothing: the vaults had not begun. */
export async function dropGaps(db: Queryable, gaps: readonly Gap[]): Promise<void> {
  if (gaps.length === 0) return
  await db`
    delete from snapshot_gaps g
    using unnest(${gaps.map(({ vaultId }) => vaultId)}::int[], ${gaps.map((gap) => gap.from)}::bigint[]) as t (id, f)
    where g.vault_id = t.id and g.from_at = to_timestamp(t.f)`
}

/** Notes why gaps could not be read now. */
export async function recordFailedGaps(
  db: Queryable,
  gaps: readonly Gap[],
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  if (gaps.length === 0) return
  await db`
    update snapshot_gaps g set reason = ${reason}, tried_at = ${now}
    from unnest(${gaps.map(({ vaultId }) => vaultId)}::int[], ${gaps.map((gap) => gap.from)}::bigint[]) as t (id, f)
    where g.vault_id = t.id and g.from_at = to_timestamp(t.f)`
}

/**
 * The vaults of which a snapshot of a time is still to be read: one that lies in it, the one it begins with, or the one that its
 * end waits for.
 */
export async function listOutstanding(
  db: Queryable,
  { vaultIds, from, to }: { vaultIds: readonly number[]; from: Date; to: Date },
): Promise<{ vaultId: number; kind: string }[]> {
  return db<{ vaultId: number; kind: string }[]>`
    select v.id as "vaultId", v.kind from (
      select v.id, v.kind, to_timestamp(ceil(extract(epoch from ${to}::timestamptz) / v.snapshot_interval_seconds)
        * v.snapshot_interval_seconds) as last
      from ${vaultsOf(db)} v where v.id = any(${[...vaultIds]}::int[])) v
    left join snapshot_progress p on p.vault_id = v.id
    where p.seen_to is null or p.seen_to < v.last or exists (
      select from snapshot_gaps g where g.vault_id = v.id and g.from_at <= v.last and g.to_at > coalesce((
        select max(s.block_timestamp) from vault_snapshots s
        where s.vault_id = v.id and s.block_timestamp <= ${from}), '-infinity'))
    order by v.id`
}

export type HistoryProgress = {
  chainId: number
  /** Vaults with something unread, and instants that are unread, of all of them. */
  vaults: number
  unread: number
  /** Of what was unread when it was noted. */
  percent: number
  instantsAMinute: number
  /** Null while nothing says how fast it goes. */
  secondsLeft: number | null
  /** Why the newest that failed could not be read. */
  reason: string | null
}

/** How far the past of vaults is read, by chain; a chain with nothing unread is absent. */
export async function listHistoryProgress(db: Queryable): Promise<HistoryProgress[]> {
  const rows = await db<Omit<HistoryProgress, 'secondsLeft'>[]>`
    select v.chain_id as "chainId", count(distinct g.vault_id)::int as vaults,
      sum(extract(epoch from g.to_at - g.from_at) / v.snapshot_interval_seconds + 1)::float8 as unread,
      (100 * sum(extract(epoch from g.opened_to - g.to_at) / v.snapshot_interval_seconds) /
        sum(extract(epoch from g.opened_to - g.from_at) / v.snapshot_interval_seconds + 1))::float8 as percent,
      coalesce(60 * sum(extract(epoch from g.opened_to - g.to_at) / v.snapshot_interval_seconds)
        filter (where g.read_at > g.opened_at)
        / nullif(extract(epoch from max(g.read_at) - min(g.opened_at) filter (where g.read_at is not null)), 0), 0)::float8
        as "instantsAMinute",
      (array_agg(g.reason order by g.tried_at desc nulls last))[1] as reason
    from snapshot_gaps g join ${vaultsOf(db)} v on v.id = g.vault_id
    group by v.chain_id order by v.chain_id`
  return rows.map((row) => ({
    ...row,
    secondsLeft: row.instantsAMinute > 0 ? Math.ceil((60 * row.unread) / row.instantsAMinute) : null,
  }))
}
