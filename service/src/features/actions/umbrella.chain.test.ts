import { umbrellaStakeAbi, umbrellaStakeBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi, formatUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { refused } from '../../../test/refused.js'
import { openWay } from '../../../test/wayThrough.js'
import { systemClock } from '../../kernel/clock.js'
import { probeVault } from '../../probing/index.js'

const user = account(1)
const friend = account(2)
const wait = 604_800
const window = 172_800
const deposited = 123_456_789n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>
let way: ReturnType<typeof openWay>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  way = openWay(world, story, user)
  await world.join(friend.address)
})
afterAll(() => world.close())

async function open(): Promise<WorldVault> {
  const args = [token, 'Umbrella Stake', 'stkTUSD', wait, window]
  const address = await world.anvil.deploy({ abi: umbrellaStakeAbi, bytecode: umbrellaStakeBytecode, args })
  const vault = await world.list({ address, asset: token, decimals: 6, kind: 'umbrella' })
  // Its shares have the decimals of its asset.
  await world.earn.db`update vaults set receipt_decimals = 6 where address = ${address.toLowerCase()}`
  await world.refresh()
  return vault
}

type Plan = Awaited<ReturnType<typeof story.deposit>>
const called = (plan: Plan) =>
  decodeFunctionData({ abi: umbrellaStakeAbi, data: plan.body.transactions.at(-1).transaction.data })
const shares = (vault: WorldVault, of = user) => world.balance(vault.address, of.address)
const assets = (of = user) => world.balance(token, of.address)
const write = (vault: WorldVault, name: string, args: readonly unknown[] = [], as?: typeof user) =>
  world.write(vault.address, umbrellaStakeAbi, name, args, as)
const lotsOf = (vault: WorldVault) => way.lotsOf(vault)
const sendTwice = (vault: WorldVault, plan: Plan, as = user) => way.sendTwice(vault, plan, as)
const figuresOf = (vault: WorldVault) => way.figuresOf(vault)

