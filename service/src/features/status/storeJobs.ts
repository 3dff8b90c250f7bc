import type { Fragment, Queryable } from '../../postgres/pool.js'

/** A job as its process knows it. */
export type KnownJob = { name: string; everySeconds: number }

/** Who takes jobs: a process, by an id of its own. `chains`: the ids of the chains that it serves, in order. */
export type JobHolder = { holder: string; chains: readonly number[]; leaseSeconds: number }

/** Runs that fail in a row before the next ones wait longer, and the longest such pause, in seconds. */
const failuresMax = 2
const pauseMax = 60
/** How long a job that no process runs any more is remembered, in seconds. */
const forgottenAfter = 86_400

/**
 * Makes the jobs of a process known and due. A job that another process works on stays with it; one that has failed several
 * times in a row keeps its pause, so that work that ends its process is not begun at each start.
 */
export async function registerJobs(db: Queryable, chains: readonly number[], jobs: readonly KnownJob[]): Promise<void> {
  const names = jobs.map(({ name }) => name)
  await db`
    with forgotten as (
      delete from jobs where not (name = any(${names}) and chains = ${[...chains]}::bigint[])
        and (leased_until is null or leased_until < now()) and run_at < now() - ${forgottenAfter} * interval '1 second')
    insert into jobs (name, chains, every_seconds, run_at)
    select name, ${[...chains]}::bigint[], every_seconds, now()
    from unnest(${names}::text[], ${jobs.map(({ everySeconds }) => everySeconds)}::numeric[]) as j (name, every_seconds)
    order by name
    on conflict (name, chains) do update set every_seconds = excluded.every_seconds,
      run_at = case when jobs.holder is null and jobs.attempts <= ${failuresMax} then excluded.run_at else jobs.run_at end`
}

/**
 * Leases every job of `idle` that is due and that no living process holds, and renews the leases of `running`. `run_at` of a leased
 * job is when it may run again should its process die.
 * @returns the names of the jobs leased now, the seconds until the next of the others is due, and how many of all these the
 * database knows.
 */
export async function claimJobs(
  db: Queryable,
  { holder, chains, leaseSeconds }: JobHolder,
  { idle, running }: { idle: readonly string[]; running: readonly string[] },
): Promise<{ names: string[]; nextSeconds: number; known: number }> {
  const lease = db`now() + ${leaseSeconds} * interval '1 second'`
  const others = db`name = any(${[...idle]}) and chains = ${[...chains]}::bigint[]`
  const all = [...idle, ...running]
  const [row] = await db<{ names: string[]; nextSeconds: number; known: number }[]>`
    with renewed as (
      update jobs set leased_until = ${lease} where holder = ${holder} and name = any(${[...running]})),
    due as (
      select name, chains from jobs
      where ${others} and run_at <= now() and (leased_until is null or leased_until <= now())
      for update skip locked),
    claimed as (
      update jobs j set holder = ${holder}, leased_until = ${lease}, started_at = now(), attempts = j.attempts + 1,
        run_at = now() + ${pauseOf(db, db`j.attempts + 1`)} * interval '1 second'
      from due where j.name = due.name and j.chains = due.chains
      returning j.name)
    select coalesce((select array_agg(name) from claimed), '{}') as names,
      coalesce((select extract(epoch from min(greatest(run_at, leased_until)) - now()) from jobs
        where ${others} and name not in (select name from claimed)), ${leaseSeconds})::float8 as "nextSeconds",
      (select count(*)::int from jobs where name = any(${all}) and chains = ${[...chains]}::bigint[]) as known`
  if (!row) throw new Error('the jobs could not be read')
  return row
}

/** Gives a job back. A lease that was lost meanwhile is the other process's and stays. `error`: why the run failed. */
export async function endJob(
  db: Queryable,
  { holder, chains }: Pick<JobHolder, 'holder' | 'chains'>,
  name: string,
  error?: string,
): Promise<void> {
  const failed = error !== undefined
  await db`
    update jobs set holder = null, leased_until = null, error = ${error ?? ''},
      attempts = ${failed ? db`attempts` : db`0`},
      failed_since = ${failed ? db`coalesce(failed_since, now())` : db`null`},
      ended_at = ${failed ? db`ended_at` : db`now()`},
      run_at = now() + ${failed ? pauseOf(db, db`attempts`) : db`every_seconds`} * interval '1 second'
    where name = ${name} and chains = ${[...chains]}::bigint[] and holder = ${holder}`
}

/** Seconds from a run to the next where that run does not end well: they grow with every failure after the second. */
function pauseOf(db: Queryable, attempts: Fragment): Fragment {
  return db`(case when ${attempts} <= ${failuresMax} then every_seconds
    else greatest(every_seconds, least(${pauseMax}, 2 ^ least(${attempts}, 20))) end)`
}

/** A job with what is known of its runs. `overdueSeconds`: for how long it has been due without a process that works on it. */
export type JobStatus = {
  name: string
  isRunning: boolean
  attempts: number
  failedSince: Date | null
  error: string
  overdueSeconds: number
}

/** The jobs of processes that serve exactly these chains. */
export async function listJobStatus(db: Queryable, chains: readonly number[]): Promise<JobStatus[]> {
  return db<JobStatus[]>`
    select name, leased_until > now() is true as "isRunning", attempts, failed_since as "failedSince", error,
      greatest(0, extract(epoch from now() - greatest(run_at, leased_until)))::float8 as "overdueSeconds"
    from jobs where chains = ${[...chains]}::bigint[] order by name`
}
