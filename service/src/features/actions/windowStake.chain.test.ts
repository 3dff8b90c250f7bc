import { windowStakeAbi, windowStakeBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { refused } from '../../../test/refused.js'
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

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  await world.join(friend.address)
})
afterAll(() => world.close())

async function open(): Promise<WorldVault> {
  const args = [token, 'Staked', 'stkTUSD', wait, window]
  const address = await world.anvil.deploy({ abi: windowStakeAbi, bytecode: windowStakeBytecode, args })
  return world.list({ address, asset: token, decimals: 6, kind: 'window-stake' })
}

type Plan = Awaited<ReturnType<typeof story.deposit>>
const called = (plan: Plan) =>
  decodeFunctionData({ abi: windowStakeAbi, data: plan.body.transactions.at(-1).transaction.data })
const shares = (vault: WorldVault, of = user) => world.balance(vault.address, of.address)
const assets = (of = user) => world.balance(token, of.address)
const lotsOf = async (vault: WorldVault) => {
  await world.sync()
  return world.earn.db`
    select distributor_id as "distributorId", sum(shares)::text as shares from lots
    join vaults on vaults.id = lots.vault_id
    where vaults.address = ${vault.address.toLowerCase()} group by 1 having sum(shares) > 0 order by 1`
}

describe('a stake whose cooldown opens a window', () => {
  it('is probed, entered, left in part and by a transferee, each in its window, and the ledger has it to the unit', async () => {
    const vault = await open()
    const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)
    expect(probed).toMatchObject({ kind: 'window-stake', canLeave: false, asset: { address: token } })
    expect(probed.notes.join()).toContain('redeemed from 604800 to 777600 seconds after a cooldown was started')
    const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
    expect(body.meta).toMatchObject({ asyncDeposit: false, asyncWithdraw: true })
    const stake = await story.deposit(vault, deposited)
    expect(called(stake)).toEqual({ functionName: 'stake', args: [user.address, deposited] })
    await world.send(stake, user)
    await world.mint(token, account(0).address, 7_777_777n)
    await world.write(token, erc20Abi, 'approve', [vault.address, 7_777_777n])
    await world.write(vault.address, windowStakeAbi, 'returnFunds', [7_777_777n])
    const had = await shares(vault)

    const part = had / 3n
    const start = await story.withdraw(vault, part)
    expect(called(start)).toEqual({ functionName: 'cooldown', args: undefined })
    expect(start.body.transactions[0].description).toContain('Start the cooldown of all your shares')
    await world.send(start, user)
    expect(await shares(vault)).toBe(had)
    refused(await story.withdraw(vault, part), 'NOT_CLAIMABLE', true)

    await world.anvil.pass(wait)
    const before = await assets()
    const redeem = await story.withdraw(vault, part)
    expect(called(redeem)).toEqual({ functionName: 'redeem', args: [user.address, part] })
    await world.send(redeem, user)
    const paid = (await assets()) - before
    expect(await shares(vault)).toBe(had - part)

    const moved = (had - part) / 2n
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, moved], user)
    const tell = tellStories(world, friend)
    await world.send(await tell.withdraw(vault, moved), friend)
    await world.anvil.pass(wait)
    const friendBefore = await assets(friend)
    await world.send(await tell.withdraw(vault, moved), friend)
    const friendPaid = (await assets(friend)) - friendBefore

    const left = had - part - moved
    await world.send(await story.withdraw(vault, left), user)
    await world.anvil.pass(wait)
    const lastBefore = await assets()
    await world.send(await story.withdraw(vault, left), user)
    const lastPaid = (await assets()) - lastBefore
    expect(await shares(vault)).toBe(0n)
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

  it('starts a cooldown anew once the window has closed, and where more is asked for than it was started for', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    const had = await shares(vault)
    await world.send(await story.withdraw(vault, had), user)
    await world.send(await story.deposit(vault, deposited), user)
    expect(called(await story.withdraw(vault, had + 1n)).functionName).toBe('cooldown')
    await world.anvil.pass(wait + window + 1)
    expect(called(await story.withdraw(vault, had)).functionName).toBe('cooldown')
    refused(await story.withdraw(vault, 2n * had + 1n), 'INSUFFICIENT_BALANCE')
  })

  it('is closed and redeems at once while it is slashed, for what is left', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    await world.write(vault.address, windowStakeAbi, 'slash', [account(5).address, deposited / 2n])
    refused(await story.deposit(vault, deposited), 'DEPOSIT_DISABLED')
    const had = await shares(vault)
    const plan = await story.withdraw(vault, had)
    expect(called(plan)).toEqual({ functionName: 'redeem', args: [user.address, had] })
    const before = await assets()
    await world.send(plan, user)
    const paid = (await assets()) - before
    expect(await story.entries(vault)).toMatchObject([{}, { interaction: 'withdraw', amountRaw: String(paid) }])
    expect(paid).toBeLessThanOrEqual(deposited - deposited / 2n)
  })
})
