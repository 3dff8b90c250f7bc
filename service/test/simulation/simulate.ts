import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { computeStateHash } from '../../src/features/audit/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { type Database, openDatabase } from '../../src/postgres/pool.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { rebuildChain } from '../pipeline.js'
import { findDifferences } from './compare.js'
import { recount } from './recount.js'
import { connections, type Played, playSchedule } from './schedule.js'

const schedules = Number(process.env['SIMULATION_SCHEDULES'] ?? 2_000)
const firstSeed = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1)
/** Test files the schedules are spread over, so that they run side by side. */
const shares = 4
/** Schedules in one database; a fresh one keeps its tables small. */
const schedulesPerDatabase = 50

const organizationId = newId()

type World = TestDatabase & { watching: Database }

async function openWorld(): Promise<World> {
  const test = await openTestDatabase({ max: 4 })
  const watching = openDatabase(test.target, { max: connections })
  await test.db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  const close = async () => {
    await watching.end({ timeout: 5 })
    await test.close()
  }
  return { ...test, watching, close }
}

/** Plays a schedule and compares; every fifth is rebuilt and compared again. */
async function check({ db, watching }: World, seed: number): Promise<Played & { entries: number }> {
  const played = await playSchedule({ db, watching }, seed, organizationId)
  const expected = recount(played.blocks, played.rules)
  expect(await findDifferences(db, played, expected), `seed ${seed}`).toEqual([])
  if (seed % 5 === 0) {
    // What was derived live and what a rebuild derives are the same, history included.
    const live = await computeStateHash(db, played.chainId)
    const rebuilt = await rebuildChain({ db, clock: systemClock }, { chainId: played.chainId })
    expect(rebuilt.hash, `seed ${seed}`).toBe(live)
    expect(await findDifferences(db, played, expected), `seed ${seed} rebuilt`).toEqual([])
  }
  return { ...played, entries: expected.entries.length }
}

/** Describes the nth share of the schedules, and the seeds that are always played. */
export function describeSchedules(share: number, always: readonly number[] = []): void {
  describe('the tables after any schedule', () => {
    let test: World
    beforeAll(async () => {
      test = await openWorld()
    })
    afterAll(() => test?.close())

    if (always.length > 0)
      it('equal a recount from what happened, on the seeds that once failed', async () => {
        for (const seed of always) await check(test, seed)
      }, 300_000)

    it('equal a recount under forks, lies, kills and catalogue changes, on many seeds', async () => {
      const sums = { blocks: 0, entries: 0, kills: 0, failures: 0, interruptions: 0, reincluded: 0, returned: 0 }
      const depths: number[] = []
      let played = 0
      for (let seed = firstSeed + share; seed < firstSeed + schedules; seed += shares) {
        if (always.includes(seed)) continue
        if (++played % schedulesPerDatabase === 0) {
          await test.close()
          test = await openWorld()
        }
        const one = await check(test, seed)
        sums.blocks += one.blocks.length
        for (const name of ['entries', 'kills', 'failures', 'interruptions'] as const) sums[name] += one[name]
        for (const name of ['reincluded', 'returned'] as const) sums[name] += one.forks[name]
        depths.push(...one.reorgs)
      }
      const deep = depths.filter((depth) => depth > 32).length
      const deepest = Math.max(0, ...depths)
      const reorgs = `${depths.length} reorgs followed, ${deep} deeper than 32, the deepest ${deepest}`
      console.log(`${played} schedules: ${JSON.stringify(sums)}, ${reorgs}, 0 wrong rows`)
      expect(sums.entries).toBeGreaterThan(played)
    }, 7_200_000)
  })
}
