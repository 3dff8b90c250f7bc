import { zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { insertOneVault } from '../../../test/oneVault.js'
import { createPipeline, rebuildChain } from '../../../test/pipeline.js'
import { topics } from '../../../test/topics.js'
import { ownerTopic } from '../../derive/subAccounts.js'
import { systemClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import { silentLog } from '../../kernel/log.js'
import type { RawBlock } from '../../rpc/raw.js'
import { createCursor } from '../../sync/storeCursors.js'

const chainId = 31_337
const vault = `0x${'cc'.repeat(20)}`
const [holder, taker] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`]
const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const hashOf = (number: number, fork: number) => `0x${pad(BigInt(fork * 1_000 + number))}`

/** A block in which shares move. */
function toBlock(number: number, [from, to, amount]: [string, string, bigint], fork = 1): RawBlock {
  const transactionHash = `0x${pad(BigInt(fork * 1_000_000 + number))}`
  const place = { blockNumber: number, logIndex: 0, transactionIndex: 0, transactionHash, address: vault }
  const told = { topics: [topics.transfer, `0x${pad(from)}`, `0x${pad(to)}`], data: `0x${pad(amount)}` }
  return {
    ...{
      number,
      hash: hashOf(number, fork),
      parentHash: hashOf(number - 1, number === 4 ? 2 : 1),
      timestamp: 1_700_000_000 + number,
    },
    logs: [{ ...place, ...told }],
    transactions: [],
  }
}

const connector = `0x${'ec'.repeat(20)}`
/** A block in which the connector says that an account owns those that share its first 19 bytes. */
function toRegistration(number: number, owner: string): RawBlock {
  const block = toBlock(number, [holder, taker, 0n])
  const told = { topics: [ownerTopic, `${owner.slice(0, 40)}${'0'.repeat(26)}`, `0x${pad(owner)}`], data: '0x' }
  return { ...block, logs: block.logs.map((log) => ({ ...log, address: connector, ...told })) }
}

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

it('moves beyond a balance are kept per wallet, go with their block in a reorganisation, and a rebuild gives the same', async () => {
  const { db } = test
  await insertOneVault(db, { chainId, vault, asset: zeroAddress, distributorId: 'Y2Zi7KWy', startBlock: 1 })
  await createCursor(db, chainId, 1, new Date('2026-11-20T12:00:00Z'))
  const context = { db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') }
  const pipeline = createPipeline(context, { chainId })
  const follow = async (block: RawBlock) => pipeline.append(await pipeline.refresh(block), [block], block)
  const cut = () => db<object[]>`
    select block_number as block, hex_text(wallet) as wallet, amount from cut_moves order by block_number`
  await follow(toBlock(1, [zeroAddress, holder, 100n]))
  await follow(toBlock(2, [holder, taker, 130n]))
  await follow(toBlock(3, [taker, holder, 131n]))
  expect(await cut()).toEqual([
    { block: 2, wallet: holder, amount: '30' },
    { block: 3, wallet: taker, amount: '1' },
  ])
  const tip = { ...toBlock(3, [taker, holder, 131n]), logs: [] }
  await pipeline.rewind(await pipeline.refresh(tip), { number: 2, hash: hashOf(2, 1) })
  await follow(toBlock(3, [taker, holder, 135n], 2))
  const live = [
    { block: 2, wallet: holder, amount: '30' },
    { block: 3, wallet: taker, amount: '5' },
  ]
  expect(await cut()).toEqual(live)
  await rebuildChain({ db, clock: systemClock }, { chainId })
  expect(await cut()).toEqual(live)
  await db`update cut_moves set amount = 7 where block_number = 2`
  await db`delete from cut_moves where block_number = 3`
  await rebuildChain({ db, clock: systemClock }, { chainId })
  expect(await cut()).toEqual(live)
})

it('owners of sub-accounts are kept as a declared connector tells, the first for good, and a rebuild gives the same', async () => {
  const { db } = test
  const context = { db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') }
  const forwarders = [{ address: connector, activeFrom: '2020-01-01T00:00:00Z', startBlock: 4 }]
  await db`update chains set forwarders = ${JSON.stringify(forwarders)}::text::jsonb where chain_id = ${chainId}`
  const cousin = `${holder.slice(0, -2)}09`
  const owners = () => db<object[]>`
    select block_number as block, hex_text(prefix) as prefix, hex_text(owner) as owner from sub_account_owners`
  const follow = async (block: RawBlock) => {
    const pipeline = createPipeline(context, { chainId })
    await pipeline.append(await pipeline.refresh(block), [block], block)
  }
  await follow(toRegistration(4, holder))
  await follow(toRegistration(5, cousin))
  const live = [{ block: 4, prefix: holder.slice(0, 40), owner: holder }]
  expect(await owners()).toEqual(live)
  await db`update sub_account_owners set owner = hex_bytes(${taker})`
  await rebuildChain({ db, clock: systemClock }, { chainId })
  expect(await owners()).toEqual(live)
  const pipeline = createPipeline(context, { chainId })
  const tip = { ...toRegistration(5, cousin), logs: [] }
  await pipeline.rewind(await pipeline.refresh(tip), { number: 3, hash: hashOf(3, 2) })
  expect(await owners()).toEqual([])
})
