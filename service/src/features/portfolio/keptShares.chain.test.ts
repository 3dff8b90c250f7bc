import { yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, erc20Abi, erc4626Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { listToken, openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import {
  type HolderCall,
  holderAddress,
  placeHolder,
  silent,
  staked,
  tellHolder,
  withdrawn,
} from '../../../test/chain/scriptedHolder.js'
import { recordPeg } from '../../prices/index.js'

const unit = 10n ** 6n
/** Shares of a unit of the asset: the vault's price stays one. */
const perAsset = 10n ** 12n
const [alice, bob, carol] = [account(1), account(2), account(3)]
let world: World
let dollar: Address
let vault: WorldVault
let gauge: Address
const stake = holderAddress

type Wallet = ReturnType<typeof account>
const tell = (as: Wallet, told: Omit<HolderCall, 'target'>) =>
  tellHolder(world.anvil, as, { ...told, target: vault.address })
const shares = (assets: bigint) => assets * perAsset
const pull = (from: Wallet, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from.address, stake, amount] })
const push = (to: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })
const said = new Map<Address, bigint>()

async function stakeFor(as: Wallet, assets: bigint, of: Address = as.address): Promise<void> {
  const says = (said.get(of) ?? 0n) + shares(assets)
  said.set(of, says)
  await tell(as, { call: pull(as, shares(assets)), topic: staked, of, amount: shares(assets), says })
}

async function unstake(as: Wallet, assets: bigint): Promise<void> {
  const says = (said.get(as.address) ?? 0n) - shares(assets)
  said.set(as.address, says)
  const call = push(as.address, shares(assets))
  await tell(as, { call, topic: withdrawn, of: as.address, amount: shares(assets), says })
}

beforeAll(async () => {
  world = await openWorld()
  dollar = await world.token({ pegUsd: '1' })
  vault = await world.vault(dollar, { old: true })
  const args = [vault.address, 'Gauge', 'gTUSD', 0, 0n, false]
  gauge = await world.anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  await placeHolder(world.anvil)
  // A listed receipt with a price of its own: it must not count again.
  await listToken(world.earn, { address: gauge, decimals: 18, symbol: 'gTUSD' })
  await recordPeg(world.earn.ctx, { chainId: world.chainId, address: gauge.toLowerCase() }, '1')
  const holders = [
    { address: stake.toLowerCase(), kind: 'staking', activeFrom: '1970-01-01T00:00:00Z' },
    { address: gauge.toLowerCase(), kind: 'gauge', activeFrom: '1970-01-01T00:00:00Z' },
  ]
  await world.earn.db`
    update vaults set holders = ${JSON.stringify(holders)}::text::jsonb where address = ${vault.address.toLowerCase()}`
  await world.refresh()
  for (const who of [alice, bob, carol]) {
    await world.mint(dollar, who.address, 100n * unit)
    await world.write(dollar, erc20Abi, 'approve', [vault.address, 2n ** 255n], who)
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [100n * unit, who.address], who)
    for (const holder of [stake, gauge])
      await world.write(vault.address, erc20Abi, 'approve', [holder, 2n ** 255n], who)
  }
  await stakeFor(bob, 10n * unit)
  await enterGauge(bob, 10n * unit)
  await world.sync()
}, 120_000)
afterAll(() => world?.close())

const enterGauge = (as: Wallet, assets: bigint) =>
  world.write(gauge, erc4626Abi as Abi, 'deposit', [shares(assets), as.address], as)

type Row = { type: string; detail: { description: string; supply_token_list: { amount_raw: string }[] } }
type Told = { own: bigint; stake: bigint; gauge: bigint; total: string; errors: { source: string; error: string }[] }

/** What the portfolio has of the vault at the head, in assets: where each part is, with all that counts. */
async function read(address: Address): Promise<Told> {
  world.earn.clock.advance(5_000)
  world.earn.ctx.catalogue.answers.forget()
  const { body } = await world.earn.call('GetWalletPortfolio', { params: { address } })
  const { totalUsd, wallets } = body.portfolio.holdings
  const rows: Row[] = wallets[0].protocols.flatMap((each: { portfolio_item_list: Row[] }) => each.portfolio_item_list)
  const of = (description: string) =>
    rows
      .filter(({ detail }) => detail.description === description)
      .reduce((sum, { detail }) => sum + BigInt(detail.supply_token_list[0]?.amount_raw ?? 0), 0n) / unit
  const told = { own: of(''), stake: of(`Kept by ${stake}`), gauge: of(`Kept by ${gauge}`) }
  // The receipt, the shares and the asset are the only tokens with a price.
  expect(Number(totalUsd)).toBe(Number(told.own + told.stake + told.gauge))
  const errors = wallets[0].errors.filter(({ source }: { source: string }) => source === 'adapter:vaults')
  return { ...told, total: totalUsd, errors }
}

