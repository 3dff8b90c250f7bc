import { type Abi, type Address, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  mapleManagerAbi,
  maplePoolAbi,
  maplePoolBytecode,
  mapleQueueAbi,
  syrupRouterAbi,
  syrupRouterBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '../abi/index.js'
import { type Anvil, account, startAnvil } from './anvil.js'

const [delegate, first, second, stranger] = [account(0), account(1), account(2), account(3)]
let anvil: Anvil
let token: Address
let pool: Address
let manager: Address
let queue: Address

beforeAll(async () => {
  anvil = await startAnvil({ timestamp: 1_700_000_000 })
  token = await anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Test Dollar', 'TUSD', 6] })
  pool = await anvil.deploy({ abi: maplePoolAbi, bytecode: maplePoolBytecode, args: [token, 'Syrup', 'syrupTUSD'] })
  manager = await read(pool, maplePoolAbi, 'manager')
  queue = await read(manager, mapleManagerAbi, 'withdrawalManager')
  for (const each of [first, second]) {
    await write(delegate, manager, mapleManagerAbi, 'setLender', [each.address, true])
    await write(delegate, token, testTokenAbi, 'mint', [each.address, 1_000n])
    await write(each, token, testTokenAbi, 'approve', [pool, 1_000n])
    await write(each, pool, maplePoolAbi, 'deposit', [1_000n, each.address])
  }
})
afterAll(() => anvil.stop())

type Account = typeof delegate

function read<T>(address: Address, abi: Abi, functionName: string, args: readonly unknown[] = []): Promise<T> {
  return anvil.client.readContract({ address, abi, functionName, args }) as Promise<T>
}

/** Sends a call and returns what pool and queue told of it, Transfers apart: each as its name and arguments. */
async function write(as: Account, address: Address, abi: Abi, functionName: string, args: readonly unknown[]) {
  const { logs } = await anvil.done(
    anvil.client.writeContract({ account: as, address, abi, functionName, args, chain: undefined }),
  )
  return parseEventLogs({ abi: [...maplePoolAbi, ...mapleQueueAbi], logs })
    .filter(({ eventName }) => eventName !== 'Transfer' && eventName !== 'Approval')
    .map(({ eventName, args: told }) => [eventName as string, ...Object.values(told as object)])
}

const request = (of: Account, shares: bigint) => write(of, pool, maplePoolAbi, 'requestRedeem', [shares, of.address])
const remove = (of: Account, shares: bigint) => write(of, pool, maplePoolAbi, 'removeShares', [shares, of.address])
const process = (shares: bigint) => write(delegate, queue, mapleQueueAbi, 'processRedemptions', [shares])
const assets = (of: Account) => read<bigint>(token, testTokenAbi, 'balanceOf', [of.address])
const shares = (of: Account) => read<bigint>(pool, maplePoolAbi, 'balanceOf', [of.address])

describe('the pool of Maple for tests', () => {
  it('lets in who has the permission, by itself and by the router', async () => {
    const router = await anvil.deploy({ abi: syrupRouterAbi, bytecode: syrupRouterBytecode, args: [pool] })
    await write(delegate, manager, mapleManagerAbi, 'setLender', [router, true])
    await write(delegate, token, testTokenAbi, 'mint', [stranger.address, 100n])
    for (const spender of [pool, router]) await write(stranger, token, testTokenAbi, 'approve', [spender, 100n])
    const directly = write(stranger, pool, maplePoolAbi, 'deposit', [100n, stranger.address])
    await expect(directly).rejects.toThrow('PM:CC:NOT_ALLOWED')
    const data = `0x${'00'.repeat(32)}`
    const routed = () => write(stranger, router, syrupRouterAbi, 'deposit', [100n, data])
    await expect(routed()).rejects.toThrow('SR:D:NOT_AUTHORIZED')
    expect(await read(pool, maplePoolAbi, 'maxDeposit', [stranger.address])).toBe(0n)
    await write(delegate, manager, mapleManagerAbi, 'setLender', [stranger.address, true])
    expect(await routed()).toEqual([['Deposit', router, router, 100n, 100n]])
    expect(await shares(stranger)).toBe(100n)
  })

  it('pays the queue first come, first served, in parts, to the owners', async () => {
    expect(await request(first, 600n)).toEqual([
      ['RequestCreated', 1n, first.address, 600n],
      ['RedemptionRequested', first.address, 600n, 600n],
    ])
    await expect(request(first, 1n)).rejects.toThrow('WM:AS:IN_QUEUE')
    await request(second, 500n)
    expect(await process(250n)).toEqual([
      ['RequestProcessed', 1n, first.address, 250n, 250n],
      ['RequestDecreased', 1n, 250n],
      ['Withdraw', queue, first.address, queue, 250n, 250n],
    ])
    expect(await process(450n)).toEqual([
      ['RequestProcessed', 1n, first.address, 350n, 350n],
      ['RequestRemoved', 1n],
      ['Withdraw', queue, first.address, queue, 350n, 350n],
      ['RequestProcessed', 2n, second.address, 100n, 100n],
      ['RequestDecreased', 2n, 100n],
      ['Withdraw', queue, second.address, queue, 100n, 100n],
    ])
    expect([await assets(first), await assets(second)]).toEqual([600n, 100n])
  })

  it('gives back what its owner or the delegate takes out, by logs that name no owner', async () => {
    expect(await remove(second, 150n)).toEqual([
      ['RequestDecreased', 2n, 150n],
      ['SharesRemoved', second.address, 150n],
    ])
    expect(await write(delegate, queue, mapleQueueAbi, 'removeRequest', [second.address])).toEqual([
      ['RequestRemoved', 2n],
    ])
    expect(await shares(second)).toBe(900n)
    await expect(remove(second, 1n)).rejects.toThrow('WM:RS:NOT_IN_QUEUE')
  })

  it('keeps for who redeems by hand what it processed, and pays nothing it has lent', async () => {
    await write(delegate, queue, mapleQueueAbi, 'setManualWithdrawal', [second.address, true])
    await request(second, 400n)
    expect(await process(400n)).toEqual([
      ['RequestProcessed', 3n, second.address, 400n, 400n],
      ['RequestRemoved', 3n],
      ['ManualSharesIncreased', second.address, 400n],
    ])
    const redeem = (amount: bigint) =>
      write(second, pool, maplePoolAbi, 'redeem', [amount, second.address, second.address])
    await expect(redeem(401n)).rejects.toThrow('WM:PE:TOO_MANY_SHARES')
    const free = await read<bigint>(token, testTokenAbi, 'balanceOf', [pool])
    await write(delegate, manager, mapleManagerAbi, 'fund', [free - 100n])
    await expect(redeem(400n)).rejects.toThrow('WM:PE:NOT_ENOUGH_LIQUIDITY')
    await request(first, 300n)
    await expect(process(300n)).rejects.toThrow('WM:PR:LOW_LIQUIDITY')
    expect(await redeem(100n)).toEqual([
      ['ManualSharesDecreased', second.address, 100n],
      ['Withdraw', second.address, second.address, second.address, 100n, 100n],
    ])
    expect(await read(pool, maplePoolAbi, 'maxRedeem', [second.address])).toBe(300n)
  })
})
