import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseRows, selectList } from '../../src/postgres/table.js'
import { assertOrder } from '../../src/sync/projection.js'
import type { TestDatabase } from '../database.js'
import { rebuildChain } from '../pipeline.js'
import { seed } from '../seed.js'
import { createRandom } from '../simulation/random.js'
import { totalsTable, transfersTable } from './toy/index.js'
import {
  confirmations,
  openToyDatabase,
  openWorld,
  tokenTransfersOf,
  toys,
  type World,
  service as without,
  withToys,
} from './world.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openToyDatabase()
})
afterAll(() => test?.close())

/** What the toys' tables hold, and what a count over the chain's blocks gives. */
async function compare({ chain, chainId }: World) {
  const { db } = test
  const transfers = parseRows(
    transfersTable,
    await db<object[]>`
      select ${selectList(db, transfersTable, { without: ['chainId'] })} from toy_transfers where chain_id = ${chainId}
      order by block_number, log_index`,
  )
  const totals = parseRows(
    totalsTable,
    await db<object[]>`
      select ${selectList(db, totalsTable, { without: ['chainId'] })} from toy_totals where chain_id = ${chainId}
      order by block_number`,
  )
  const blocks = chain.blocks.filter(({ number }) => number >= 2)
  const confirmed = (chain.blocks.at(-1)?.number ?? 0) - confirmations + 1
  let total = 0n
  const expectedTotals = blocks.flatMap((block) => {
    const moved = tokenTransfersOf(block).reduce((sum, { amount }) => sum + amount, 0n)
    total += moved
    return block.number > confirmed || moved === 0n ? [] : [{ blockNumber: block.number, moved, total }]
  })
  expect(transfers).toEqual(blocks.flatMap(tokenTransfersOf))
  expect(totals).toEqual(expectedTotals)
  return { transfers: transfers.length, totals: totals.length }
}

class Crash extends Error {
  override readonly name = 'Crash'
}

describe('a projection that is one folder and a line in the list', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is equal to a naive count, live, added late, reorganised, killed and rebuilt (draw %i)',
    async (draw) => {
      const { db } = test
      const random = createRandom(seed + draw)
      const chainId = 900 + draw
      const world = await openWorld(db, { chainId, random })
      let isOver = false
      const die = async () => {
        if (!isOver && random.chance(0.25)) throw new Crash()
      }
      const dying = { reactions: [{ name: 'death', onBlocks: die, onRewind: die }] }
      const addedAt = random.int(0, 12)
      let watcher = world.open(addedAt === 0 ? withToys : without, dying)
      let kills = 0
      for (let turn = 1; turn <= 24; turn++) {
        world.faults.share = random.pick([0, 0, 0.02])
        world.chain.change()
        if (turn === addedAt) watcher = world.open(withToys, dying)
        for (let steps = 0; steps < 12; steps++) {
          const result = await watcher.step().catch((error: unknown) => {
            if (error instanceof Crash) {
              kills += 1
              watcher = world.open(turn < addedAt ? without : withToys, dying)
            }
            return 'failed'
          })
          if (result === 'idle') break
        }
      }
      // One fork as deep as forks get, then calm.
      isOver = true
      world.faults.share = 0
      await world.rest(watcher)
      const depth = Math.min(64, world.chain.blocks.length - 2)
      world.chain.blocks.splice(-depth)
      world.chain.mine(depth + 1)
      await world.rest(watcher)
      expect(kills).toBeGreaterThan(0)
      const counted = await compare(world)
      expect(counted.transfers).toBeGreaterThan(10)
      expect(counted.totals).toBeGreaterThan(5)
      const live = await world.dump()
      await db`update toy_transfers set amount = amount + 1 where chain_id = ${chainId} and block_number % 5 = 0`
      await db`delete from toy_totals where chain_id = ${chainId} and block_number % 3 = 0`
      await rebuildChain(world.ctx, { chainId, projections: withToys })
      await compare(world)
      expect(await world.dump()).toEqual(live)
      // One alone: what it needs is derived and left as it is.
      await db`delete from toy_totals where chain_id = ${chainId}`
      await rebuildChain(world.ctx, { chainId, projections: withToys, only: ['toy totals'] })
      expect(await world.dump()).toEqual(live)
    },
    120_000,
  )
})

describe('a list of projections', () => {
  it('is refused when a need comes later, is missing, is derived later, or cannot be recalled', () => {
    const [transfers, totals] = toys as [(typeof toys)[0], (typeof toys)[0]]
    const { recall: _, ...forgetful } = transfers
    expect(() => assertOrder([totals, transfers])).toThrow('not listed before it')
    expect(() => assertOrder([totals])).toThrow('not listed before it')
    expect(() => assertOrder([forgetful, totals])).toThrow('no recall')
    expect(() => assertOrder([transfers, totals, { ...transfers, name: 'x', needs: ['toy totals'] }])).toThrow(
      'before they are derived',
    )
    expect(() => assertOrder([transfers, transfers])).toThrow('two projections')
    expect(() => assertOrder([transfers, totals])).not.toThrow()
  })
})