const whole = async () => {
  const all = []
  for (const address of [alice.address, bob.address, carol.address, stake, gauge]) all.push(await read(address))
  return all.reduce((sum, { own, stake, gauge }) => sum + own + stake + gauge, 0n)
}

describe('shares that declared holders keep for a wallet', () => {
  it('are told where they are at the head, before they are derived and after, and count once', async () => {
    expect(await read(bob.address)).toMatchObject({ own: 80n, stake: 10n, gauge: 10n, errors: [] })
    await stakeFor(alice, 40n * unit)
    await enterGauge(alice, 30n * unit)
    const told = { own: 30n, stake: 40n, gauge: 30n, total: '100', errors: [] }
    expect(await read(alice.address)).toEqual(told)
    expect(await whole()).toBe(300n)
    await world.sync()
    expect(await read(alice.address)).toEqual(told)
    await unstake(alice, 15n * unit)
    const after = { ...told, own: 45n, stake: 25n }
    expect(await read(alice.address)).toEqual(after)
    expect(await whole()).toBe(300n)
    await world.sync()
    expect(await read(alice.address)).toEqual(after)
  })

  it('follow a receipt that is sent on, and are never told of both', async () => {
    await world.write(gauge, erc20Abi, 'transfer', [bob.address, shares(20n * unit)], alice)
    expect(await read(alice.address)).toMatchObject({ gauge: 10n })
    expect((await read(bob.address)).gauge).toBeLessThanOrEqual(30n)
    expect(await whole()).toBeLessThanOrEqual(300n)
    await world.sync()
    expect(await read(alice.address)).toMatchObject({ gauge: 10n, total: '80' })
    expect(await read(bob.address)).toMatchObject({ gauge: 30n, total: '120' })
    expect(await whole()).toBe(300n)
  })

  it('are not what a holder makes up in its events and its view, and nobody else’s get less by it', async () => {
    await tell(carol, { topic: staked, of: carol.address, amount: shares(50n * unit), says: shares(50n * unit) })
    await tell(carol, { topic: silent, of: alice.address, amount: 0n, says: shares(10n ** 12n) })
    for (const derive of [async () => undefined, world.sync]) {
      await derive()
      expect(await read(carol.address)).toMatchObject({ own: 100n, stake: 0n, total: '100', errors: [] })
      expect(await read(alice.address)).toMatchObject({ stake: 25n, total: '80' })
      expect(await whole()).toBe(300n)
    }
  })

  it('do not belong to another declared holder: what is staked for it is the holder’s own', async () => {
    await stakeFor(carol, 20n * unit, gauge)
    await world.sync()
    expect(await read(gauge)).toMatchObject({ own: 0n, stake: 0n, total: '0' })
    expect(await read(stake)).toMatchObject({ own: 20n, stake: 0n, total: '20' })
    expect(await whole()).toBe(300n)
  })

  it('are told as they are derived where the holder does not answer, which is named', async () => {
    await world.anvil.client.setCode({ address: stake, bytecode: '0x5f5ffd' })
    const { errors, ...told } = await read(alice.address)
    expect(told).toMatchObject({ stake: 25n, total: '80' })
    expect(errors).toMatchObject([{ error: expect.stringContaining(stake.toLowerCase()) }])
    expect(await read(carol.address)).toMatchObject({ stake: 0n, errors: [] })
    await placeHolder(world.anvil)
  })

  it('are nobody’s once the holder is broken, and then all it has is its own', async () => {
    const call = push(carol.address, shares(25n * unit))
    await tell(carol, { call, topic: silent, of: carol.address, amount: 0n, says: 0n })
    await world.sync()
    expect(await read(alice.address)).toMatchObject({ own: 45n, stake: 0n, gauge: 10n, total: '55' })
    expect(await read(bob.address)).toMatchObject({ own: 80n, stake: 0n, gauge: 30n, total: '110' })
    expect(await read(carol.address)).toMatchObject({ own: 105n, stake: 0n, total: '105' })
    expect(await read(stake)).toMatchObject({ own: 30n, total: '30' })
    expect(await whole()).toBe(300n)
  })
})