describe('a stake of Umbrella', () => {
  it('is probed, entered, left in part and by a transferee, with a reorganisation at each step, to the unit', async () => {
    const vault = await open()
    const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)
    expect(probed).toMatchObject({ kind: 'umbrella', canLeave: false, asset: { address: token } })
    expect(probed.notes.join()).toContain('redeemed from 604800 to 777600 seconds after a cooldown was started')
    const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
    expect(body.meta).toMatchObject({ asyncDeposit: false, asyncWithdraw: true })
    const deposit = await story.deposit(vault, deposited)
    expect(called(deposit)).toEqual({ functionName: 'deposit', args: [deposited, user.address] })
    await sendTwice(vault, deposit)
    const had = await shares(vault)
    expect(await lotsOf(vault)).toEqual([{ distributorId: world.distributorId, shares: String(had) }])
    // What is sent to the stake is nobody's: it counts its assets itself.
    await world.mint(token, vault.address, 7_777_777n)
    const figures = await figuresOf(vault)
    expect(figures.snapshot).toEqual({ assets: String(deposited), supply: String(had) })
    expect(figures.tvl).toBe(formatUnits(deposited, 6))
    expect(figures.earnings).toMatchObject({ earned: { native: '0' } })

    const part = had / 3n
    const start = await story.withdraw(vault, part)
    expect(called(start)).toEqual({ functionName: 'cooldown', args: undefined })
    expect(start.body.transactions[0].description).toContain('Start the cooldown of all your shares')
    await sendTwice(vault, start)
    expect(await shares(vault)).toBe(had)
    refused(await story.withdraw(vault, part), 'NOT_CLAIMABLE', true)

    await world.anvil.pass(wait)
    const before = await assets()
    const redeem = await story.withdraw(vault, part)
    expect(called(redeem)).toEqual({ functionName: 'redeem', args: [part, user.address, user.address] })
    await sendTwice(vault, redeem)
    const paid = (await assets()) - before
    expect(await shares(vault)).toBe(had - part)

    const moved = (had - part) / 2n
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, moved], user)
    const tell = tellStories(world, friend)
    await world.send(await tell.withdraw(vault, moved), friend)
    await world.anvil.pass(wait)
    const friendBefore = await assets(friend)
    await sendTwice(vault, await tell.withdraw(vault, moved), friend)
    const friendPaid = (await assets(friend)) - friendBefore

    const left = had - part - moved
    await world.send(await story.withdraw(vault, left), user)
    await world.anvil.pass(wait)
    const lastBefore = await assets()
    await world.send(await story.withdraw(vault, left), user)
    const lastPaid = (await assets()) - lastBefore
    expect(await shares(vault)).toBe(0n)
    expect(paid + friendPaid + lastPaid).toBe(deposited)
    const entries = await story.entries(vault)
    expect(entries).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(paid), attribution: 'signed', walletAddress: user.address },
      { interaction: 'withdraw', amountRaw: String(friendPaid), walletAddress: friend.address },
      { interaction: 'withdraw', amountRaw: String(lastPaid), attribution: 'signed', walletAddress: user.address },
    ])
    expect(await lotsOf(vault)).toEqual([])
    await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
    expect(await story.entries(vault)).toEqual(entries)
  })

  it('starts a cooldown anew once the window has closed, or for more than it was started for, and keeps the wait of the start', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    const had = await shares(vault)
    await world.send(await story.withdraw(vault, had), user)
    await write(vault, 'setCooldown', [10 * wait])
    await world.send(await story.deposit(vault, deposited), user)
    expect(called(await story.withdraw(vault, had + 1n)).functionName).toBe('cooldown')
    await world.anvil.pass(wait)
    expect(called(await story.withdraw(vault, had)).functionName).toBe('redeem')
    await world.anvil.pass(window + 1)
    expect(called(await story.withdraw(vault, had)).functionName).toBe('cooldown')
    refused(await story.withdraw(vault, 2n * had + 1n), 'INSUFFICIENT_BALANCE')
  })

  it('redeems no more than a transfer has left of a cooldown, and then starts another', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    const had = await shares(vault)
    await world.send(await story.withdraw(vault, had), user)
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, had / 2n], user)
    await world.write(vault.address, erc20Abi, 'transfer', [user.address, had / 2n], friend)
    await world.anvil.pass(wait)
    expect(called(await story.withdraw(vault, had)).functionName).toBe('cooldown')
    const plan = await story.withdraw(vault, had - had / 2n)
    expect(called(plan).functionName).toBe('redeem')
    await world.send(plan, user)
    expect(await shares(vault)).toBe(had / 2n)
  })

  it('takes deposits and pays what is left once it was slashed, and nothing while it is paused', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    await write(vault, 'slash', [account(5).address, deposited / 2n])
    const had = await shares(vault)
    expect((await figuresOf(vault)).snapshot).toEqual({
      assets: String(deposited - deposited / 2n),
      supply: String(had),
    })
    await world.send(await story.deposit(vault, deposited), user)
    expect(await shares(vault)).toBeGreaterThan(2n * had)
    await world.send(await story.withdraw(vault, had), user)
    await world.anvil.pass(wait)
    await write(vault, 'pause')
    expect(refused(await story.deposit(vault, deposited), 'DEPOSIT_DISABLED').error).toContain('EnforcedPause()')
    expect(refused(await story.withdraw(vault, had), 'WITHDRAW_DISABLED').error).toContain('EnforcedPause()')
    await write(vault, 'unpause')
    const before = await assets()
    await world.send(await story.withdraw(vault, had), user)
    const paid = (await assets()) - before
    expect(paid).toBeLessThanOrEqual(deposited - deposited / 2n)
    expect(paid).toBeGreaterThan(deposited / 2n - 3n)
    const entries = await story.entries(vault)
    expect(entries.at(-1)).toMatchObject({ interaction: 'withdraw', amountRaw: String(paid), attribution: 'signed' })
  })
})
