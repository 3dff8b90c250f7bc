import { lagoonVaultAbi } from '@openearn/contracts'
import { type Address, decodeFunctionData, encodeFunctionData, erc20Abi, erc4626Abi, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { openLagoonVaults } from '../../../test/lagoonVaults.js'
import { refused } from '../../../test/refused.js'
import { probeVault } from '../../probing/index.js'
import { runCapabilityAndTvl } from '../catalogue/jobs.js'
import { listLots } from '../positions/index.js'

const user = account(1)
const friend = account(2)
const usd = 1_000_000n
const deposited = 123_456_789n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>
let friendStory: ReturnType<typeof tellStories>
let lagoon: ReturnType<typeof openLagoonVaults>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  await world.join(friend.address)
  friendStory = tellStories(world, friend)
  lagoon = openLagoonVaults(world, token)
})
afterAll(() => world.close())

const shares = (vault: WorldVault, of = user) => world.balance(vault.address, of.address)
const assets = (of = user) => world.balance(token, of.address)
const last = (plan: Awaited<ReturnType<typeof story.deposit>>) => plan.body.transactions.at(-1).transaction
const called = (plan: Awaited<ReturnType<typeof story.deposit>>) =>
  decodeFunctionData({ abi: lagoonVaultAbi, data: last(plan).data })
const requestsOf = async (vault: WorldVault, of = user) => {
  await world.sync()
  const { body } = await world.earn.call('GetWalletRequests', { params: { address: of.address } })
  return body.requests
    .filter(({ opportunityId }: { opportunityId: string }) => opportunityId === vault.opportunityId)
    .map(({ kind, state, claimable }: Record<string, string>) => [kind, state, claimable])
}
const lotsOf = async (vault: WorldVault) =>
  (await listLots(world.earn.db, [user.address.toLowerCase()]))
    .filter(({ vaultAddress }) => vaultAddress === vault.address.toLowerCase())
    .map((lot) => [lot.distributorId, lot.shares])

/** A deposit that was requested, settled and claimed; answers its shares. */
async function comeIn(vault: WorldVault): Promise<bigint> {
  await world.send(await story.deposit(vault, deposited), user)
  await lagoon.value(vault, 0n, 'settleDeposit')
  await world.send(await story.claim(vault), user)
  return shares(vault)
}

