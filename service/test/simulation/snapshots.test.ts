import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { createRandom } from './random.js'
import { figuresOf, listExpected, listRows, playYear, prepareYear, start, vaults } from './snapshotYear.js'

const day = 86_400

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

describe('a year of snapshots', () => {
  it.each([2, 3])(
    'with reorganisations, gaps filled later and prices that come late keeps every stored digit (seed %s)',
    async (seed) => {
      await prepareYear(test.db)
      const { model, changed, reorgs, gaps } = await playYear(test.db, createRandom(seed), { isDeep: true })
      expect(changed).toEqual([])
      expect(reorgs).toBeGreaterThan(3)
      expect(gaps).toBeGreaterThan(10)
      const rows = await listRows(test.db)
      expect(rows.map(({ key }) => key).sort()).toEqual(listExpected(model))
      for (const { vault, number, digits } of rows) {
        const { totalAssets, totalSupply, perShare } = figuresOf(vault, model.blocks[number]!)
        expect(digits).toBe(`${totalAssets} ${totalSupply} ${perShare(10n ** 18n)} 18`)
      }
      // A feed tells its past: whatever lies after its first round is priced. A provider does not.
      const firstRound = start + 2 * day
      expect(rows.filter(({ vault, at, usd }) => vault !== vaults[1] && at >= firstRound && usd === null)).toEqual([])
      expect(rows.filter(({ vault, usd }) => vault === vaults[1] && usd !== null).length).toBeGreaterThan(20)
      const [early] = await test.db<{ count: number }[]>`
        select count(*) as count from vault_snapshots s join price_observations p on p.id = s.price_observation_id
        where p.observed_at > s.block_timestamp or p.price_usd <> s.price_usd`
      expect(early?.count).toBe(0)
    },
    60_000,
  )
})
