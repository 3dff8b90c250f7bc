import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { inTransaction } from '../postgres/pool.js'
import type { AnyProjection } from './projection.js'
import { joinSources } from './rederive.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

type Part = { key: string; isBeside: boolean }

/** How the rows of a projection are taken back, block by block, when sources of it join. */
async function join(joining: readonly Part[], { standsAlone = true } = {}) {
  const rewinds: { above: number; isAlone: boolean }[] = []
  const projection: AnyProjection = {
    ...{ name: 'parts', tables: [], needs: [], at: 'head' },
    ...{ configuration: async () => [], lines: () => [], restrict: (config) => config },
    sources: (parts: readonly Part[]) =>
      parts.map(({ key, isBeside }) => ({
        ...{ key, addresses: [`0x${'aa'.repeat(20)}`], topics: [], fromBlock: 1, calldata: [] },
        ...(isBeside ? { beside: () => true } : {}),
      })),
    standsAlone: () => standsAlone,
    ...{ open: () => null, load: async () => undefined, derive: () => [], write: async () => undefined, size: () => 0 },
    rewind: async (_tx, { number }, { only }) => {
      rewinds.push({ above: number, isAlone: only !== undefined })
      return 0
    },
  }
  const all = [{ projection, config: [{ key: 'known', isBeside: false }, ...joining] }]
  const names = joining.map(({ key }) => ({ projection: 'parts', key }))
  const range = { from: 5, to: 9, timestamp: 1 }
  await inTransaction(test.db, (tx) =>
    joinSources(tx, { chainId: 1, all, alone: [{ projection, config: joining }], joining: names, ...range }),
  )
  return rewinds
}

const contract = { key: 'contract', isBeside: false }
const besideVault = { key: 'beside', isBeside: true }

it('derives a source whose past concerns no other row by itself', async () => {
  expect(await join([contract])).toEqual([{ above: 4, isAlone: true }])
})

it('derives a contract beside a vault again from its block, not alone', async () => {
  expect(await join([besideVault])).toEqual([{ above: 4, isAlone: false }])
  expect(await join([contract, besideVault])).toEqual([{ above: 4, isAlone: false }])
})

it('derives everything again from the block of a source that says its past may concern others', async () => {
  expect(await join([contract], { standsAlone: false })).toEqual([{ above: 4, isAlone: false }])
})
