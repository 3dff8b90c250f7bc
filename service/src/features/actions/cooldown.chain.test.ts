import { cooldownVaultAbi, cooldownVaultBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { refused } from '../../../test/refused.js'
import { probeVault } from '../../probing/index.js'

const user = account(1)
const friend = account(2)
const week = 604_800
const deposited = 123_456_789n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  await world.join(friend.address)
})
afterAll(() => world.close())

async function open(duration = week): Promise<WorldVault> {
  const args = [token, 'Staked', 'sTUSD', 12, duration]
  const address = await world.anvil.deploy({ abi: cooldownVaultAbi, bytecode: cooldownVaultBytecode, args })
  return world.list({ address, asset: token, decimals: 6, kind: 'cooldown' })
}

type Plan = Awaited<ReturnType<typeof story.deposit>>
const called = (plan: Plan) =>
  decodeFunctionData({ abi: cooldownVaultAbi, data: plan.body.transactions.at(-1).transaction.data })
const shares = (vault: WorldVault, of = user) => world.balance(vault.address, of.address)
const assets = (of = user) => world.balance(token, of.address)
const requestsOf = async (vault: WorldVault) => {
  await world.sync()
  const { body } = await world.earn.call('GetWalletRequests', { params: { address: user.address } })
  return body.requests
    .filter(({ opportunityId }: { opportunityId: string }) => opportunityId === vault.opportunityId)
    .map(({ kind, state, shares, claimable }: Record<string, string>) => [kind, state, shares, claimable])
}

describe('a staked token with a cooldown', () => {
  it('is probed, entered, left in part and by a transferee, each after its wait, and the ledger has it to the unit', async () => {
    const vault = await open()
    const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)
    expect(probed).toMatchObject({ kind: 'cooldown', notes: [expect.stringContaining('604800 seconds after')] })
    const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
    expect(body.meta).toMatchObject({ asyncDeposit: false, asyncWithdraw: true })
    await world.send(await story.deposit(vault, deposited), user)
    await world.mint(token, vault.address, 7_777_777n)
    const had = await shares(vault)

    const part = had / 3n
    const start = await story.withdraw(vault, part)
    expect(called(start)).toEqual({ functionName: 'cooldownShares', args: [part] })
    expect(start.body.transactions[0].description).toContain(' enters a cooldown')
    await world.send(start, user)
    expect(await shares(vault)).toBe(had - part)
    expect(await requestsOf(vault)).toEqual([['redeem', 'pending', String(part), '0']])
    const early = refused(await story.withdraw(vault, had), 'NOT_CLAIMABLE', true)
    expect(early.error).toContain('InvalidCooldown(): the cooldown is not over')

    await world.anvil.pass(week)
    expect(await requestsOf(vault)).toEqual([['redeem', 'claimable', String(part), String(part)]])
    const before = await assets()
    const take = await story.withdraw(vault, part)
    expect(called(take)).toEqual({ functionName: 'unstake', args: [user.address] })
    await world.send(take, user)
    const paid = (await assets()) - before
    expect(await requestsOf(vault)).toEqual([['redeem', 'claimed', String(part), '0']])

    const moved = (had - part) / 2n
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, moved], user)
    const tell = tellStories(world, friend)
    await world.send(await tell.withdraw(vault, moved), friend)
    await world.anvil.pass(week)
    const friendBefore = await assets(friend)
    await world.send(await tell.withdraw(vault, moved), friend)
    const friendPaid = (await assets(friend)) - friendBefore
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(paid), attribution: 'signed', walletAddress: user.address },
      { interaction: 'withdraw', amountRaw: String(friendPaid), walletAddress: friend.address },
    ])
  })

  it('pays out what has cooled down before it starts another cooldown, which would make it wait anew', async () => {
    const vault = await open()
    await world.send(await story.deposit(vault, deposited), user)
    const part = (await shares(vault)) / 4n
    await world.send(await story.withdraw(vault, part), user)
    await world.anvil.pass(100)
    const second = await story.withdraw(vault, part)
    expect(called(second)).toEqual({ functionName: 'cooldownShares', args: [part] })
    expect(second.body.transactions[0].description).toContain('Amounts already in cooldown start again from zero')
    await world.send(second, user)
    await world.anvil.pass(week)
    expect((await requestsOf(vault)).map(([, state]: string[]) => state)).toEqual(['claimable', 'claimable'])
    expect(called(await story.withdraw(vault, part)).functionName).toBe('unstake')
  })

  it('redeems at once while there is no cooldown, and says by name whom it serves no more', async () => {
    const vault = await open(0)
    await world.send(await story.deposit(vault, deposited), user)
    const plan = await story.withdraw(vault, await shares(vault))
    expect(called(plan).functionName).toBe('redeem')
    const before = await assets()
    await world.send(plan, user)
    expect((await assets()) - before).toBe(deposited)
    expect(await requestsOf(vault)).toEqual([])
    await world.write(vault.address, cooldownVaultAbi, 'setRestricted', [user.address, true])
    const closed = refused(await story.deposit(vault, deposited), 'DEPOSIT_DISABLED')
    expect(closed.error).toContain('OperationNotAllowed(): the vault serves this wallet no more')
  })
})
