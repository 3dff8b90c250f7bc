import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillLatePrices } from '../../src/features/ledger/index.js'
import { newId } from '../../src/kernel/ids.js'
import { type Database, openDatabase } from '../../src/postgres/pool.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { findDifferences } from './compare.js'
import { findDifferencesOfAll } from './compareBoth.js'
import { findFlowsDifferences } from './compareFlows.js'
import { findMetricsDifferences } from './compareMetrics.js'
import { findWrongCoverage } from './compareReport.js'
import { addTotals, type Counted, type Totals } from './expected.js'
import { connections } from './playedChain.js'
import { recount } from './recount.js'
import { type Played, playAlone, playPair } from './schedule.js'
import { hashState, rebuild } from './underTest.js'

const schedules = Number(process.env['SIMULATION_SCHEDULES'] ?? 400)
const firstSeed = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1)
/** Test files the schedules are spread over, so that they run side by side. */
const shares = 4
/** Schedules in one database; a fresh one keeps its tables small. */
const schedulesPerDatabase = 50

export const organizationId = newId()

/** `totals` are of all chains that were played in the database. */
export type World = TestDatabase & { watching: Database; totals: Totals }

export async function openWorld(): Promise<World> {
  const test = await openTestDatabase({ max: 4 })
  // Nobody waits for a lock here but for a fault of the service: it is to fail, not to hang.
  await test.db`
    do $$ begin execute format('alter database %I set lock_timeout = %L', current_database(), '30s'); end $$`
  const watching = openDatabase(test.target, { max: connections })
  await test.db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  const close = async () => {
    await watching.end({ timeout: 5 })
    await test.close()
  }
  return { ...test, watching, close, totals: new Map() }
}

type Play = typeof playAlone

/** Plays a schedule and compares; after every fifth a chain is rebuilt, and all is compared again. */
async function check(world: World, play: Play, seed: number): Promise<Played & { entries: number }> {
  const { db, watching } = world
  const played = await play({ db, watching, organizationId }, seed).catch((error: unknown) => {
    throw new Error(`seed ${seed} could not be played to its end`, { cause: error })
  })
  const counted = played.chains.map(
    (outcome): Counted => ({ outcome, expected: recount(outcome.blocks, outcome.rules) }),
  )
  world.totals = addTotals(world.totals, counted)
  const { productId } = played
  const isThorough = Math.floor(seed / shares) % 2 === 0
  const compare = async (when: string) => {
    // A rebuild chooses no prices, nor does an entry that came before the first one.
    for (const { outcome } of counted) await fillLatePrices(db, outcome.chainId)
    const differences: string[] = []
    for (const { outcome, expected } of counted)
      for (const line of await findDifferences(db, outcome, expected)) differences.push(`${outcome.chainId}: ${line}`)
    if (isThorough)
      for (const one of counted)
        for (const line of await findWrongCoverage(db, one)) differences.push(`${one.outcome.chainId}: ${line}`)
    differences.push(...(await findDifferencesOfAll(db, counted, { productId, totals: world.totals, isThorough })))
    if (seed % 5 === 0)
      for (const { outcome } of counted)
        for (const line of await findMetricsDifferences(db, outcome, seed))
          differences.push(`${outcome.chainId}: ${line}`)
    if (seed % 25 === 0)
      for (const { outcome } of counted)
        for (const line of await findFlowsDifferences(db, outcome, seed))
          differences.push(`${outcome.chainId}: ${line}`)
    expect(differences, `seed ${seed} ${when}`).toEqual([])
  }
  await compare('played')
  const again = played.chains[Math.floor(seed / 5) % played.chains.length]
  if (seed % 5 === 0 && again) {
    // What was derived live and what a rebuild derives are the same, history included; other chains stay as they are.
    const place = { db, chainId: again.chainId }
    const live = await hashState(place)
    expect(await rebuild(place), `seed ${seed}`).toBe(live)
    await compare('rebuilt')
  }
  return { ...played, entries: counted.reduce((sum, { expected }) => sum + expected.entries.length, 0) }
}

type Always = { alone: readonly number[]; pair: readonly number[] }

/** Describes the nth share of the schedules, and the seeds that are always played, of one chain and of two. */
export function describeSchedules(share: number, always: Always = { alone: [], pair: [] }): void {
  describe('the tables after any schedule', () => {
    let test: World
    beforeAll(async () => {
      test = await openWorld()
    })
    afterAll(() => test?.close())

    if (always.alone.length + always.pair.length > 0)
      it('equal a recount from what happened, on the seeds that once failed', async () => {
        for (const seed of always.alone) await check(test, playAlone, seed)
        for (const seed of always.pair) await check(test, playPair, seed)
      }, 300_000)

    it('equal recounts of two chains side by side under forks, lies, kills and catalogue changes, on many seeds', async () => {
      const sums = { blocks: 0, entries: 0, kills: 0, failures: 0, interruptions: 0, crossings: 0, replays: 0 }
      const forks = { reincluded: 0, returned: 0 }
      const depths: number[] = []
      let played = 0
      for (let seed = firstSeed + share; seed < firstSeed + schedules; seed += shares) {
        if (always.pair.includes(seed)) continue
        if (++played % schedulesPerDatabase === 0) {
          await test.close()
          test = await openWorld()
        }
        const one = await check(test, playPair, seed)
        for (const name of ['entries', 'kills', 'failures', 'interruptions', 'crossings', 'replays'] as const)
          sums[name] += one[name]
        for (const { blocks, reorgs, forks: own } of one.chains) {
          sums.blocks += blocks.length
          for (const name of ['reincluded', 'returned'] as const) forks[name] += own[name]
          depths.push(...reorgs)
        }
      }
      const deep = depths.filter((depth) => depth > 32).length
      const deepest = Math.max(0, ...depths)
      const reorgs = `${depths.length} reorgs followed, ${deep} deeper than 32, the deepest ${deepest}`
      console.log(
        `${played} schedules of two chains: ${JSON.stringify({ ...sums, ...forks })}, ${reorgs}, 0 wrong rows`,
      )
      expect(sums.entries).toBeGreaterThan(played)
      // Of what is tried, nothing is left out: the rarest comes about eight times in fifty schedules.
      for (const [name, sum] of Object.entries({ ...sums, ...forks, reorgs: depths.length }))
        expect(sum, name).toBeGreaterThanOrEqual(Math.floor(played / 50))
    }, 7_200_000)
  })
}
