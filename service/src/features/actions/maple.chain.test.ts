import {
  mapleManagerAbi,
  maplePoolAbi,
  maplePoolBytecode,
  mapleQueueAbi,
  syrupRouterAbi,
  syrupRouterBytecode,
} from '@openearn/contracts'
import {
  type Abi,
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  type Hex,
  keccak256,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { codes } from '../../../test/handChain.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { refused } from '../../../test/refused.js'
import { openWay } from '../../../test/wayThrough.js'
import { systemClock } from '../../kernel/clock.js'
import { probeVault } from '../../probing/index.js'

const [delegate, user, friend, stranger, admin] = [account(0), account(1), account(2), account(3), account(4)]
const deposited = 123_456_789n
const noData = `0x${'0'.repeat(64)}` as const
let world: World
let token: Address
let story: ReturnType<typeof tellStories>
let way: ReturnType<typeof openWay>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  way = openWay(world, story, user)
  for (const { address } of [friend, stranger]) {
    await world.join(address)
    await world.mint(token, address, 1_000_000_000n)
  }
})
afterAll(() => world.close())

type Pool = { address: Address; manager: Address; queue: Address; router: Address }
type Listed = WorldVault & Pool

async function deploy(): Promise<Pool> {
  const args = [token, 'Syrup', 'syrupTUSD']
  const address = await world.anvil.deploy({ abi: maplePoolAbi, bytecode: maplePoolBytecode, args })
  const manager = await read<Address>(address, maplePoolAbi, 'manager')
  const queue = await read<Address>(manager, mapleManagerAbi, 'withdrawalManager')
  const router = await world.anvil.deploy({ abi: syrupRouterAbi, bytecode: syrupRouterBytecode, args: [address] })
  const pool = { address, manager, queue, router }
  for (const lender of [router, user.address, friend.address]) await manage(pool, 'setLender', [lender, true])
  return pool
}

async function list(pool: Pool): Promise<Listed> {
  const contracts = { queue: pool.queue, manager: pool.manager, router: pool.router }
  const input = { address: pool.address, asset: token, decimals: 6, receiptDecimals: 6, kind: 'maple', contracts }
  return { ...pool, ...(await world.list(input)) }
}

const open = async () => list(await deploy())
const read = <T>(address: Address, abi: Abi, functionName: string, args: readonly unknown[] = []): Promise<T> =>
  world.anvil.client.readContract({ address, abi, functionName, args }) as Promise<T>
const manage = ({ manager }: Pool, name: string, args: readonly unknown[]) =>
  world.write(manager, mapleManagerAbi, name, args, delegate)
const inQueue = ({ queue }: Pool, name: string, args: readonly unknown[]) =>
  world.write(queue, mapleQueueAbi, name, args, delegate)
const process = (pool: Pool, amount: bigint) => inQueue(pool, 'processRedemptions', [amount])
const shares = (pool: Pool, of = user) => world.balance(pool.address, of.address)
const assets = (of = user) => world.balance(token, of.address)
const requestsOf = async (of = user) => {
  await world.sync()
  const { body } = await world.earn.call('GetWalletRequests', { params: { address: of.address } })
  return body.requests
}
type Plan = Awaited<ReturnType<typeof story.deposit>>
const called = (plan: Plan) =>
  decodeFunctionData({ abi: maplePoolAbi, data: plan.body.transactions.at(-1).transaction.data })

const own = (amount: bigint) => [{ distributorId: world.distributorId, shares: String(amount) }]
/** What an act pays a wallet. */
async function paidBy(act: () => Promise<unknown>, of = user): Promise<bigint> {
  const before = await assets(of)
  await act()
  return (await assets(of)) - before
}
const withdrawn = { interaction: 'withdraw', attribution: 'signed', walletAddress: user.address, isSwap: false }

