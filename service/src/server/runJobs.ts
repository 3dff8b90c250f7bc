import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { claimJobs, endJob, type JobHolder, registerJobs } from '../features/status/index.js'
import { redactUrls } from '../kernel/log.js'
import { countFor } from '../rpc/chains.js'
import type { ServiceContext } from './operations.js'

/**
 * Work that runs again and again: the next run starts `everySeconds` after the last one ended. Its turns are shared with other
 * processes by rows of `jobs`. `atHeads`: it runs at every head instead, in each process by a timer: `each`, with one for each
 * chain, so that none waits for another's node; `all`, with one for all of them.
 */
export type Job = {
  name: string
  everySeconds: number
  atHeads?: 'each' | 'all'
  /** The role it belongs to; absent: `jobs`. */
  role?: 'commit' | 'solve'
  run(ctx: ServiceContext): Promise<void>
}

/** How long a process that died keeps a job from the others, and how often a living one looks for jobs that are due. */
const leaseSeconds = 15
const lookMsMax = 1_000
const lookMsMin = 20

/** Runs jobs until stopped, each at once and then in its turn. A failure is logged; the next run tries again. */
export function startJobs(
  ctx: ServiceContext,
  jobs: readonly Job[],
  options: { leaseSeconds?: number } = {},
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  // Every timer waits for it: with more than ten of them node would warn of a leak.
  setMaxListeners(jobs.length * (1 + ctx.chains.size), stopping.signal)
  const timers = jobs.flatMap((job) => {
    if (job.atHeads === 'each')
      return [...ctx.chains].map(([chainId, chain]) =>
        repeat({ ...ctx, chains: new Map([[chainId, chain]]) }, job, { stopping: stopping.signal, about: { chainId } }),
      )
    return job.atHeads === 'all' ? [repeat(ctx, job, { stopping: stopping.signal, about: {} })] : []
  })
  const shared = jobs.filter(({ atHeads }) => atHeads === undefined)
  const seconds = options.leaseSeconds ?? leaseSeconds
  const taking =
    shared.length === 0 ? Promise.resolve() : takeTurns(ctx, shared, { stopping: stopping.signal, seconds })
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all([...timers, taking])
    },
  }
}

/** @returns why it failed; undefined where it did not. */
async function runOnce(ctx: ServiceContext, job: Job, about: { chainId?: number }): Promise<string | undefined> {
  try {
    await job.run({ ...ctx, chains: countFor(ctx.chains, job.name) })
    return undefined
  } catch (error) {
    ctx.log.warn({ err: error, ...about }, `the job "${job.name}" failed; it runs again`)
    return redactUrls(error instanceof Error ? error.message : String(error)).slice(0, 300)
  }
}

async function repeat(
  ctx: ServiceContext,
  job: Job,
  { stopping, about }: { stopping: AbortSignal; about: { chainId?: number } },
): Promise<void> {
  while (!stopping.aborted) {
    await runOnce(ctx, job, about)
    await ctx.clock.sleep(job.everySeconds * 1_000, stopping)
  }
}

/** Leases the jobs that are due, runs them concurrently, and gives each back when it has ended. */
async function takeTurns(
  ctx: ServiceContext,
  jobs: readonly Job[],
  { stopping, seconds }: { stopping: AbortSignal; seconds: number },
): Promise<void> {
  const chains = [...ctx.chains.keys()].sort((a, b) => a - b)
  const holder: JobHolder = { holder: randomUUID(), chains, leaseSeconds: seconds }
  const running = new Map<string, Promise<void>>()
  let isRegistered = false
  let wake = new AbortController()
  stopping.addEventListener('abort', () => wake.abort(), { once: true })
  const run = async (job: Job): Promise<void> => {
    const error = await runOnce(ctx, job, {})
    try {
      await endJob(ctx.db, holder, job.name, error)
    } catch (cause) {
      ctx.log.warn({ err: cause }, `the end of the job "${job.name}" was not recorded; it runs again in ${seconds} s`)
    }
    running.delete(job.name)
    wake.abort()
  }
  while (!stopping.aborted) {
    wake = new AbortController()
    let waitMs = lookMsMax
    try {
      if (!isRegistered) await registerJobs(ctx.db, chains, jobs)
      isRegistered = true
      const idle = jobs.filter(({ name }) => !running.has(name)).map(({ name }) => name)
      const claimed = await claimJobs(ctx.db, holder, { idle, running: [...running.keys()] })
      // A database that was restored may know none of them.
      isRegistered = claimed.known === jobs.length
      for (const job of jobs) if (claimed.names.includes(job.name)) running.set(job.name, run(job))
      waitMs = Math.max(lookMsMin, Math.min(claimed.nextSeconds, seconds / 4) * 1_000)
    } catch (error) {
      ctx.log.warn({ err: error }, 'the jobs that are due could not be read')
    }
    if (!stopping.aborted) await ctx.clock.sleep(Math.min(waitMs, lookMsMax), wake.signal)
  }
  await Promise.all(running.values())
}
