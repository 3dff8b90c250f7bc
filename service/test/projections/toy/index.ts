import { hex, int4, int8, numeric } from '../../../src/postgres/columns.js'
import type { Database } from '../../../src/postgres/pool.js'
import { copyRows, describeTable, insertRows, parseRows, selectList } from '../../../src/postgres/table.js'
import type { RawLog } from '../../../src/rpc/raw.js'
import { inPlace, type Projection } from '../../../src/sync/projection.js'

/** Plain transfers of a token that is in no catalogue, and what they sum up to once they are confirmed. */

export const toyToken = `0x${'70'.repeat(20)}`
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export const transfersTable = describeTable('toy_transfers', {
  chainId: [int8],
  blockNumber: [int8],
  logIndex: [int4],
  from: [hex, 'sender'],
  to: [hex, 'receiver'],
  amount: [numeric],
})
/** One row a block that moved something: how much, and how much up to it. */
export const totalsTable = describeTable('toy_totals', {
  chainId: [int8],
  blockNumber: [int8],
  moved: [numeric],
  total: [numeric],
})

export async function createToyTables(db: Database): Promise<void> {
  await db.unsafe(`
    create table if not exists toy_transfers (chain_id bigint, block_number bigint, log_index int, sender bytea, receiver bytea,
      amount numeric, primary key (chain_id, block_number, log_index));
    create table if not exists toy_totals (chain_id bigint, block_number bigint, moved numeric, total numeric,
      primary key (chain_id, block_number));
    create unlogged table if not exists rebuilt_toy_transfers (like toy_transfers);
    create unlogged table if not exists rebuilt_toy_totals (like toy_totals);`)
}

export type Transfer = { blockNumber: number; logIndex: number; from: string; to: string; amount: bigint }

const toTransfer = ({ blockNumber, logIndex, topics, data }: RawLog): Transfer => ({
  ...{ blockNumber, logIndex, amount: BigInt(data) },
  ...{ from: `0x${topics[1]?.slice(26)}`, to: `0x${topics[2]?.slice(26)}` },
})

export function createToyTransfers(startBlock: number): Projection<{ startBlock: number }, null, readonly Transfer[]> {
  return {
    name: 'toy transfers',
    tables: [{ table: transfersTable }],
    needs: [],
    at: 'head',
    configuration: async () => ({ startBlock }),
    lines: () => [{ line: 'rules 1', from: 0 }],
    sources: (config) =>
      config.startBlock < 0
        ? []
        : [
            {
              ...{ key: 'token', addresses: [toyToken], topics: [transferTopic] },
              ...{ fromBlock: config.startBlock, calldata: [] },
            },
          ],
    restrict: (config, isRead) => (isRead('token') ? config : { startBlock: -1 }),
    open: () => null,
    load: async () => undefined,
    derive: (block, { config }) =>
      config.startBlock < 0 ? [] : block.logs.filter(({ address }) => address === toyToken).map(toTransfer),
    write: async (db, rows, { chainId, place }) => {
      if (place === inPlace) await insertRows(db, transfersTable, rows.flat(), { shared: { chainId } })
      else {
        const copy = await copyRows(db, place(transfersTable), { shared: { chainId } })
        await copy.write(rows.flat())
        await copy.end()
      }
    },
    size: () => 0,
    recall: async (db, { chainId, from, to }) => {
      const rows = parseRows(
        transfersTable,
        await db<object[]>`
          select ${selectList(db, transfersTable)} from toy_transfers
          where chain_id = ${chainId} and block_number between ${from} and ${to} order by block_number, log_index`,
      )
      const byBlock = new Map<number, Transfer[]>()
      for (const { chainId: _, ...row } of rows)
        byBlock.set(row.blockNumber, [...(byBlock.get(row.blockNumber) ?? []), row])
      return byBlock
    },
    rewind: async (tx, { chainId, number }) => {
      await tx`delete from toy_transfers where chain_id = ${chainId} and block_number > ${number}`
      return 0
    },
  }
}

/** The total so far, unknown until something was looked up. */
type TotalState = { total: bigint | undefined }

export const toyTotals: Projection<null, TotalState, { blockNumber: number; moved: bigint; total: bigint } | null> = {
  name: 'toy totals',
  tables: [{ table: totalsTable }],
  needs: ['toy transfers'],
  at: 'confirmed',
  configuration: async () => null,
  lines: () => [{ line: 'rules 1', from: 0 }],
  sources: () => [],
  restrict: (config) => config,
  open: (isWhole) => ({ total: isWhole ? 0n : undefined }),
  load: async (db, { chainId, state, place, blocks }) => {
    if (state.total !== undefined) return
    const rows = await db<{ total: string }[]>`
      select total from ${db(place(totalsTable).name)}
      where chain_id = ${chainId} and block_number < ${blocks[0]?.number ?? 0} order by block_number desc limit 1`
    state.total = BigInt(rows[0]?.total ?? 0)
  },
  derive: (block, { state, results }) => {
    const transfers = (results.get('toy transfers') ?? []) as readonly Transfer[]
    if (transfers.length === 0) return null
    const moved = transfers.reduce((sum, { amount }) => sum + amount, 0n)
    const total = (state.total ?? 0n) + moved
    state.total = total
    return { blockNumber: block.number, moved, total }
  },
  write: async (db, rows, { chainId, place }) => {
    const given = rows.filter((row) => row !== null)
    await insertRows(db, place(totalsTable), given, { shared: { chainId } })
  },
  size: () => 0,
  rewind: async (tx, { chainId, number }) => {
    await tx`delete from toy_totals where chain_id = ${chainId} and block_number > ${number}`
    return 0
  },
}
