import { oddMaxVaultAbi } from '@openearn/contracts'
import { type Address, erc4626Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, type tellStories } from '../../../test/asyncStories.js'
import { openRealVaults, type RealVault } from '../../../test/realVaults.js'
import { refused } from '../../../test/refused.js'
import { probeVault } from '../../probing/index.js'
import { runCapabilityAndTvl } from '../catalogue/jobs.js'

const user = account(1)
const neighbour = account(2)
const usd = 1_000_000n
const deposited = 411_522_627n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>
let vaults: ReturnType<typeof openRealVaults>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  vaults = openRealVaults(world, token)
  await world.mint(token, neighbour.address, 1_000_000n * usd)
})
afterAll(() => world.close())

const read = (vault: WorldVault, functionName: 'maxRedeem' | 'maxDeposit' | 'balanceOf') =>
  world.anvil.client.readContract({ address: vault.address, abi: erc4626Abi, functionName, args: [user.address] })

const assets = () => world.balance(token, user.address)

/** A neighbour's shares, so that there is something to earn interest on. */
async function joinNeighbour(vault: RealVault): Promise<void> {
  const as = neighbour
  await world.write(token, erc4626Abi, 'approve', [vault.address, 1000n * usd], as)
  await world.write(vault.address, erc4626Abi, 'deposit', [1000n * usd, as.address], as)
}

type Plan = Awaited<ReturnType<typeof story.deposit>>

const delays: [string, number][] = [
  ['one block', 1],
  ['ten minutes', 600],
]

/** The plan is made in a block that booked all interest, sent `seconds` later, and interest was booked in between. */
async function play(vault: RealVault, seconds: number, build: () => Promise<Plan>): Promise<bigint> {
  await vault.accrue()
  const plan = await build()
  expect(plan.body.simulation, plan.text).toMatchObject({ status: 'ok' })
  await world.anvil.pass(seconds)
  await vault.accrue()
  await world.anvil.client.increaseTime({ seconds })
  const before = await assets()
  await world.send(plan, user)
  return (await assets()) - before
}

const makers: [string, () => Promise<RealVault>][] = [
  ['MetaMorpho (maxRedeem rounded down twice)', () => vaults.market()],
  ['Morpho Vault V2 (every max* is 0)', () => vaults.zeroMax()],
  ['Euler Earn (maxRedeem by its strategy)', () => vaults.strategy()],
  ['sUSDS (drips when time has passed)', () => vaults.drip(4n)],
  ['one that writes ten slots when time has passed', () => vaults.drip(10n)],
]

describe.each(makers)('a vault like %s', (_name, make) => {
  it.each(delays)('is probed, entered, left in part and left whole by plans sent %s later', async (_delay, seconds) => {
    const vault = await make()
    await joinNeighbour(vault)
    const chain = world.earn.ctx.chains.get(world.chainId)!
    const probed = await probeVault(chain, vault.address)
    expect(probed).toMatchObject({ kind: 'erc4626', notes: [], maxDeposit: undefined })
    await runCapabilityAndTvl(world.earn.ctx)
    await world.refresh()
    const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
    expect(body.meta).toMatchObject({ depositEnabled: true, withdrawEnabled: true })

    const paid = await play(vault, seconds, () => story.deposit(vault, deposited))
    const held = await read(vault, 'balanceOf')
    const part = await play(vault, seconds, () => story.withdraw(vault, held / 3n))
    const rest = await play(vault, seconds, async () => story.withdraw(vault, await read(vault, 'balanceOf')))
    expect(paid).toBe(-deposited)
    // Each redemption may lose a unit to rounding.
    expect(part + rest).toBeGreaterThanOrEqual(deposited - 2n)
    expect(await read(vault, 'balanceOf')).toBe(0n)
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(-paid), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(part), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(rest), attribution: 'signed' },
    ])
  })
})

it('says of a real vault with interest that less can be redeemed than there is, and redeems it all the same', async () => {
  for (const make of [vaults.market, vaults.strategy]) {
    const vault = await make()
    await joinNeighbour(vault)
    await world.send(await story.deposit(vault, deposited), user)
    await world.anvil.pass(12_345)
    const held = await read(vault, 'balanceOf')
    expect(await read(vault, 'maxRedeem')).toBeLessThan(held)
    await world.send(await story.withdraw(vault, held), user)
    expect(await read(vault, 'balanceOf')).toBe(0n)
  }
})

