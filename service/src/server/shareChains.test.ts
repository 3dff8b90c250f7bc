import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import type { FencedLock } from '../sync/storeLocks.js'
import { type Shares, shareChains } from './shareChains.js'

/** Processes that follow chains, each with its sessions, on a clock that is set. */
let test: TestDatabase
let nowMs: number
const processes: Process[] = []
type Process = { shares: Shares; held: Map<number, FencedLock>; look(): Promise<void> }
/** The last has a number that does not fit into a lock's. */
const chains = [1, 10, 8453, 42_161, 2 ** 33 + 5]

beforeEach(async () => {
  test = await openTestDatabase()
  nowMs = 0
})
afterEach(async () => {
  for (const { shares } of processes.splice(0)) await shares.close()
  await test.close()
})

function start(known: readonly number[] = chains): Process {
  const clock = { monotonicMs: () => nowMs } as never
  const shares = shareChains({ db: test.db, clock }, known)
  const held = new Map<number, FencedLock>()
  const look = async () => {
    for (const chainId of known) {
      const own = held.get(chainId)
      if (own && (!(await own.isHeld()) || (await shares.isLeft(chainId)))) {
        held.delete(chainId)
        await own.release()
      } else if (!own) {
        const lock = await shares.take(chainId)
        if (lock) held.set(chainId, lock)
      }
    }
  }
  const started = { shares, held, look }
  processes.push(started)
  return started
}

/** Every process looks, one after the other, each two seconds. */
async function pass(seconds: number): Promise<void> {
  for (const end = nowMs + seconds * 1_000; nowMs < end; nowMs += 2_000) for (const { look } of processes) await look()
}
const counts = () => processes.map(({ held }) => held.size)
const all = () => processes.flatMap(({ held }) => [...held.keys()]).sort((a, b) => a - b)

describe('chains of several processes', () => {
  it('are all those of one alone, and shared with another that starts, one at a time, until the shares are even', async () => {
    const first = start()
    await pass(2)
    expect([...first.held.keys()]).toEqual(chains)
    start()
    await pass(4)
    expect(counts()).toEqual([4, 1])
    await pass(20)
    expect(counts()).toEqual([3, 2])
    expect(all()).toEqual(chains)
    start()
    await pass(20)
    expect(counts().sort()).toEqual([1, 2, 2])
    expect(all()).toEqual(chains)
  })

  it('are followed by the others within ten seconds once a process has died', async () => {
    start()
    const dying = start()
    await pass(20)
    expect(counts()).toEqual([3, 2])
    // Its connection ends, and it looks no more.
    processes.splice(processes.indexOf(dying), 1)
    await dying.shares.close()
    await until('the server to notice', async () => {
      const [row] = await test.db<{ count: number }[]>`
        select count(distinct pid)::int as count from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())`
      return row?.count === 1
    })
    await pass(8)
    expect(counts()).toEqual([5])
  })

  it('go to a process that has more of them, where those that have fewer do not know one or do not take it', async () => {
    const [many, few] = [start(), start([1])]
    await pass(20)
    expect(counts()).toEqual([4, 1])
    // It shows that it can follow the chain, and never looks.
    processes.splice(processes.indexOf(few), 1)
    await few.held.get(1)?.release()
    await many.look()
    expect(counts()).toEqual([4])
    await pass(8)
    expect(counts()).toEqual([5])
    await pass(30)
    expect(counts()).toEqual([5])
    await few.shares.close()
  })

  it('are taken anew after their connection was lost, each with another token', async () => {
    const only = start()
    await pass(2)
    const tokens = [...only.held.values()].map(({ fence }) => fence.token)
    const pids = await test.db<{ pid: number }[]>`
      select distinct pid from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`
    expect(pids).toHaveLength(1)
    await test.db`select pg_terminate_backend(${pids[0]?.pid ?? 0}, 10000)`
    // The first look meets the loss.
    await pass(4)
    expect([...only.held.keys()].sort((a, b) => a - b)).toEqual(chains)
    for (const { fence } of only.held.values()) expect(tokens).not.toContain(fence.token)
  })
})
