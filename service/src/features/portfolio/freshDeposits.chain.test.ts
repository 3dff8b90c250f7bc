import {
  asyncVaultAbi,
  cooldownVaultAbi,
  cooldownVaultBytecode,
  lagoonVaultAbi,
  standardizedYieldAbi,
  umbrellaStakeAbi,
  umbrellaStakeBytecode,
  windowStakeAbi,
  windowStakeBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, erc20Abi, erc4626Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { openLagoonVaults } from '../../../test/lagoonVaults.js'
import { openRealVaults } from '../../../test/realVaults.js'
import { runSnapshots } from '../../snapshots/index.js'

const unit = 10n ** 6n
const [alice, bob] = [account(1), account(2)]
/** What Alice deposits. */
const amount = 100_000n * unit + 1n
let world: World
let dollar: Address
let other: Address

beforeAll(async () => {
  world = await openWorld()
  dollar = await world.token({ pegUsd: '1' })
  other = await world.token({ pegUsd: '1' })
})
afterAll(() => world?.close())

type Wallet = ReturnType<typeof account>
type Case = {
  vault: WorldVault
  deposit(as: Wallet, amount: bigint): Promise<unknown>
  accrue?(): Promise<unknown>
  /** The part of a share's worth that the vault's own rate does not show, times this, is its step. */
  steps?: bigint
  /** The vault keeps this part of a deposit, in hundredths of a percent. */
  feeBps?: bigint
}

const four = (vault: WorldVault, accrue?: () => Promise<unknown>): Case => ({
  vault,
  deposit: (as, amount) => world.write(vault.address, erc4626Abi as Abi, 'deposit', [amount, as.address], as),
  ...(accrue ? { accrue } : {}),
})

/** A deposit that is requested, settled and claimed. */
const requested = (vault: WorldVault): Case => ({
  vault,
  deposit: async (as, amount) => {
    const to = [amount, as.address, as.address]
    await world.write(vault.address, asyncVaultAbi as Abi, 'requestDeposit', to, as)
    await world.settle(vault.address, as.address)
    await world.write(vault.address, asyncVaultAbi as Abi, 'deposit', to, as)
  },
})

const real = async (name: 'market' | 'zeroMax' | 'strategy'): Promise<Case> => {
  const vault = await openRealVaults(world, dollar)[name]()
  return four(vault, vault.accrue)
}

/** A vault of Lagoon, whose deposits complete at once or are requested, settled and claimed. */
const lagoon = async (options: { completes: boolean; feeBps: bigint }): Promise<Case> => {
  const lagoons = openLagoonVaults(world, dollar)
  const vault = await lagoons.open('0.6')
  if (options.feeBps > 0n) await lagoons.write(vault, 'setTerms', [options.feeBps, 0, 0, 2n ** 128n])
  const write = (name: string, args: readonly unknown[], as: Wallet) =>
    world.write(vault.address, lagoonVaultAbi as Abi, name, args, as)
  if (options.completes) await lagoons.openSync(vault)
  const none = '0x0000000000000000000000000000000000000000'
  return {
    vault,
    feeBps: options.feeBps,
    deposit: async (as, amount) => {
      if (options.completes) return write('syncDeposit', [amount, as.address, none], as)
      await write('requestDeposit', [amount, as.address, as.address], as)
      await lagoons.value(vault, 0n, 'settleDeposit')
      return write('deposit', [amount, as.address, as.address], as)
    },
  }
}

/** Every kind, and of ERC-4626 those whose price moves as that of a known vault does. */
const cases: Record<string, () => Promise<Case>> = {
  'erc4626 that grows block by block': async () => four(await world.vault(dollar)),
  'erc4626 over a token that returns nothing': async () => {
    const old = await world.token({ old: true, pegUsd: '1' })
    return four(await world.vault(old, { old: true }))
  },
  'erc4626 as MetaMorpho': () => real('market'),
  'erc4626 as Morpho Vault V2': () => real('zeroMax'),
  'erc4626 as Euler Earn': () => real('strategy'),
  erc7540: async () => requested(await world.asyncVault(dollar)),
  'erc7540-deposit': async () => requested(await world.asyncVault(dollar, { kind: 'erc7540-deposit' })),
  'erc7540-redeem': async () => four(await world.asyncVault(dollar, { kind: 'erc7540-redeem' })),
  'lagoon on request': () => lagoon({ completes: false, feeBps: 0n }),
  'lagoon at once': () => lagoon({ completes: true, feeBps: 0n }),
  'lagoon with an entry fee': () => lagoon({ completes: true, feeBps: 100n }),
  cooldown: async () => {
    const args = [dollar, 'Staked', 'sTUSD', 12, 604_800]
    const address = await world.anvil.deploy({ abi: cooldownVaultAbi, bytecode: cooldownVaultBytecode, args })
    const vault = await world.list({ address, asset: dollar, decimals: 6, kind: 'cooldown' })
    return four(vault, () => world.mint(dollar, address, 7_777_777n))
  },
  umbrella: async () => {
    const args = [dollar, 'Staked', 'stkTUSD', 604_800, 172_800]
    const address = await world.anvil.deploy({ abi: umbrellaStakeAbi, bytecode: umbrellaStakeBytecode, args })
    // Its price moves only when it is slashed: the token it is over grows, not the stake.
    return four(await world.list({ address, asset: dollar, decimals: 6, kind: 'umbrella' }))
  },
  'window-stake': async () => {
    const args = [dollar, 'Staked', 'stkTUSD', 604_800, 172_800]
    const address = await world.anvil.deploy({ abi: windowStakeAbi, bytecode: windowStakeBytecode, args })
    const vault = await world.list({ address, asset: dollar, decimals: 6, kind: 'window-stake' })
    const accrue = async () => {
      await world.mint(dollar, world.owner.address, 7_777_777n)
      await world.write(dollar, erc20Abi, 'approve', [address, 7_777_777n])
      await world.write(address, windowStakeAbi as Abi, 'returnFunds', [7_777_777n])
    }
    const deposit: Case['deposit'] = (as, amount) =>
      world.write(address, windowStakeAbi as Abi, 'stake', [as.address, amount], as)
    return { vault, deposit, accrue }
  },
  erc5115: async () => {
    const vault = await world.severalTokenVault(dollar, other)
    const deposit: Case['deposit'] = (as, amount) =>
      world.write(vault.address, standardizedYieldAbi as Abi, 'deposit', [as.address, dollar, amount, 0n], as)
    // Its rate has as many digits as the asset.
    return { vault, deposit, accrue: () => world.mint(dollar, vault.address, 1_234_567n), steps: unit }
  },
}

/** Lists the vault with the decimals of its shares, which the world does not ask. */
async function correct({ vault }: Case): Promise<void> {
  const call = { address: vault.address, abi: erc20Abi, functionName: 'decimals' } as const
  const decimals = await world.anvil.client.readContract(call)
  await world.earn.db`update vaults set receipt_decimals = ${decimals} where address = ${vault.address.toLowerCase()}`
  await world.refresh()
}

/** Gives a wallet assets that the vault may take. */
async function fund({ vault }: Case, as: Wallet): Promise<void> {
  await world.mint(vault.asset, as.address, 1_000_000n * unit)
  await world.write(vault.asset, erc20Abi, 'approve', [vault.address, 2n ** 255n], as)
}

/** What a wallet earned in the vault, in smallest units; undefined where nothing is told. */
async function tellEarned({ vault }: Case, as: Wallet): Promise<bigint | undefined> {
  world.earn.clock.advance(5_000)
  world.earn.ctx.catalogue.answers.forget()
  const { body } = await world.earn.call('GetWalletPortfolio', { params: { address: as.address } })
  type Row = { opportunityId: string; earned: { native: string } }
  const rows: Row[] = body.portfolio.productsEarnings
  const row = rows.find(({ opportunityId }) => opportunityId === vault.opportunityId)
  return row && BigInt(Math.round(Number(row.earned.native) * Number(unit)))
}

describe('right after a deposit into a vault whose newest snapshot is older', () => {
  it.each(Object.entries(cases))(
    'nothing but rounding is lost in %s, with its node and without',
    async (_kind, open) => {
      const opened = await open()
      await correct(opened)
      for (const who of [bob, alice]) await fund(opened, who)
      await opened.deposit(bob, 500_000n * unit)
      await world.anvil.pass(1_000)
      await world.sync()
      await runSnapshots(world.earn.ctx)
      const [{ taken } = { taken: 0 }] = await world.earn.db<{ taken: number }[]>`
      select count(*)::int as taken from vault_snapshots s join vaults v on v.id = s.vault_id
      where v.address = ${opened.vault.address.toLowerCase()}`
      expect(taken).toBeGreaterThan(0)
      // Ten minutes of growth that no snapshot has seen.
      await world.anvil.pass(600)
      await opened.accrue?.()
      await opened.deposit(alice, amount)
      await world.sync()
      const { steps, feeBps = 0n } = opened
      const least = -1n - (steps ? amount / steps : 0n) - (amount * feeBps + 9_999n) / 10_000n
      expect(await tellEarned(opened, alice)).toBeGreaterThanOrEqual(least)
      const without = await world.withNode(goneNode, () => tellEarned(opened, alice))
      expect(without).toBeGreaterThanOrEqual(least)
    },
  )
})
