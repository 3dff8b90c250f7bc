import { signDigest } from '@openearn/attribution'
import { streamAbi, yieldVaultAbi } from '@openearn/contracts'
import { type Abi, type Address, parseAbiItem, parseEther, parseGwei, zeroAddress } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keyOf } from '../../../test/actionWorld.js'
import { recountStream } from '../../../test/recount/naiveStream.js'
import { seededKey } from '../../../test/seed.js'
import { admin, collector, openStreamChain, type StreamChain } from '../../../test/streamChain.js'
import { createSender } from '../../rpc/sender/index.js'
import { createKeySigner } from '../../rpc/signer.js'
import type { PortfolioBody } from '../portfolio/index.js'
import { runStreamCommits, runStreamSnapshots, runStreamTrees } from './index.js'

const startsAt = Date.parse('2026-11-20T12:00:00Z') / 1_000
const days = 30
const endsAt = startsAt + days * 86_400
const tokensPerDay = 24_000_007n
const total = tokensPerDay * BigInt(days)
const unit = 10n ** 6n

let chain: StreamChain
beforeAll(async () => {
  chain = await openStreamChain()
})
afterAll(() => chain.close())

/** The chain comes to an instant, and what was before it is final. */
async function passTo(at: number): Promise<void> {
  const { client } = chain.anvil
  await client.setNextBlockTimestamp({ timestamp: BigInt(at) })
  await client.mine({ blocks: 70, interval: 1 })
  chain.earn.clock.set(new Date((at + 70) * 1_000))
  await chain.world.sync()
}

/** Who held how much since when, of the chain's own transfers. */
async function readBalances(vault: Address) {
  const event = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 amount)')
  const logs = await chain.anvil.client.getLogs({ address: vault, event, fromBlock: 0n, toBlock: 'latest' })
  const held = new Map<string, bigint>()
  const steps: { at: number; wallet: string; shares: bigint }[] = []
  for (const { blockNumber, args } of logs) {
    const { timestamp } = await chain.anvil.client.getBlock({ blockNumber })
    const moves = [[args.from, -(args.amount ?? 0n)] as const, [args.to, args.amount ?? 0n] as const]
    for (const [address, amount] of moves) {
      if (address === undefined || address === zeroAddress) continue
      const wallet = address.toLowerCase()
      const shares = (held.get(wallet) ?? 0n) + amount
      held.set(wallet, shares)
      steps.push({ at: Number(timestamp), wallet, shares })
    }
  }
  return steps
}