describe('a pool of Maple', () => {
  it('is probed, entered and left in two payments of its queue, with a reorganisation at each step; metrics, history and portfolio follow', async () => {
    const vault = await open()
    const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)
    expect(probed).toMatchObject({
      ...{ kind: 'maple', canLeave: false, contracts: { queue: vault.queue, manager: vault.manager } },
      state: { depositOpen: true, withdrawOpen: true },
    })
    const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
    expect(body.meta).toMatchObject({ asyncDeposit: false, asyncWithdraw: true })
    const deposit = await story.deposit(vault, deposited)
    expect(called(deposit)).toEqual({ functionName: 'deposit', args: [deposited, user.address] })
    await way.sendTwice(vault, deposit)
    const had = await shares(vault)
    expect(await way.lotsOf(vault)).toEqual(own(had))
    await world.mint(token, vault.address, 7_777_777n)
    const figures = await way.figuresOf(vault)
    expect(figures.snapshot).toEqual({ assets: String(deposited + 7_777_777n), supply: String(had) })
    // By the share price, which is rounded down to its last digit.
    expect(Number(figures.tvl)).toBeCloseTo(131.234566, 12)

    const part = had / 3n
    const request = await story.withdraw(vault, part)
    expect(called(request)).toEqual({ functionName: 'requestRedeem', args: [part, user.address] })
    expect(request.body.transactions[0].description).toContain('once its queue has processed it')
    await way.sendTwice(vault, request)
    expect(await way.lotsOf(vault)).toEqual(own(had - part))
    expect(await story.entries(vault)).toHaveLength(1)
    expect(await requestsOf()).toMatchObject([
      { kind: 'redeem', requestId: '1', state: 'pending', shares: String(part) },
    ])
    expect(JSON.stringify((await way.figuresOf(vault)).portfolio)).toContain('"Not settled yet"')
    refused(await story.withdraw(vault, part), 'NOT_CLAIMABLE', true)

    const first = await paidBy(() => way.doTwice(vault, () => process(vault, part / 4n)))
    expect(await requestsOf()).toMatchObject([{ state: 'pending', shares: String(part), claimable: '0' }])
    const second = await paidBy(() => way.doTwice(vault, () => process(vault, part - part / 4n)))
    expect(await requestsOf()).toMatchObject([{ state: 'claimed', assets: String(first + second) }])
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed', walletAddress: user.address },
      { ...withdrawn, amountRaw: String(first) },
      { ...withdrawn, amountRaw: String(second) },
    ])
  })

  it('gives back what its owner or the delegate takes out, to the lots it was of, with a reorganisation at each step', async () => {
    const vault = await open()
    const before = (await requestsOf()).length
    await world.send(await story.deposit(vault, deposited), user)
    await world.send(await story.withdraw(vault, 500n), user)
    expect(refused(await story.cancel(vault), 'NOT_CLAIMABLE', true).error).toContain('was not seen here yet')
    await world.sync()
    const cancel = await story.cancel(vault)
    expect(called(cancel)).toEqual({ functionName: 'removeShares', args: [500n, user.address] })
    expect(cancel.body.transactions[0].description).toContain('that wait for their redemption')
    await way.sendTwice(vault, cancel)
    expect(await way.lotsOf(vault)).toEqual(own(deposited))
    refused(await story.cancel(vault), 'NOTHING_PENDING')

    await world.send(await story.withdraw(vault, 400n), user)
    await process(vault, 100n)
    await way.doTwice(vault, () => inQueue(vault, 'removeRequest', [user.address]))
    expect(await way.lotsOf(vault)).toEqual(own(deposited - 100n))
    expect((await requestsOf()).slice(before)).toMatchObject([
      { state: 'cancelled', requestId: '1', shares: '500' },
      { state: 'cancelled', requestId: '2', shares: '400' },
    ])
    expect(await story.entries(vault)).toHaveLength(2)
  })

  it('is left by hand and by a transferee in whole, to the unit, and the same when it is derived again', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    await world.mint(token, vault.address, 7_777_777n)
    const part = deposited / 3n
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, part], user)
    await world.send(await tellStories(world, friend).withdraw(vault, part), friend)
    const friendPaid = await paidBy(() => way.doTwice(vault, () => process(vault, part)), friend)
    const left = deposited - part
    await inQueue(vault, 'setManualWithdrawal', [user.address, true])
    await world.send(await story.withdraw(vault, left), user)
    expect(await paidBy(() => way.doTwice(vault, () => process(vault, left)))).toBe(0n)
    expect((await requestsOf()).at(-1)).toMatchObject({ state: 'claimable', claimable: String(left) })
    expect(JSON.stringify((await way.figuresOf(vault)).portfolio)).toContain('"Settled, can be claimed"')
    const claim = await story.withdraw(vault, left)
    expect(called(claim)).toEqual({ functionName: 'redeem', args: [left, user.address, user.address] })
    const paid = await paidBy(() => way.sendTwice(vault, claim))
    expect(await read(vault.address, maplePoolAbi, 'totalSupply')).toBe(0n)
    expect(friendPaid + paid).toBe(deposited + 7_777_777n)
    expect(await way.lotsOf(vault)).toEqual([])

    const entries = await story.entries(vault)
    expect(entries.slice(1)).toMatchObject([
      { ...withdrawn, amountRaw: String(friendPaid), walletAddress: friend.address },
      { ...withdrawn, amountRaw: String(paid) },
    ])
    await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
    expect(await story.entries(vault)).toEqual(entries)
    const query = { addresses: user.address, limit: 100 }
    const { body } = await world.earn.call('GetWalletActivity', { query })
    const isOwn = ({ opportunityId }: { opportunityId: string }) => opportunityId === vault.opportunityId
    expect(body.activity.filter(isOwn)).toMatchObject([{ amountRaw: String(paid) }, { amountRaw: String(deposited) }])
  })

  it('credits a deposit by the router, authorised before or in the same call, to the wallet that gets the shares', async () => {
    const vault = await open()
    await manage(vault, 'setPermissionAdmin', [admin.address, true])
    await manage(vault, 'setPermissionAdmin', [vault.router, true])
    await world.write(token, erc20Abi, 'approve', [vault.router, 10n ** 12n], stranger)
    const authorise = async (deadline: bigint) => {
      const hash = keccak256(
        encodePacked(
          ['bytes2', 'uint256', 'address', 'address', 'uint256', 'uint256', 'uint256'],
          ['0x1901', BigInt(world.chainId), vault.router, stranger.address, 0n, 1n, deadline],
        ),
      )
      const signature = await admin.sign({ hash })
      const [r, s] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`] as const
      return [1n, deadline, Number(`0x${signature.slice(130)}`), r, s]
    }
    const route = async (functionName: string, args: readonly unknown[]) => {
      const data = `${encodeFunctionData({ abi: syrupRouterAbi as Abi, functionName, args })}${codes(world.distributorId)}`
      return world.anvil.done(
        world.anvil.client.sendTransaction({ account: stranger, to: vault.router, data: data as Hex, gas: 1_000_000n }),
      )
    }
    refused(await tellStories(world, stranger).deposit(vault, 300n), 'WALLET_NOT_ALLOWED')
    const { timestamp } = await world.anvil.client.getBlock()
    await expect(route('authorizeAndDeposit', [...(await authorise(timestamp - 1n)), 300n, noData])).rejects.toThrow()
    await route('authorizeAndDeposit', [...(await authorise(timestamp + 600n)), 300n, noData])
    await route('deposit', [200n, noData])
    const entry = { interaction: 'deposit', walletAddress: stranger.address, attribution: 'unsigned', isSwap: false }
    expect(await story.entries(vault)).toMatchObject([
      { ...entry, amountRaw: '300' },
      { ...entry, amountRaw: '200' },
    ])
    expect(await way.lotsOf(vault)).toEqual([{ distributorId: world.distributorId, shares: '500' }])
    await world.send(await tellStories(world, stranger).deposit(vault, 100n), stranger)
    expect((await story.entries(vault)).at(-1)).toMatchObject({ ...entry, attribution: 'signed', amountRaw: '100' })
  })

  it('finds what was requested before the watch began, and pays it to the request’s distributor', async () => {
    const pool = await deploy()
    await world.write(token, erc20Abi, 'approve', [pool.address, 1_000n], user)
    await world.write(pool.address, maplePoolAbi, 'deposit', [1_000n, user.address], user)
    const request = encodeFunctionData({ abi: maplePoolAbi, functionName: 'requestRedeem', args: [400n, user.address] })
    const data = `${request}${codes(world.distributorId)}` as Hex
    await world.anvil.done(
      world.anvil.client.sendTransaction({ account: user, to: pool.address, data, gas: 1_000_000n }),
    )
    await world.sync()
    const vault = await list(pool)
    await process(vault, 150n)
    expect(await story.entries(vault)).toMatchObject([{ interaction: 'withdraw', amountRaw: '150' }])
    await inQueue(vault, 'removeRequest', [user.address])
    expect((await requestsOf()).at(-1)).toMatchObject({ state: 'cancelled', shares: '400' })
    await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
    expect(await story.entries(vault)).toMatchObject([{ interaction: 'withdraw', amountRaw: '150' }])
  })

  it('pays a request of its own after what was processed by hand is left, each to its own distributor', async () => {
    const vault = await open()
    const other = await world.earn.distributor('other')
    await world.refresh()
    await world.send(await story.deposit(vault, 1_000n), user)
    await inQueue(vault, 'setManualWithdrawal', [user.address, true])
    await world.send(await story.withdraw(vault, 300n), user)
    await process(vault, 300n)
    await inQueue(vault, 'setManualWithdrawal', [user.address, false])
    await world.send(await story.withdraw(vault, 500n, { distributorId: other }), user)
    await process(vault, 500n)
    await world.send(await story.withdraw(vault, 300n), user)
    const [, second, first] = await story.entries(vault)
    expect(second).toMatchObject({ distributorId: other, amountRaw: '500' })
    expect(first).toMatchObject({ distributorId: world.distributorId, amountRaw: '300' })
  })

  it('refuses in words what the pool or its queue would not do', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, 1_000n), user)
    await manage(vault, 'setLiquidityCap', [1_500n])
    refused(await story.deposit(vault, 600n), 'CAP_EXCEEDED')
    await manage(vault, 'setActive', [false])
    expect(refused(await story.deposit(vault, 100n), 'DEPOSIT_DISABLED').error).toContain(
      'takes no deposits at present',
    )
    await manage(vault, 'setLender', [user.address, false])
    expect(refused(await story.withdraw(vault, 10n), 'WALLET_NOT_ALLOWED').error).toContain('that Maple has authorised')
    await manage(vault, 'setLender', [user.address, true])
    refused(await story.withdraw(vault, 1_001n), 'INSUFFICIENT_BALANCE')
    await world.send(await story.withdraw(vault, 400n), user)
    await world.sync()
    expect(refused(await story.withdraw(vault, 500n), 'NOT_CLAIMABLE', true).error).toContain('one request of a wallet')
    await manage(vault, 'setPaused', [true])
    refused(await story.withdraw(vault, 100n), 'QUEUE_PAUSED')
    refused(await story.cancel(vault), 'QUEUE_PAUSED')
    await manage(vault, 'setPaused', [false])
    refused(await story.cancel(vault, { requestId: '7' }), 'NOTHING_PENDING')
    await world.send(await story.cancel(vault), user)
    await inQueue(vault, 'setManualWithdrawal', [user.address, true])
    await world.send(await story.withdraw(vault, 400n), user)
    await process(vault, 400n)
    await manage(vault, 'fund', [900n])
    expect(refused(await story.withdraw(vault, 400n), 'CAP_EXCEEDED').error).toContain('has lent what would be paid')
  })
})