describe('the plan of an ERC-4626 deposit', () => {
  it('shows the shares that are expected and promises none: the call itself enforces no least number', async () => {
    const vault = await vaults.market()
    const plan = await story.deposit(vault, deposited)
    expect(plan.body.simulation.assetChanges).toMatchObject([
      { token: { address: token }, amount: String(-deposited) },
      { token: { address: vault.address }, amount: String(deposited * 10n ** 12n) },
    ])
    expect(plan.body.transactions.at(-1).description).not.toContain('at least')
  })
})

const odd: [string, Hex, boolean][] = [
  ['revert', '0x', true],
  ['revert with bytes that mean nothing', '0xdeadbeef01', true],
  ['answer nothing', '0x', false],
  ['answer three bytes', '0x0102ff', false],
  ['answer 0', `0x${'00'.repeat(32)}`, false],
  ['answer 1', `0x${'00'.repeat(31)}01`, false],
  ['answer 2^256 - 1', `0x${'ff'.repeat(32)}`, false],
  ['answer a kilobyte of garbage', `0x${'a5'.repeat(1000)}`, false],
]

describe('a vault whose max* tell nothing of use', () => {
  it.each(odd)('is entered and left whole where they %s', async (_name, answer, reverts) => {
    const vault = await vaults.zeroMax()
    await world.write(vault.address, oddMaxVaultAbi, 'setAnswer', [answer, reverts])
    await world.send(await story.deposit(vault, 100n * usd, { simulate: false }), user)
    await world.send(await story.deposit(vault, 100n * usd), user)
    const held = await read(vault, 'balanceOf').catch(() => 0n)
    await world.send(await story.withdraw(vault, held / 2n, { simulate: false }), user)
    await world.send(await story.withdraw(vault, held - held / 2n), user)
    expect(await read(vault, 'balanceOf')).toBe(0n)
  })

  it('is refused by what the simulation saw, with the maximum only where that explains it', async () => {
    const vault = await vaults.zeroMax()
    await world.send(await story.deposit(vault, 100n * usd), user)
    const shares = await read(vault, 'balanceOf')
    const answer = (hex: Hex, reverts = false) =>
      world.write(vault.address, oddMaxVaultAbi, 'setAnswer', [hex, reverts])
    await world.write(vault.address, oddMaxVaultAbi, 'setClosed', [true])

    const zero = refused(await story.deposit(vault, usd), 'DEPOSIT_DISABLED')
    expect(zero.error).toMatch(/^the vault allows nothing to this wallet at present: transaction 2 of 2 \(deposit\)/)
    refused(await story.withdraw(vault, shares), 'WITHDRAW_DISABLED')

    await answer(`0x${(1_500_000).toString(16).padStart(64, '0')}`)
    expect((await story.deposit(vault, usd)).body.reason).toBe('SIMULATION_REVERTED')
    const capped = refused(await story.deposit(vault, 2n * usd), 'CAP_EXCEEDED')
    expect(capped.error).toMatch(/^the vault allows at most 1\.5 at present: /)
    expect(capped.context).toMatchObject({ maximum: '1500000', transactionIndex: 1 })

    await answer('0x', true)
    refused(await story.deposit(vault, usd), 'SIMULATION_REVERTED')
    refused(await story.withdraw(vault, shares), 'SIMULATION_REVERTED')
  })

  it('that was seen closed is refused unsimulated, and served once a simulation sees it open', async () => {
    const vault = await vaults.zeroMax()
    await world.send(await story.deposit(vault, 100n * usd), user)
    const shares = await read(vault, 'balanceOf')
    await world.write(vault.address, oddMaxVaultAbi, 'setClosed', [true])
    await runCapabilityAndTvl(world.earn.ctx)
    await world.refresh()
    await world.write(vault.address, oddMaxVaultAbi, 'setClosed', [false])
    refused(await story.deposit(vault, usd, { simulate: false }), 'DEPOSIT_DISABLED')
    refused(await story.withdraw(vault, shares, { simulate: false }), 'WITHDRAW_DISABLED')
    expect((await story.deposit(vault, usd)).body.simulation).toMatchObject({ status: 'ok' })
    await world.send(await story.withdraw(vault, shares), user)
    expect(await read(vault, 'balanceOf')).toBe(0n)
  })
})
