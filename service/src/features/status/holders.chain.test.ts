import { type Abi, encodeFunctionData, erc20Abi, erc4626Abi, type Hex, toEventSelector } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { holderAddress, placeHolder, silent, staked, tellHolder } from '../../../test/chain/scriptedHolder.js'
import { examine } from '../../cli/doctor.js'
import { describeHolders } from './index.js'
import { reconcileBalances } from './reconcile.js'

const unit = 10n ** 6n
const [alice, bob] = [account(1), account(2)]
const holder = holderAddress.toLowerCase()
const lower = ({ address }: { address: string }) => address.toLowerCase()
let world: World
let vault: WorldVault

beforeAll(async () => {
  world = await openWorld()
  const dollar = await world.token({ pegUsd: '1' })
  vault = await world.vault(dollar, { old: true })
  await placeHolder(world.anvil)
  const holders = [{ address: holder, kind: 'staking', activeFrom: '1970-01-01T00:00:00Z' }]
  await world.earn.db`
    update vaults set holders = ${JSON.stringify(holders)}::text::jsonb where address = ${vault.address.toLowerCase()}`
  await world.refresh()
  for (const who of [alice, bob]) {
    await world.mint(dollar, who.address, 10n * unit)
    await world.write(dollar, erc20Abi, 'approve', [vault.address, 2n ** 255n], who)
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [10n * unit, who.address], who)
    await world.write(vault.address, erc20Abi, 'approve', [holderAddress, 2n ** 255n], who)
  }
}, 120_000)
afterAll(() => world?.close())

const perUnit = unit * 10n ** 12n
const shares = (assets: bigint) => assets * perUnit

/** Alice's shares go to the holder, whose event names her. */
async function stake(assets: bigint): Promise<void> {
  const args = [alice.address, holderAddress, shares(assets)] as const
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
  const told = { of: alice.address, amount: shares(assets), says: shares(assets), topic: staked, call }
  await tellHolder(world.anvil, alice, { target: vault.address, ...told })
  await world.sync()
}

/** Tells the holder to send shares on, if any, and to emit an event about one share of Alice's. */
async function lie(topic: Hex, sent = 0n): Promise<void> {
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [bob.address, shares(sent)] })
  const told = { of: alice.address, amount: shares(1n), says: 0n, topic }
  await tellHolder(world.anvil, bob, { target: vault.address, ...told, ...(sent > 0n ? { call } : {}) })
  await world.sync()
}

const listCounted = async () => {
  const rows = await world.earn.db<{ wallet: string; shares: string }[]>`
    select hex_text(wallet) as wallet, shares from balances where shares > 0`
  return Object.fromEntries(rows.map(({ wallet, shares }) => [wallet, BigInt(shares) / perUnit]))
}

async function tell() {
  const { body } = await world.earn.call('GetIndexingStatus', { query: { vaultAddress: vault.address } })
  const found = (await examine(world.earn.ctx)).find(({ what }) => what === 'holders are believed')
  return { reason: body.vaults[0].reason, doctor: { well: found?.well, detail: found?.detail } }
}

async function drift() {
  await reconcileBalances(world.earn.ctx)
  const { body } = await world.earn.call('GetIndexingStatus', { query: { vaultAddress: vault.address } })
  return body.vaults[0].drift
}

it('balances agree with the chain where a holder keeps shares for accounts, and a missing one of these is noticed', async () => {
  await stake(4n)
  expect(await listCounted()).toEqual({ [lower(alice)]: 10n, [lower(bob)]: 10n })
  const { samples, mismatches } = await drift()
  expect(samples).toBeGreaterThanOrEqual(2)
  expect(mismatches).toBe(0)
  const cut = (by: bigint) => world.earn.db`
    update held_shares set shares = shares + ${String(by)}::numeric where wallet = hex_bytes(${alice.address.toLowerCase()})`
  await cut(-1n)
  expect((await drift()).mismatches).toBeGreaterThan(0)
  await cut(1n)
  expect((await drift()).mismatches).toBe(0)
})

it('events of a holder without their Transfer are counted in the reason of the vault, and no fault of the installation', async () => {
  expect((await tell()).doctor).toEqual({ well: true, detail: 'every event of a declared holder has its Transfer' })
  await lie(staked)
  const { reason, doctor } = await tell()
  const said = '1 events of holders without a Transfer of shares count for nothing'
  expect(reason).toContain(said)
  expect(reason).not.toContain('not looked through')
  expect(doctor).toEqual({ well: true, detail: expect.stringContaining(said) })
  expect((await drift()).mismatches).toBe(0)
})

it('a holder whose code was replaced is named, and balances agree while its accounts are followed and count for nothing', async () => {
  await lie(toEventSelector('Upgraded(address)'))
  const { reason, doctor } = await tell()
  expect(reason).toContain(`not looked through any more: ${holder} (upgraded); declare it anew`)
  expect(doctor.well).toBe(false)
  expect(await listCounted()).toEqual({ [holder]: 4n, [lower(alice)]: 6n, [lower(bob)]: 10n })
  expect((await drift()).mismatches).toBe(0)
})

it('a holder that sends what is its accounts’ without an event is named with the reason, and balances agree again', async () => {
  await lie(silent, 3n)
  const { reason, doctor } = await tell()
  const said = `not looked through any more: ${holder} (more shares left it than it had for nobody); declare it anew`
  expect(reason).toContain(said)
  expect(doctor).toEqual({ well: false, detail: expect.stringContaining(said) })
  expect(await listCounted()).toEqual({ [holder]: 1n, [lower(alice)]: 6n, [lower(bob)]: 13n })
  expect((await drift()).mismatches).toBe(0)
})

it.each([
  [{ brokenHolders: null, ignoredEvents: 0 }, undefined],
  [{ brokenHolders: null, ignoredEvents: 2 }, '2 events of holders without a Transfer of shares count for nothing'],
  [
    { brokenHolders: '0xa (upgraded), 0xb (upgraded)', ignoredEvents: 0 },
    'not looked through any more: 0xa (upgraded), 0xb (upgraded); declare it anew when it can be believed',
  ],
  [
    { brokenHolders: '0xa (upgraded)', ignoredEvents: 2 },
    'not looked through any more: 0xa (upgraded); declare it anew when it can be believed; 2 events of holders without a Transfer of shares count for nothing',
  ],
])('faults of holders %j are described as %j', (faults, said) => {
  expect(describeHolders(faults)).toBe(said)
})
