import type { Queryable } from '../../postgres/pool.js'

/** Tries in vain of a subject, and when the last one was, by the chain's time in unix seconds. */
export type Failures = { failures: number; lastFailedAt: number }

/** Failures of subjects since a chain's time (unix seconds). */
export async function listFailures(
  db: Queryable,
  { chainId, since }: { chainId: number; since: number },
  subjects: readonly string[],
): Promise<Map<string, Failures>> {
  if (subjects.length === 0) return new Map()
  const rows = await db<{ subject: string; failures: number; at: string }[]>`
    select f.subject, f.failures, extract(epoch from f.last_at)::bigint as at
    from unnest(${[...new Set(subjects)]}::text[]) as k (subject)
    join settlement_failures f on f.chain_id = ${chainId} and f.subject = k.subject
    where f.last_at > to_timestamp(${since})`
  return new Map(rows.map(({ subject, failures, at }) => [subject, { failures, lastFailedAt: Number(at) }]))
}

/** Counts one failed try of subjects at a chain's time; tries before `since` no longer count. */
export async function recordFailure(
  db: Queryable,
  { chainId, since, timestamp }: { chainId: number; since: number; timestamp: number },
  subjects: readonly string[],
): Promise<void> {
  await db`
    insert into settlement_failures as f (chain_id, subject, failures, last_at)
    select ${chainId}, k.subject, 1, to_timestamp(${timestamp})
    from (select distinct subject from unnest(${[...subjects]}::text[]) as u (subject)) k order by k.subject
    on conflict (chain_id, subject) do update set last_at = excluded.last_at,
      failures = case when f.last_at > to_timestamp(${since}) then f.failures + 1 else 1 end`
}

/** Takes back what is counted of subjects: they were filled. */
export async function forgetFailures(db: Queryable, chainId: number, subjects: readonly string[]): Promise<void> {
  if (subjects.length === 0) return
  await db`delete from settlement_failures where chain_id = ${chainId} and subject = any(${[...subjects]}::text[])`
}

/** Forgets what lies before a chain's time (unix seconds) and counts for nothing. */
export async function removeFailures(db: Queryable, chainId: number, since: number): Promise<void> {
  await db`delete from settlement_failures where chain_id = ${chainId} and last_at <= to_timestamp(${since})`
}
