import { fromUnixSeconds } from '../../kernel/clock.js'
import type { Queryable } from '../../postgres/pool.js'
import type { RootReading, RootResult } from './rewards/rootVerdict.js'

/** A root of a stream at an instant (unix seconds). */
export type RootKey = { streamId: string; at: number; root: string; total: bigint }

type Loaded = Omit<RootReading, 'result'> & { isTold: boolean; counted: string | null; countedTotal: string | null }

const columns = (db: Queryable) => db`
  r.source, r.kind, r.is_told as "isTold", hex_text(r.counted) as counted, r.counted_total as "countedTotal", r.problems,
  r.since, r.read_at as "readAt"`

function parse({ isTold, counted, countedTotal, ...row }: Loaded): RootReading {
  const result: RootResult | undefined = isTold ? { root: counted, total: BigInt(countedTotal ?? 0) } : undefined
  return { ...row, result }
}

/** The newest reading of each source of a root, by source; readings from before an instant do not count. */
export async function listRootReadings(
  db: Queryable,
  { streamId, at, root, total }: RootKey,
  since: Date,
): Promise<ReadonlyMap<string, RootReading>> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from stream_root_readings r
    where r.stream_id = ${streamId} and r.root_at = to_timestamp(${at}) and r.root = hex_bytes(${root})
      and r.total = ${total.toString()} and r.read_at >= ${since}
    order by r.source`
  return new Map(rows.map((row) => [row.source, parse(row)]))
}

/** Notes a reading in place of the one before of its source, and forgets the readings of roots a week older. */
export async function recordRootReading(
  db: Queryable,
  { streamId, at, root, total }: RootKey,
  { source, kind, result, problems, since, readAt }: RootReading,
): Promise<void> {
  const weekBefore = fromUnixSeconds(at - 604_800)
  await db`delete from stream_root_readings where stream_id = ${streamId} and root_at < ${weekBefore}`
  await db`
    insert into stream_root_readings (stream_id, root_at, root, total, source, kind, is_told, counted, counted_total,
      problems, since, read_at)
    values (${streamId}, to_timestamp(${at}), hex_bytes(${root}), ${total.toString()}, ${source}, ${kind},
      ${result !== undefined}, hex_bytes(${result?.root ?? null}), ${result?.total.toString() ?? null}, ${[...problems]},
      ${since}, ${readAt})
    on conflict (stream_id, root_at, root, total, source) do update set
      kind = excluded.kind, is_told = excluded.is_told, counted = excluded.counted,
      counted_total = excluded.counted_total, problems = excluded.problems, since = excluded.since,
      read_at = excluded.read_at`
}

/** A root that a source contradicts, and that is on the chain or may still come there. */
export type DoubtedRoot = { streamId: string; at: Date; root: string; sources: string[] }

/** The newest root of each stream that is not vetoed, where the stored facts or a node contradict it; the newest first. */
export async function listDoubtedRoots(db: Queryable): Promise<DoubtedRoot[]> {
  return db<DoubtedRoot[]>`
    with standing as (
      select r.*, max(r.root_at) over (partition by r.stream_id) as newest_at from stream_root_readings r
      where exists (select from stream_snapshots n where n.stream_id = r.stream_id and n.snapshot_at = r.root_at
          and n.root = r.root and n.vetoed_at is null)
        or exists (select from stream_events e where e.stream_id = r.stream_id and e.kind = 'root' and e.root = r.root
          and e.root_at = r.root_at))
    select r.stream_id as "streamId", r.root_at as at, hex_text(r.root) as root,
      array_agg(r.source order by r.source) as sources
    from standing r
    where r.root_at = r.newest_at and r.is_told
      and (r.counted is distinct from r.root or r.counted_total <> r.total or cardinality(r.problems) > 0)
    group by r.stream_id, r.root_at, r.root order by r.root_at desc, r.stream_id`
}
