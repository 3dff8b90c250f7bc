import { afterAll, beforeAll, expect, it } from 'vitest'
import { hex, int4, int8, numeric } from '../../src/postgres/columns.js'
import { describeTable, insertRows } from '../../src/postgres/table.js'
import { listProjections } from '../../src/server/projections.js'
import type { Projection } from '../../src/sync/projection.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { allVaults } from '../simulation/model.js'
import { createRandom } from '../simulation/random.js'
import { topics } from '../topics.js'
import { toyToken } from './toy/index.js'
import { openWorld, withToken } from './world.js'

/** A thing made of two contracts, as a vault with a contract beside it: it is derived of both, or not at all. */
const table = describeTable('pair_transfers', {
  chainId: [int8],
  blockNumber: [int8],
  logIndex: [int4],
  address: [hex],
  amount: [numeric],
})
type Moved = { blockNumber: number; logIndex: number; address: string; amount: bigint }
const [vault = ''] = allVaults

/** `parts` are the contracts the configuration names at present. */
const createPair = (parts: readonly string[], standsAlone: boolean): Projection<readonly string[], null, Moved[]> => ({
  name: 'pair',
  tables: [{ table }],
  needs: [],
  at: 'head',
  configuration: async () => parts,
  lines: (config) => (config.length === 0 ? [] : [{ line: `pair ${config.join()}`, from: 0, of: 'pair' }]),
  sources: (config) =>
    config.map((address) => ({
      key: address,
      addresses: [address],
      topics: [topics.transfer],
      fromBlock: 1,
      calldata: [],
    })),
  restrict: (config, isRead) => (config.every(isRead) ? config : []),
  standsAlone: () => standsAlone,
  open: () => null,
  load: async () => undefined,
  derive: ({ logs }, { config }) =>
    logs.flatMap(({ blockNumber, logIndex, address, topics: [first], data }) =>
      first === topics.transfer && config.includes(address)
        ? [{ blockNumber, logIndex, address, amount: BigInt(data) }]
        : [],
    ),
  write: async (db, rows, { chainId, place }) => {
    await insertRows(db, place(table), rows.flat(), { shared: { chainId } })
  },
  size: () => 0,
  rewind: async (tx, { chainId, number }) => {
    await tx`delete from pair_transfers where chain_id = ${chainId} and block_number > ${number}`
    return 0
  },
})

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase({ max: 6 })
  await test.db.unsafe(`create table pair_transfers (chain_id bigint, block_number bigint, log_index int, address bytea,
    amount numeric, primary key (chain_id, block_number, log_index))`)
})
afterAll(() => test?.close())

it.each([false, true])(
  'a contract that comes beside another later has its past read, and what rests on both is derived of both (alone: %s)',
  async (standsAlone) => {
    const { db } = test
    const chainId = standsAlone ? 801 : 800
    const world = await openWorld(db, { chainId, random: createRandom(chainId) })
    world.chain.mine(30)
    const { observed } = listProjections()
    const watch = (parts: readonly string[]) => world.open({ derived: [createPair(parts, standsAlone)], observed })
    await world.rest(watch([toyToken]))
    await db`update configuration_version set transaction_id = txid_current()`
    const later = watch([toyToken, vault])
    // While the past of the new one is read, the chain goes on, and what is read already is read on.
    for (let turn = 0; turn < 3; turn++) {
      await later.step()
      world.chain.mine(3)
    }
    await world.rest(later)
    const rows = await db<{ block: number; index: number }[]>`
      select block_number::int as block, log_index as index from pair_transfers where chain_id = ${chainId} order by 1, 2`
    const expected = world.chain.blocks
      .map(withToken)
      .flatMap(({ number, transactions }) =>
        transactions
          .flatMap(({ logs }) => logs)
          .filter(({ address, topics: [first] }) => first === topics.transfer && [toyToken, vault].includes(address))
          .map(({ logIndex }) => ({ block: number, index: logIndex })),
      )
      .filter(({ block }) => block >= 1)
    expect(expected.length).toBeGreaterThan(20)
    expect(rows).toEqual(expected)
  },
  60_000,
)