it('a stream is created, funded with its fee, earned in for a month, committed, claimed by 50 wallets and emptied', async () => {
  const { earn, anvil, world, vault, reward, secret } = chain
  const wallets: PrivateKeyAccount[] = Array.from({ length: 50 }, () => privateKeyToAccount(seededKey()))
  for (const { address } of wallets) await anvil.client.setBalance({ address, value: parseEther('1') })
  const write = (functionName: string, args: readonly unknown[], as?: PrivateKeyAccount) =>
    world.write(vault.address, yieldVaultAbi as Abi, functionName, args, as)
  await world.mint(vault.asset, world.owner.address, 1_000_000n * unit)
  await world.write(vault.asset, yieldVaultAbi as Abi, 'approve', [vault.address, 1_000_000n * unit])
  const { id, contract } = await chain.stream({
    ...{ type: 3, totalAmount: null, endTimestamp: new Date(endsAt * 1_000).toISOString() },
    customArgs: { targetTokenId: chain.idOf(vault.address), tokensPerDay: String(tokensPerDay) },
  })
  const fee = (total * 15n + 999n) / 1_000n
  expect(await world.balance(reward, collector.address)).toBe(fee)

  const signer = createKeySigner((await keyOf(2)).key, signDigest)
  const node = earn.ctx.chains.get(chain.chainId)!
  const caps = { gasPrice: parseGwei('500'), spending: parseEther('10') }
  const sender = createSender(earn.ctx, { chain: node, signer, caps })
  const work = async () => {
    await runStreamSnapshots(earn.ctx, { everySeconds: 43_200 })
    await runStreamTrees(earn.ctx)
    await runStreamCommits(earn.ctx, { vetoSeconds: 0, committerOf: () => signer.address, costMax: 10n ** 18n })
    await sender.step()
    await anvil.client.mine({ blocks: 1 })
    await sender.step()
    await world.sync()
  }
  for (let round = 0; round < 5; round++) {
    // Nobody holds anything on the first day.
    await passTo(startsAt + 86_400 + round * 5 * 86_400)
    const own = wallets.slice(round * 10, round * 10 + 10)
    for (const [at, { address }] of own.entries())
      await write('deposit', [BigInt(100 + 7 * at + round) * unit, address])
    const [first, second, third] = own as [PrivateKeyAccount, PrivateKeyAccount, PrivateKeyAccount]
    await write('transfer', [second.address, 10n ** 18n * 33n + 1n], first)
    const shares = await world.balance(vault.address, third.address)
    // Who leaves altogether has held long enough to earn a whole unit.
    await anvil.client.increaseTime({ seconds: 3_600 })
    if (round === 2) {
      // What is orphaned was never held.
      const before = await anvil.client.snapshot()
      await write('redeem', [shares, third.address, third.address], third)
      await write('deposit', [5_000n * unit, first.address])
      await world.sync()
      await anvil.client.revert({ id: before })
      await anvil.client.mine({ blocks: 3 })
      await world.sync()
    }
    await write('redeem', [round === 4 ? shares : shares / 3n, third.address, third.address], third)
    await world.sync()
    await work()
  }
  await passTo(endsAt + 1)
  await work()

  const balances = await readBalances(vault.address)
  const strategy = { type: 3, tokensPerDay } as const
  const terms = { streamId: id, strategy, adapters: [], startAt: startsAt, endAt: endsAt, budget: total, increases: [] }
  const facts = { balances, lots: [], sharePrices: [], rewardPrices: [] }
  const recounted = recountStream({ ...terms, rewardDecimals: 18 }, facts, endsAt)
  let claimed = 0n
  /** What a portfolio says a wallet has of the reward: idle, and to be claimed. */
  const readReward = async (address: Address) => {
    earn.clock.advance(1_000)
    const { body } = await earn.call('GetWalletPortfolio', { params: { address } })
    const [held] = body.portfolio.holdings.wallets as [PortfolioBody['portfolio']['holdings']['wallets'][number]]
    const idle = held.tokens.filter((token) => token.address === reward).map(({ amountRaw }) => amountRaw)
    const items = held.protocols.flatMap(({ portfolio_item_list }) => portfolio_item_list)
    const committed = items.filter(({ type, pool }) => type === 'reward' && pool.id === contract)
    return [idle, committed.flatMap(({ detail }) => detail.reward_token_list.map(({ amount_raw }) => amount_raw))]
  }
  for (const [at, wallet] of wallets.entries()) {
    const query = { wallet: wallet.address, streamIds: id }
    const [proof] = (await earn.call('GetMerkleProofs', { query })).body.proofs
    expect(proof.error).toBe('')
    const { n, d } = recounted.get(wallet.address.toLowerCase())!
    expect(BigInt(proof.amount)).toBe(n / d)
    const args = [BigInt(proof.amount), Date.parse(proof.timestamp) / 1_000, proof.proof]
    if (at === 0) expect(await readReward(wallet.address)).toEqual([[], [proof.amount]])
    await world.write(contract, streamAbi as Abi, 'claim', args, wallet)
    // What is claimed counts where it is now, and only there.
    if (at === 0) expect(await readReward(wallet.address)).toEqual([[proof.amount], []])
    expect(await world.balance(reward, wallet.address)).toBe(BigInt(proof.amount))
    claimed += BigInt(proof.amount)
  }
  expect(await chain.read(contract, 'getTotalClaimed')).toBe(claimed)
  const { body } = await earn.call('CreateStreamWithdrawal', { params: { id }, body: {}, key: secret })
  expect(body.amount).toBe(String(total - claimed))
  // The chain's time has come further than the clock's signature would last.
  const late = await chain.send(body.txParams)
  expect(late.status).toBe('success')
  expect(await world.balance(reward, contract)).toBe(0n)
  expect(await world.balance(reward, admin.address)).toBe(total - claimed)
}, 180_000)
