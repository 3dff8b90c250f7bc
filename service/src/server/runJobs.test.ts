import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { listJobStatus } from '../features/status/index.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import type { ServiceContext } from './operations.js'
import { type Job, startJobs } from './runJobs.js'

let database: TestDatabase
let running: ReturnType<typeof startJobs>[]
beforeEach(async () => {
  database = await openTestDatabase()
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await database?.close()
})

function contextOf(chainIds: readonly number[] = []): ServiceContext {
  const chains = new Map(chainIds.map((chainId) => [chainId, { chainId, rpc: { as: () => ({}) } }]))
  return { db: database.db, clock: systemClock, log: silentLog, chains } as unknown as ServiceContext
}

/** A process of its own, as far as jobs can tell. */
function start(jobs: readonly Job[], options: { leaseSeconds?: number; chains?: readonly number[] } = {}) {
  const { chains, ...rest } = options
  const one = startJobs(contextOf(chains), jobs, rest)
  running.push(one)
  return one
}

const job = (name: string, run: () => Promise<void>, everySeconds = 0.02): Job => ({ name, everySeconds, run })
const statusOf = async (name: string) => (await listJobStatus(database.db, [])).find((one) => one.name === name)
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

/** A promise that others end. */
function openGate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('startJobs', () => {
  it('runs many jobs at once, goes on after one that fails, stops them all, and gives node no reason to warn', async () => {
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    onTestFinished(() => void process.off('warning', hear))
    const ran: string[] = []
    const run = (name: string) => async () => {
      ran.push(name)
      if (name === 'job 0') throw new Error('once')
    }
    const jobs = Array.from({ length: 30 }, (_, index) => job(`job ${index}`, run(`job ${index}`), 60))
    const timers = Array.from(
      { length: 30 },
      (_, index): Job => ({
        ...job(`timer ${index}`, run(`timer ${index}`), 60),
        atHeads: 'all',
      }),
    )
    const one = start([...jobs, ...timers])
    await until('all to have run', () => ran.length === 60 || undefined)
    await one.stop()
    await turns(3)
    expect(new Set(ran).size).toBe(60)
    expect(warnings).toEqual([])
  })

  it('runs what runs at heads once a chain: one whose node hangs keeps no other waiting, and a stop waits for it', async () => {
    const ran: number[] = []
    const { open, opened } = openGate()
    const each: Job = {
      ...{ name: 'each', everySeconds: 0.001, atHeads: 'each' },
      run: async ({ chains }: Pick<ServiceContext, 'chains'>) => {
        for (const chainId of chains.keys()) {
          ran.push(chainId)
          if (chainId === 1) await opened
        }
      },
    }
    const one = start([each], { chains: [1, 2, 3] })
    while (ran.filter((chainId) => chainId === 3).length < 3) await turns(1)
    expect(ran.filter((chainId) => chainId === 1)).toHaveLength(1)
    let isOver = false
    const stopped = one.stop().then(() => {
      isOver = true
    })
    await turns(3)
    expect(isOver).toBe(false)
    open()
    await stopped
    expect(await database.db`select from jobs`).toHaveLength(0)
  })
})

