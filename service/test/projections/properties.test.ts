import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyProjection, Projections } from '../../src/sync/projection.js'
import type { TestDatabase } from '../database.js'
import { rebuildChain, rewindChain } from '../pipeline.js'
import { seed } from '../seed.js'
import { createRandom, type Random } from '../simulation/random.js'
import { withToys as all, openToyDatabase, openWorld, service, toys } from './world.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openToyDatabase()
})
afterAll(() => test?.close())

function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items]
  return Array.from(items, () => left.splice(random.int(0, left.length - 1), 1)[0] as T)
}

/** The same projections, with their sources in any order, and those that do not need each other as well. */
function reordered(random: Random): Projections {
  const derived = (random.chance(0.5) ? [...toys, ...service.derived] : all.derived).map(
    (projection): AnyProjection => ({
      ...projection,
      sources: (config: unknown) => shuffle(random, projection.sources(config)),
    }),
  )
  return { ...all, derived }
}

/** No wallet of the model chain moves more shares than it has, and no connector speaks for one: these have tests of their own. */
const unseen = new Set(['cut_moves', 'sub_account_owners', 'held_shares', 'held_share_changes'])

describe('every projection', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'gives the same rows written once, taken back and written again, rebuilt, and in any order of sources (draw %i)',
    async (draw) => {
      const random = createRandom(seed + draw)
      const chainId = 700 + draw
      const world = await openWorld(test.db, { chainId, random })
      world.chain.mine(60)
      const watcher = world.open(all)
      await world.rest(watcher)
      const once = await world.dump()
      for (const { tables } of all.derived)
        for (const { table } of tables.filter((each) => !unseen.has(each.table.name)))
          expect(
            once.some((line) => line.startsWith(`${table.name} `)),
            table.name,
          ).toBe(true)
      for (let round = 0; round < 4; round++) {
        await rewindChain(world.ctx, { chainId, projections: all, to: random.int(0, 59) })
        await world.rest(watcher)
        expect(await world.dump()).toEqual(once)
      }
      await rewindChain(world.ctx, { chainId, projections: all, to: 0 })
      await world.rest(world.open(reordered(random)))
      expect(await world.dump()).toEqual(once)
      await rebuildChain(world.ctx, { chainId, projections: reordered(random) })
      expect(await world.dump()).toEqual(once)
      // Each alone, with the others left as they are.
      for (const { name } of all.derived) await rebuildChain(world.ctx, { chainId, projections: all, only: [name] })
      expect(await world.dump()).toEqual(once)
    },
    120_000,
  )

  it.each([11, 12, 13])(
    'gives the same rows when its vaults come one by one, in any order (draw %i)',
    async (draw) => {
      const { db } = test
      const random = createRandom(seed + draw)
      const chainId = 700 + draw
      const world = await openWorld(db, { chainId, random })
      world.chain.mine(30)
      await world.rest(world.open(all))
      const once = await world.dump()
      // The same chain once more, each source left aside until its turn.
      await rewindChain(world.ctx, { chainId, projections: all, to: 0 })
      await db`delete from sources where chain_id = ${chainId}`
      await db`delete from projections where chain_id = ${chainId}`
      const hidden = new Set<string>()
      const partly: Projections = {
        ...all,
        derived: all.derived.map((projection) => ({
          ...projection,
          configuration: async (from, id) =>
            projection.restrict(await projection.configuration(from, id), (key: string) => !hidden.has(key)),
        })),
      }
      const [positions] = service.derived
      const keys = positions?.sources(await positions.configuration(db, chainId)).map(({ key }) => key) ?? []
      for (const key of keys) hidden.add(key)
      hidden.add('token')
      for (const key of shuffle(random, [...hidden])) {
        await world.rest(world.open(partly))
        hidden.delete(key)
      }
      await world.rest(world.open(partly))
      expect(await world.dump()).toEqual(once)
    },
    120_000,
  )
})
