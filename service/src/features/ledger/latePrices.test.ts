import { zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { insertOneVault } from '../../../test/oneVault.js'
import { createPipeline, rebuildChain, rewindChain } from '../../../test/pipeline.js'
import { topics } from '../../../test/topics.js'
import { systemClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import { silentLog } from '../../kernel/log.js'
import { type Database, inTransaction } from '../../postgres/pool.js'
import { recordObservation } from '../../prices/index.js'
import type { RawBlock } from '../../rpc/raw.js'
import { createCursor, findCursor, lockCursor } from '../../sync/storeCursors.js'
import { fillLatePrices } from './storePrices.js'

const chainId = 31_337
const vault = `0x${'cc'.repeat(20)}`
const token = `0x${'dd'.repeat(20)}`
const wallet = `0x${'01'.repeat(20)}`
const code = 'Y2Zi7KWy'
const start = 1_700_000_000
const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const hashOf = (number: number, fork: number) => `0x${pad(BigInt(fork * 1_000 + number))}`

/** In each block the wallet deposits three units through a distributor. */
function toBlock(number: number, fork = 1): RawBlock {
  const transactionHash = `0x${pad(BigInt(fork * 1_000_000 + number))}`
  const log = (logIndex: number, first: string, indexed: string[], data: bigint[]) => ({
    blockNumber: number,
    logIndex,
    transactionIndex: 0,
    transactionHash,
    address: vault,
    topics: [first, ...indexed.map((each) => `0x${pad(each)}`)],
    data: `0x${data.map(pad).join('')}`,
  })
  const suffix = `${Buffer.from(code).toString('hex')}080080218021802180218021802180218021`
  const input = `0x6e553f65${pad(3_000_000n)}${pad(wallet)}${suffix}`
  return {
    number,
    hash: hashOf(number, fork),
    parentHash: hashOf(number - 1, fork),
    timestamp: start + number * 100,
    logs: [
      log(0, topics.transfer, [zeroAddress, wallet], [3_000_000n]),
      log(1, topics.deposit, [wallet, wallet], [3_000_000n, 3_000_000n]),
    ],
    transactions: [{ blockNumber: number, transactionIndex: 0, hash: transactionHash, from: wallet, to: vault, input }],
  }
}

let test: TestDatabase
let db: Database
const context = () => ({ db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') })

beforeAll(async () => {
  test = await openTestDatabase()
  db = test.db
  await insertOneVault(db, { chainId, vault, asset: token, distributorId: code, startBlock: 1 })
})
afterAll(() => test?.close())

beforeEach(async () => {
  await db`truncate chain_cursors, chain_reorgs, projections, sources, rebuilds, blocks, logs, transactions, interactions, interaction_counts,
    transaction_attributions,
    retractions, price_choices, price_observations, vault_snapshots, balances, balance_changes, lots, lot_changes,
    attributed_steps, lp_edges, lp_steps, flows, share_mints`
  await createCursor(db, chainId, 1, new Date('2026-11-20T12:00:00Z'))
})

/** Follows blocks as a watcher does; each by itself. */
async function follow(...blocks: RawBlock[]): Promise<void> {
  const pipeline = createPipeline(context(), { chainId })
  for (const block of blocks) await pipeline.append(await pipeline.refresh(block), [block], block)
}

/** The chain leaves our blocks above a number. */
async function reorganise(above: number): Promise<void> {
  const pipeline = createPipeline(context(), { chainId })
  const tip = await findCursor(db, chainId)
  const head = { ...toBlock(tip?.blockNumber ?? 0), logs: [], transactions: [] }
  await pipeline.rewind(await pipeline.refresh(head), { number: above, hash: hashOf(above, 1) })
}

/** A price of the token, as of the time of a block. */
const observe = (priceUsd: string, block: number) =>
  recordObservation(db, {
    chainId,
    address: token,
    priceUsd,
    source: 'test',
    observedAt: new Date((start + block * 100) * 1_000),
  })

const rebuild = () => rebuildChain(context(), { chainId })
const amounts = async () => {
  const rows = await db<{ amount: string | null }[]>`
    select trim_scale(amount_usd)::text as amount from interactions order by block_number`
  return rows.map(({ amount }) => amount)
}
/** The ledger's digits as they are, and that a rebuild has the same. */
const both = async () => {
  const observations = () => db`
    select block_number, price_observation_id from interactions order by block_number`
  const [live, chosen] = [await amounts(), await observations()]
  await rebuild()
  expect([await amounts(), await observations()]).toEqual([live, chosen])
  return live
}

describe('amountInUsd', () => {
  it('is of the last observation at or before the block, and of none that is newer', async () => {
    await observe('2', 2)
    await observe('5', 3)
    await follow(toBlock(1), toBlock(2), toBlock(3), toBlock(4))
    expect(await both()).toEqual([null, '6', '15', '15'])
  })

  it('stays when an observation of an earlier time comes late, live and rebuilt alike', async () => {
    await observe('2', 1)
    await follow(toBlock(1), toBlock(2), toBlock(3))
    await observe('5', 2)
    expect(await both()).toEqual(['6', '6', '6'])
    expect(await fillLatePrices(db, chainId)).toBe(0)
    expect(await both()).toEqual(['6', '6', '6'])
    await follow(toBlock(4))
    expect(await both()).toEqual(['6', '6', '6', '15'])
  })

  it('is filled once where there was none, by what has been observed by then, live and rebuilt alike', async () => {
    await follow(toBlock(1), toBlock(2), toBlock(3))
    await observe('2', 2)
    expect(await both()).toEqual([null, null, null])
    expect(await fillLatePrices(db, chainId)).toBe(2)
    expect(await both()).toEqual([null, '6', '6'])
    await observe('5', 3)
    expect(await fillLatePrices(db, chainId)).toBe(0)
    expect(await both()).toEqual([null, '6', '6'])
  })

  it('is for each entry that of its own block where several have been observed by then', async () => {
    await follow(toBlock(1), toBlock(2), toBlock(3))
    await observe('2', 1)
    await observe('5', 3)
    expect(await fillLatePrices(db, chainId)).toBe(3)
    expect(await both()).toEqual(['6', '6', '15'])
  })

  it('is filled only once nobody else changes the chain', async () => {
    await follow(toBlock(1))
    await observe('2', 1)
    let filled: Promise<number> | undefined
    await inTransaction(db, async (tx) => {
      await lockCursor(tx, chainId)
      filled = fillLatePrices(db, chainId)
      const waits = until('a statement that waits for the chain', async () => {
        const waiting = await test.db`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return waiting.length > 0 && 'waits'
      })
      expect(await Promise.race([waits, filled.then(() => 'filled')])).toBe('waits')
      expect(await amounts()).toEqual([null])
    })
    expect([await filled, await amounts()]).toEqual([1, ['6']])
  })

  it('goes with a block that is orphaned, and is chosen anew for the block in its place', async () => {
    await observe('2', 1)
    await follow(toBlock(1), toBlock(2), toBlock(3))
    await observe('5', 2)
    await reorganise(1)
    expect(await db`select block_number::int as number from price_choices order by 1`).toEqual([{ number: 1 }])
    await follow({ ...toBlock(2, 2), parentHash: hashOf(1, 1) })
    expect(await both()).toEqual(['6', '15'])
  })

  it('is the same after an operator takes the chain back and its blocks are read again', async () => {
    await observe('2', 1)
    await follow(toBlock(1), toBlock(2), toBlock(3))
    await observe('5', 2)
    await rewindChain(context(), { chainId, to: 1 })
    expect(await amounts()).toEqual(['6'])
    await follow(toBlock(2), toBlock(3))
    expect(await both()).toEqual(['6', '6', '6'])
  })
})
