import { signDigest } from '@openearn/attribution'
import { yieldVaultAbi } from '@openearn/contracts'
import { type Abi, type Address, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { keyOf } from '../../../test/actionWorld.js'
import { createPipeline } from '../../../test/pipeline.js'
import { openStreamChain, type StreamChain } from '../../../test/streamChain.js'
import { systemClock } from '../../kernel/clock.js'
import { silentLog } from '../../kernel/log.js'
import { createNode } from '../../rpc/node.js'
import { cancelOutgoing, createSender, type Sender } from '../../rpc/sender/index.js'
import { createKeySigner, type Signer } from '../../rpc/signer.js'
import { createWatcher } from '../../sync/follow.js'
import { retakeSnapshot, runStreamCommits, runStreamSnapshots, runStreamTrees } from './index.js'
import { listTaken } from './storeSnapshots.js'

const halfDay = 43_200
const week = 604_800
const holders = [6, 7, 8].map((index) => account(index).address)

let chain: StreamChain
let signer: Signer
let sender: Sender
let now: number

beforeAll(async () => {
  chain = await openStreamChain()
  const { earn, world, vault, chainId } = chain
  signer = createKeySigner((await keyOf(2)).key, signDigest)
  const node = earn.ctx.chains.get(chainId)
  if (!node) throw new Error('the world has a chain')
  const caps = { gasPrice: parseGwei('500'), spending: parseEther('10') }
  sender = createSender(earn.ctx, { chain: node, signer, caps })
  now = Math.floor(earn.clock.now().getTime() / 1_000)
  await world.mint(vault.asset, world.owner.address, 1_000_000_000n)
  await world.write(vault.asset, yieldVaultAbi as Abi, 'approve', [vault.address, 1_000_000_000n])
  for (const holder of holders) await world.write(vault.address, yieldVaultAbi as Abi, 'deposit', [1_000_000n, holder])
  const block = await chain.anvil.client.getBlock()
  await earn.db`
    insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
      price_numerator, price_usd, block_hash)
    select ${Number(block.number)}, to_timestamp(${Number(block.timestamp)}), id, 18, 1, 1000000000, 1000000, 1,
      hex_bytes(${block.hash})
    from vaults where address = ${vault.address.toLowerCase()}`
})
afterAll(() => chain?.close())

/** So long passes, and what was before it is final. */
async function pass(seconds: number): Promise<void> {
  now += seconds
  const { client } = chain.anvil
  await client.setNextBlockTimestamp({ timestamp: BigInt(now) })
  await client.mine({ blocks: 70, interval: 1 })
  now += 70
  chain.earn.clock.set(new Date(now * 1_000))
}

const take = () => runStreamSnapshots(chain.earn.ctx, { everySeconds: halfDay, usedUpSeconds: week })
const queueCommits = async () => {
  await runStreamTrees(chain.earn.ctx)
  await runStreamCommits(chain.earn.ctx, { vetoSeconds: 0, committerOf: () => signer.address, costMax: 10n ** 18n })
}
const send = async () => {
  await sender.step()
  await chain.anvil.client.mine({ blocks: 1 })
  await sender.step()
  await chain.world.sync()
}
const work = async () => {
  await take()
  await queueCommits()
  await send()
}
const rootsOf = (id: string) => chain.earn.db<{ root: string; at: Date; total: string }[]>`
  select hex_text(root) as root, root_at as at, total from stream_events
  where stream_id = ${id} and kind = 'root' order by block_number`
const snapshotsOf = (id: string) => chain.earn.db<{ at: Date; root: string; last: boolean }[]>`
  select snapshot_at as at, hex_text(root) as root, is_last as last from stream_snapshots
  where stream_id = ${id} and vetoed_at is null order by snapshot_at`
const withdraw = (id: string) =>
  chain.earn.call('CreateStreamWithdrawal', { params: { id }, body: {}, key: chain.secret })

it('a stream that is used up is committed once, ends a week later, and its admin gets what is left', async () => {
  const { id, contract } = await chain.stream({
    ...{ endTimestamp: null, totalAmount: '1000' },
    customArgs: { targetTokenId: chain.idOf(chain.vault.address), tokensPerUSD: '90000000000' },
  })
  await pass(halfDay)
  await chain.world.sync()
  for (let round = 0; round < 5; round++) {
    await work()
    await pass(halfDay)
    await chain.world.sync()
  }
  expect((await snapshotsOf(id)).length).toBeGreaterThan(3)
  expect(await rootsOf(id)).toMatchObject([{ total: '999' }])
  expect((await withdraw(id)).body.reason).toBe('NOTHING_WITHDRAWABLE')
  for (let round = 0; round < 13; round++) {
    await pass(halfDay)
    await chain.world.sync()
    await work()
  }
  expect((await snapshotsOf(id)).at(-1)).toMatchObject({ last: true })
  expect(await rootsOf(id)).toHaveLength(1)
  const { status, body } = await withdraw(id)
  expect([status, body.amount]).toEqual([200, '1'])
  expect(
    (await chain.earn.call('IncreaseStreamBudget', { params: { id }, body: { amount: '5' }, key: chain.secret })).body
      .reason,
  ).toBe('STREAM_ENDED')
  expect(await chain.read(contract, 'getTotalAllocated')).toBe(999n)
}, 120_000)

it('the commit of the last root that an operator cancels is a veto: it is retaken, committed, and what is left withdrawn', async () => {
  const { earn, anvil } = chain
  const { id, contract } = await chain.stream({
    ...{ type: 3, totalAmount: null, startTimestamp: new Date(now * 1_000).toISOString() },
    endTimestamp: new Date((now + halfDay) * 1_000).toISOString(),
    customArgs: { targetTokenId: chain.idOf(chain.vault.address), tokensPerDay: '1000001' },
  })
  await pass(2 * halfDay)
  await chain.world.sync()
  await take()
  await queueCommits()
  const commit = (await listTaken(earn.db, [id])).get(id)?.counted
  expect(commit).toMatchObject({ isLast: true, commitId: expect.any(String) })
  expect(await cancelOutgoing(earn.db, commit?.commitId ?? '')).toBe('cancelled')
  await send()
  expect([await rootsOf(id), (await snapshotsOf(id)).filter(({ last }) => last)]).toMatchObject([[], [{ last: true }]])
  await queueCommits()
  expect(await snapshotsOf(id)).toEqual([])
  // Whoever asks at once need not wait for the job.
  expect(await retakeSnapshot(earn.ctx, id)).toBe('taken')
  await queueCommits()
  await send()
  await anvil.client.mine({ blocks: 3 })
  await chain.world.sync()
  const [root] = await rootsOf(id)
  expect([root?.root, root?.total]).toEqual([commit?.root, String(commit?.amountDistributed)])
  const { body } = await withdraw(id)
  const funded = BigInt(await chain.read(contract, 'getTotalFunded'))
  const allocated = BigInt(await chain.read(contract, 'getTotalAllocated'))
  expect(BigInt(body.amount)).toBe(funded - allocated)
}, 120_000)

it('a stream whose target is still being read holds up no other stream', async () => {
  const { earn, chainId, world } = chain
  const point = await earn.call('CreateStreamPoint', { body: { symbol: 'FREE', name: 'Free' }, key: chain.secret })
  const paid = await chain.stream({
    ...{ type: 3, totalAmount: null, startTimestamp: new Date(now * 1_000).toISOString() },
    endTimestamp: new Date((now + halfDay) * 1_000).toISOString(),
    customArgs: { targetTokenId: chain.idOf(chain.vault.address), tokensPerDay: '1000001' },
  })
  await world.mint(chain.asset, holders[0] as Address, 7n)
  const free = await earn.call('CreateStream', {
    key: chain.secret,
    body: chain.terms({
      ...{ rewardTokenId: undefined, pointId: point.body.point.id, walletAddress: undefined, totalAmount: undefined },
      startTimestamp: new Date(now * 1_000).toISOString(),
      endTimestamp: new Date((now + halfDay) * 1_000).toISOString(),
      customArgs: { targetTokenId: chain.idOf(chain.asset), tokensPerUSD: '1000' },
    }),
  })
  expect(free.status).toBe(200)
  await pass(2 * halfDay)
  // The watcher follows the head, and reads the past of the token block by block beside it.
  const node = earn.ctx.chains.get(chainId)
  if (!node) throw new Error('the world has a chain')
  const own = { clock: systemClock, log: silentLog }
  const sink = createPipeline({ ...own, db: earn.db }, { chainId, backfillWindow: 1 })
  const watcher = createWatcher({ ...own, chain: node, node: createNode(node.rpc), sink })
  const states = async () => {
    const [row] = await earn.db<{ state: string; behind: number }[]>`
      select state, head_number - block_number as behind from chain_cursors where chain_id = ${chainId}`
    return row
  }
  for (let turn = 0; turn < 40 && (await states())?.behind !== 0; turn++) await watcher.step()
  for (let turn = 0; turn < 5; turn++) await watcher.step()
  expect(await states()).toMatchObject({ state: 'backfilling' })
  await take()
  expect(await snapshotsOf(free.body.stream.id)).toEqual([])
  expect(await snapshotsOf(paid.id)).toMatchObject([{ last: true }])
  await queueCommits()
  await world.sync()
  await take()
  expect(await snapshotsOf(free.body.stream.id)).toMatchObject([{ last: true }])
}, 120_000)