describe.each(['0.5', '0.6'] as const)('a Lagoon vault of %s', (version) => {
  it('is shown to wait, or not to, as it answers now', async () => {
    const vault = await lagoon.open(version)
    const shown = async () => {
      await runCapabilityAndTvl(world.earn.ctx)
      await world.earn.ctx.catalogue.refresh()
      const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
      return [body.meta.asyncDeposit, body.meta.asyncWithdraw]
    }
    expect(await shown()).toEqual([true, true])
    await lagoon.openSync(vault)
    expect(await shown()).toEqual([false, version === '0.5'])
    await lagoon.write(vault, 'expireTotalAssets')
    expect(await shown()).toEqual([true, true])
  })

  it('is probed with its silo, entered and left by requests, in part, by a transferee and whole, to the unit', async () => {
    const vault = await lagoon.open(version)
    const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)
    expect(probed.kind).toBe('lagoon')
    expect(await world.balance(token, probed.escrow!)).toBe(0n)
    const request = await story.deposit(vault, deposited)
    await world.send(request, user)
    expect(await world.balance(token, probed.escrow!)).toBe(deposited)
    await world.sync()
    refused(await story.claim(vault), 'NOT_CLAIMABLE', true)
    await lagoon.value(vault, 0n, 'settleDeposit')
    await world.send(await story.claim(vault), user)
    const had = await shares(vault)

    await world.send(await story.withdraw(vault, had / 3n), user)
    await world.sync()
    refused(await story.withdraw(vault, had), 'INSUFFICIENT_BALANCE')
    await lagoon.value(vault, 7_777_777n, 'settleRedeem')
    const before = await assets()
    await world.send(await story.withdraw(vault, had / 3n), user)
    const part = (await assets()) - before
    expect(await requestsOf(vault)).toEqual([
      ['deposit', 'claimed', '0'],
      ['redeem', 'claimed', '0'],
    ])

    const moved = (had - had / 3n) / 2n
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, moved], user)
    for (const [who, tell] of [
      [friend, friendStory],
      [user, story],
    ] as const) {
      const rest = await shares(vault, who)
      await world.send(await tell.withdraw(vault, rest), who)
      await lagoon.value(vault, 0n, 'settleRedeem')
      const held = await assets(who)
      await world.send(await tell.withdraw(vault, rest), who)
      expect(await assets(who)).toBeGreaterThan(held)
      expect(await shares(vault, who)).toBe(0n)
    }
    const entries = await story.entries(vault)
    expect(entries).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited) },
      { interaction: 'withdraw', amountRaw: String(part) },
      { interaction: 'withdraw', walletAddress: friend.address },
      { interaction: 'withdraw', walletAddress: user.address },
    ])
    expect(await lotsOf(vault)).toEqual([])
  })

  it('takes deposits at once while its valuation is valid, and requests again once it has run out', async () => {
    const vault = await lagoon.open(version)
    await comeIn(vault)
    await lagoon.openSync(vault)
    const had = await shares(vault)
    const plan = await story.deposit(vault, deposited)
    expect(called(plan)).toEqual({ functionName: 'syncDeposit', args: [deposited, user.address, zeroAddress] })
    await world.send(plan, user)
    const gained = (await shares(vault)) - had
    expect(gained).toBeGreaterThan(0n)
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited) },
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed' },
    ])
    expect(await lotsOf(vault)).toEqual([[world.distributorId, String(had + gained)]])
    await lagoon.write(vault, 'expireTotalAssets')
    expect(called(await story.deposit(vault, deposited)).functionName).toBe('requestDeposit')
  })

  it('says by name why it takes nothing: a stranger, a full vault, a closing one, a pause', async () => {
    const vault = await lagoon.open(version)
    await lagoon.write(vault, 'setListed', [true, [friend.address]])
    expect(refused(await story.deposit(vault, usd), 'DEPOSIT_DISABLED').error).toContain(
      'takes no requests of this wallet',
    )
    await lagoon.write(vault, 'setListed', [false, []])
    await lagoon.write(vault, 'setTerms', [0, 0, 0, 5n * usd])
    expect(refused(await story.deposit(vault, 6n * usd), 'CAP_EXCEEDED').error).toContain(
      'MaxCapReached(): the vault has no',
    )
    await lagoon.write(vault, 'setPaused', [true])
    expect(refused(await story.deposit(vault, usd), 'DEPOSIT_DISABLED').error).toContain(
      'EnforcedPause(): the contract is',
    )
    await lagoon.write(vault, 'setPaused', [false])
    await lagoon.openSync(vault)
    await lagoon.write(vault, 'initiateClosing')
    expect(refused(await story.deposit(vault, usd), 'DEPOSIT_DISABLED').error).toContain(
      'NotOpen(1): the vault is closing',
    )
  })

  it('once closed is left at once, and the ledger has what was paid', async () => {
    const vault = await lagoon.open(version)
    const had = await comeIn(vault)
    await lagoon.close(vault)
    const before = await assets()
    const plan = await story.withdraw(vault, had)
    expect(plan.body.transactions.at(-1).description).toMatch(/^Redeem /)
    expect(decodeFunctionData({ abi: erc4626Abi, data: last(plan).data }).functionName).toBe('redeem')
    await world.send(plan, user)
    expect(await shares(vault)).toBe(0n)
    expect(await lotsOf(vault)).toEqual([])
    const paid = (await assets()) - before
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited) },
      { interaction: 'withdraw', amountRaw: String(paid), attribution: 'signed' },
    ])
  })

  it('cancels a pending deposit in one step, not once it is being settled, and is claimed by a third party', async () => {
    const vault = await lagoon.open(version)
    await world.send(await story.deposit(vault, deposited), user)
    const before = await assets()
    await world.send(await story.cancel(vault), user)
    expect((await assets()) - before).toBe(deposited)
    await world.send(await story.deposit(vault, deposited), user)
    await lagoon.write(vault, 'updateNewTotalAssets', [0n])
    expect(refused(await story.cancel(vault), 'NOT_CLAIMABLE', true).error).toContain('RequestNotCancelable(')
    await lagoon.write(vault, 'settleDeposit', [0n])
    await lagoon.write(vault, 'claimSharesOnBehalf', [[user.address]])
    expect(await requestsOf(vault)).toEqual([
      ['deposit', 'cancelled', '0'],
      ['deposit', 'claimed', '0'],
    ])
    expect(await lotsOf(vault)).toEqual([[world.distributorId, String(await shares(vault))]])
    refused(await story.claim(vault), 'NOTHING_PENDING')
  })
})

describe('a Lagoon vault of 0.6 alone', () => {
  it('redeems at once while its valuation is valid, for a least amount, and takes a request where it cannot pay', async () => {
    const vault = await lagoon.open('0.6')
    const had = await comeIn(vault)
    await lagoon.write(vault, 'setTerms', [30, 50, 20, 10n ** 30n])
    await lagoon.openSync(vault)
    const plan = await story.withdraw(vault, had / 2n, { slippageBps: 100 })
    const paid = BigInt(plan.body.simulation.assetChanges[1].amount)
    expect(called(plan)).toEqual({
      functionName: 'syncRedeem',
      args: [had / 2n, user.address, (paid * 9_900n) / 10_000n],
    })
    expect(plan.body.transactions[0].description).toContain(' for at least ')
    const before = await assets()
    await world.send(plan, user)
    expect((await assets()) - before).toBe(paid)
    await world.send(await story.deposit(vault, deposited), user)
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited) },
      { interaction: 'withdraw', amountRaw: String(paid), attribution: 'signed' },
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed' },
    ])
    await lagoon.write(vault, 'setSyncRedeems', [false])
    const request = await story.withdraw(vault, had / 4n)
    expect(called(request).functionName).toBe('requestRedeem')
    expect(request.body.transactions).toHaveLength(1)
  })

  it('shows a cancelled redemption as cancelled, with the shares back in the lot they came from', async () => {
    const vault = await lagoon.open('0.6')
    const had = await comeIn(vault)
    await world.send(await story.withdraw(vault, had), user)
    expect(await requestsOf(vault)).toEqual([
      ['deposit', 'claimed', '0'],
      ['redeem', 'pending', '0'],
    ])
    const data = encodeFunctionData({ abi: lagoonVaultAbi, functionName: 'cancelRequestRedeem', args: [user.address] })
    await world.anvil.done(world.anvil.client.sendTransaction({ account: user, to: vault.address, data }))
    expect(await shares(vault)).toBe(had)
    expect(await requestsOf(vault)).toEqual([
      ['deposit', 'claimed', '0'],
      ['redeem', 'cancelled', '0'],
    ])
  })
})