describe('a job that processes share', () => {
  it('runs in one of them at a time, and in turns that none of them misses', async () => {
    let [atWork, most, runs] = [0, 0, 0]
    const run = async () => {
      atWork++
      most = Math.max(most, atWork)
      runs++
      await turns(20)
      atWork--
    }
    for (let processes = 0; processes < 4; processes++) start([job('shared', run)])
    await until('twenty runs', () => runs >= 20 || undefined)
    expect(most).toBe(1)
  })

  it('is kept by the process that works on it for longer than a lease, and given back at its end', async () => {
    const { open, opened } = openGate()
    const ran: string[] = []
    const work = (name: string) => async () => {
      ran.push(name)
      if (ran.length === 1) await opened
    }
    const options = { leaseSeconds: 0.4 }
    start([job('long', work('first'))], options)
    await until('the first to begin', () => ran.length === 1 || undefined)
    start([job('long', work('second'))], options)
    const ends = new Set<number>()
    await until('the lease to be renewed four times', async () => {
      const [row] = await database.db<{ at: Date }[]>`select leased_until as at from jobs where name = 'long'`
      if (row) ends.add(row.at.getTime())
      return ends.size > 4
    })
    expect(ran).toEqual(['first'])
    expect(await statusOf('long')).toMatchObject({ isRunning: true, attempts: 1, overdueSeconds: 0 })
    open()
    await until('a second run', () => ran.length > 1 || undefined)
  })

  it('goes on with another process once the lease of one that died has ended, not before', async () => {
    await database.db`
      insert into jobs (name, chains, every_seconds, run_at, holder, leased_until, attempts)
      values ('left', '{}', 1, now(), gen_random_uuid(), now() + interval '1 second', 1)`
    let ranAt: Date | undefined
    start([
      job('left', async () => {
        const [row] = await database.db<{ at: Date }[]>`select clock_timestamp() as at`
        ranAt ??= row?.at
      }),
    ])
    const [row] = await database.db<{ until: Date }[]>`select leased_until as until from jobs where name = 'left'`
    await until('the other to go on', () => ranAt)
    expect(ranAt?.getTime()).toBeGreaterThanOrEqual(row?.until.getTime() ?? Number.POSITIVE_INFINITY)
  })

  it('that ends each process that begins it waits longer after every try, also across their starts', async () => {
    const begun = async () => {
      await database.db`update jobs set leased_until = now() - interval '1 second' where name = 'deadly'`
      let [count, harmless] = [0, 0]
      const { open, opened } = openGate()
      const one = start([
        // So often that it is due whenever its pause has not grown.
        job(
          'deadly',
          async () => {
            count++
            await opened
          },
          0.000_001,
        ),
        job('harmless', async () => void harmless++),
      ])
      // Both are leased by one statement.
      await until('the jobs that are due to be leased', () => harmless > 0 || undefined)
      // The lease stays as a killed process would leave it.
      await database.db`update jobs set holder = gen_random_uuid() where name = 'deadly'`
      open()
      await one.stop()
      return count
    }
    expect([await begun(), await begun(), await begun(), await begun()]).toEqual([1, 1, 1, 0])
    expect(await statusOf('deadly')).toMatchObject({ attempts: 3, failedSince: null })
  })

  it('counts its failures, waits longer after the second, tells the last one without addresses, and forgets them all', async () => {
    let [isBroken, runs] = [true, 0]
    const run = async () => {
      runs++
      if (isBroken) throw new Error('no answer from https://user:word@node.example/secret-path')
    }
    start([job('failing', run, 0.01)])
    await until('the third failure to be recorded', async () => {
      const status = await statusOf('failing')
      return status?.attempts === 3 && !status.isRunning && status.failedSince !== null
    })
    const failed = await statusOf('failing')
    expect(failed).toMatchObject({ attempts: 3, error: 'no answer from https://node.example/…' })
    expect(failed?.failedSince).toBeInstanceOf(Date)
    const [row] = await database.db<{ pause: number }[]>`
      select extract(epoch from run_at - started_at)::float8 as pause from jobs where name = 'failing'`
    expect(row?.pause).toBeGreaterThanOrEqual(8)
    isBroken = false
    await database.db`update jobs set run_at = now() where name = 'failing'`
    // Its next run is due at once, and counts as an attempt until it has ended.
    const well = await until('it to end well', async () => {
      const status = await statusOf('failing')
      return status?.failedSince === null && !status.isRunning ? status : undefined
    })
    expect(well).toMatchObject({ attempts: 0, error: '' })
    expect(runs).toBeGreaterThanOrEqual(4)
  })

  it('runs at once when a process starts, however long its pause, but never while another works on it', async () => {
    let runs = 0
    const daily = job('daily', async () => void runs++, 86_400)
    const first = start([daily])
    await until('a run', () => runs === 1 || undefined)
    await first.stop()
    start([daily])
    await until('a run of the next start', () => runs === 2 || undefined)
  })

  it('is shared by processes with the same chains only: each set of chains has its own turns', async () => {
    const ran = new Set<string>()
    const one = (name: string) => [job('of chains', async () => void ran.add(name), 60)]
    start(one('both'), { chains: [2, 1] })
    start(one('first'), { chains: [1] })
    await until('both to run', () => ran.size === 2 || undefined)
    const rows = await database.db<{ chains: string[] }[]>`select chains from jobs order by chains`
    expect(rows.map(({ chains }) => chains.map(Number))).toEqual([[1], [1, 2]])
  })

  it('is made known again where a restored database does not know it', async () => {
    let runs = 0
    start([job('known', async () => void runs++)])
    await until('a run', () => runs > 0 || undefined)
    await database.db`delete from jobs`
    const before = runs
    await until('another run', () => runs > before + 1 || undefined)
  })

  it('that no process runs any more is forgotten after a day', async () => {
    await database.db`
      insert into jobs (name, chains, every_seconds, run_at)
      values ('gone', '{}', 60, now() - interval '25 hours'), ('late', '{}', 60, now() - interval '23 hours')`
    start([job('new', async () => undefined, 60)])
    await until('the jobs', async () => (await statusOf('new')) ?? undefined)
    expect((await listJobStatus(database.db, [])).map(({ name }) => name)).toEqual(['late', 'new'])
  })
})
