import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { int4, int8, numeric } from '../../src/postgres/columns.js'
import { describeTable } from '../../src/postgres/table.js'
import { listProjections } from '../../src/server/projections.js'
import type { Tell } from '../../src/sync/apply.js'
import { defineProjection, type Result } from '../../src/sync/defineProjection.js'
import { assertOrder, type Projections } from '../../src/sync/projection.js'
import type { TestDatabase } from '../database.js'
import { rebuildChain, rewindChain } from '../pipeline.js'
import { createRandom } from '../simulation/random.js'
import { createToyTransfers, type Transfer } from './toy/index.js'
import { openToyDatabase, openWorld, tokenTransfersOf } from './world.js'

/** The smallest projection there is: what it follows, its table, and its rows. Large transfers, of which others are told. */
const large = describeTable('toy_large', { chainId: [int8], blockNumber: [int8], logIndex: [int4], amount: [numeric] })
const transfers: Result<readonly Transfer[]> = { name: 'toy transfers', empty: [] }
const isLarge = ({ amount }: Transfer) => amount > 100n
const toRow = ({ blockNumber, logIndex, amount }: Transfer) => ({ blockNumber, logIndex, amount })
const follower = defineProjection({
  name: 'toy large',
  table: large,
  needs: { transfers },
  derive: (_block, { needs }) => needs.transfers.filter(isLarge).map(toRow),
  events: (rows) => rows.flat().map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`),
})
const all: Projections = { derived: [createToyTransfers(2), follower], observed: listProjections().observed }

let test: TestDatabase
beforeAll(async () => {
  test = await openToyDatabase()
  await test.db.unsafe(`
    create table toy_large (chain_id bigint, block_number bigint, log_index int, amount numeric,
      primary key (chain_id, block_number, log_index));
    create unlogged table rebuilt_toy_large (like toy_large);
    create table toy_told (chain_id bigint, event text);`)
})
afterAll(() => test?.close())

const tell: Tell = async (tx, { chainId, projection, events }) => {
  expect(projection).toBe('toy large')
  for (const event of events) await tx`insert into toy_told (chain_id, event) values (${chainId}, ${String(event)})`
}

const listRows = async (chainId: number) =>
  (
    await test.db<{ at: string }[]>`
      select block_number || ':' || log_index as at from toy_large where chain_id = ${chainId}
      order by block_number, log_index`
  ).map(({ at }) => at)
const listTold = async (chainId: number) =>
  (await test.db<{ event: string }[]>`select event from toy_told where chain_id = ${chainId}`).map(({ event }) => event)

describe('a projection that says what it follows, its table and its rows', () => {
  it.each([1, 2])(
    'is derived once blocks are confirmed, and tells of each row in that transaction (draw %i)',
    async (draw) => {
      const chainId = 820 + draw
      const world = await openWorld(test.db, { chainId, random: createRandom(chainId) })
      const expected = (to: number) =>
        world.chain.blocks
          .filter(({ number }) => number >= 2 && number <= to)
          .flatMap((block) => tokenTransfersOf(block).filter(isLarge))
          .map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`)
      const depth = 7 - 1
      const top = () => world.chain.blocks.at(-1)?.number ?? 0
      world.chain.mine(40)
      const watcher = world.open(all, { tell })
      await world.rest(watcher)
      expect(expected(top() - depth).length).toBeGreaterThan(5)
      expect(await listRows(chainId)).toEqual(expected(top() - depth))
      // Block by block at the head, as well as many at once.
      for (let block = 0; block < 10; block++) {
        world.chain.mine(1)
        await world.rest(watcher)
      }
      const rows = expected(top() - depth)
      expect(await listRows(chainId)).toEqual(rows)
      expect(await listTold(chainId)).toEqual(rows)
      await rebuildChain(world.ctx, { chainId, projections: all })
      expect(await listRows(chainId)).toEqual(rows)
      expect(await listTold(chainId)).toEqual(rows)
      await rewindChain(world.ctx, { chainId, projections: all, to: 20 })
      expect(await listRows(chainId)).toEqual(expected(20))
      await world.rest(world.open(all))
      expect(await listRows(chainId)).toEqual(rows)
    },
    60_000,
  )

  it('has no row of which nobody was told: where telling fails, nothing of it is confirmed', async () => {
    const chainId = 825
    const world = await openWorld(test.db, { chainId, random: createRandom(chainId) })
    world.chain.mine(40)
    let failures = 3
    const failing: Tell = async (tx, told) => {
      await tell(tx, told)
      if (failures-- > 0) throw new Error('the outbox is full')
    }
    const watcher = world.open(all, { tell: failing })
    for (let turn = 0; turn < 3; turn++) {
      await expect(watcher.step()).rejects.toThrow('the outbox is full')
      expect([await listRows(chainId), await listTold(chainId)]).toEqual([[], []])
    }
    await world.rest(watcher)
    const rows = await listRows(chainId)
    expect(rows.length).toBeGreaterThan(5)
    expect(await listTold(chainId)).toEqual(rows)
  }, 60_000)
})

describe('a definition is refused', () => {
  const derive = () => []
  it('that tells events of rows at the head', () => {
    const early = defineProjection({ name: 'early', table: large, derive, events: () => [] })
    expect(() => assertOrder([early])).toThrow(
      'projection early tells events, but is not derived once blocks are confirmed',
    )
  })

  it('that has a configuration and does not say it in lines', () => {
    expect(() => defineProjection({ name: 'x', table: large, derive, configuration: async () => 1 })).toThrow(
      'in lines',
    )
  })

  it('of several tables that leaves their writing to the default, when it writes', async () => {
    const two = defineProjection({ name: 'two', tables: [{ table: large }, { table: large }], derive })
    const to = { chainId: 1, config: null, place: <T>(table: T) => table, isLive: true }
    await expect(two.write(test.db, [], to)).rejects.toThrow('several tables')
  })
})
