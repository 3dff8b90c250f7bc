import {
  asyncVaultAbi,
  cooldownVaultAbi,
  cooldownVaultBytecode,
  lagoonVaultAbi,
  mapleManagerAbi,
  maplePoolAbi,
  maplePoolBytecode,
  standardizedYieldAbi,
  umbrellaStakeAbi,
  umbrellaStakeBytecode,
  vedaQueueAbi,
  windowStakeAbi,
  windowStakeBytecode,
} from '@openearn/contracts'
import { AbiCoder, Interface, JsonRpcProvider } from 'ethers'
import { type Abi, type Address, erc20Abi, erc4626Abi, type Hex, maxUint256, parseAbiItem } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { seeded } from '../../../test/catalogueWorld.js'
import { openLagoonVaults } from '../../../test/lagoonVaults.js'
import { callOf, drawWallets, letAllSend, type PlayedCall, playCalls } from '../../../test/playCalls.js'
import { seed } from '../../../test/seed.js'
import { openVeda } from '../../../test/vedaVaults.js'
import { getWalletPortfolio, listAdapters, openPortfolio } from './index.js'

const random = seeded(seed)
const owner = account(0)
const wallets = drawWallets(random, 200, 0x2000)

/** How wallets enter and leave a vault, and what one share and what waits is worth there, as its contracts say. */
type Played = {
  vault: WorldVault
  spender?: Address
  enter: (wallet: Address, amount: bigint) => PlayedCall
  /** Calls after each other. */
  leave: (wallet: Address, shares: bigint) => PlayedCall[]
  /** Assets for so many shares. */
  worth: (shares: bigint) => Promise<bigint>
  /** Whether the shares of one who leaves wait in a queue. */
  isQueued?: true
  /** Assets that wait for a wallet. */
  waiting?: (wallet: Address) => Promise<bigint>
}

let world: World
let asset: Address
let provider: JsonRpcProvider
let kinds: Record<string, Played>
/** Shares that wait, by kind and wallet. */
const queued = new Map<string, bigint>()

const ask = async (to: string, name: string, types: string, args: unknown[], out = ['uint256']): Promise<bigint[]> => {
  const data = new Interface([`function ${name}(${types})`]).encodeFunctionData(name, args)
  return [...AbiCoder.defaultAbiCoder().decode(out, await provider.call({ to, data }))]
}
const one = async (...input: Parameters<typeof ask>): Promise<bigint> => (await ask(...input))[0] ?? 0n
const deploy = (abi: unknown, bytecode: Hex, args: readonly unknown[]) =>
  world.anvil.deploy({ abi: abi as Abi, bytecode, args: [...args] })

async function openKinds(): Promise<Record<string, Played>> {
  const listed = (address: Address, kind: string) => world.list({ address, asset, decimals: 6, kind })
  const converts = (address: Address) => (shares: bigint) => one(address, 'convertToAssets', 'uint256', [shares])
  const deposits = (address: Address) => (wallet: Address, amount: bigint) =>
    callOf(wallet, address, erc4626Abi, 'deposit', [amount, wallet])
  const plain = await world.vault(asset)
  const umbrella = await listed(
    await deploy(umbrellaStakeAbi, umbrellaStakeBytecode, [asset, 'Staked', 'stkT', 604_800, 172_800]),
    'umbrella',
  )
  const stake = await listed(
    await deploy(windowStakeAbi, windowStakeBytecode, [asset, 'Staked', 'stkTUSD', 604_800, 172_800]),
    'window-stake',
  )
  const cooling = await listed(
    await deploy(cooldownVaultAbi, cooldownVaultBytecode, [asset, 'Staked', 'sTUSD', 12, 604_800]),
    'cooldown',
  )
  const yielding = await world.severalTokenVault(asset, await world.token())
  const lagoon = await openLagoonVaults(world, asset).open('0.6')
  const slow = await world.asyncVault(asset)
  const veda = await openVeda(world, asset).open({ rate: 1_234_567n })
  const pool = await deploy(maplePoolAbi, maplePoolBytecode, [asset, 'Syrup', 'syrupTUSD'])
  const read = (of: Address, abi: unknown, functionName: string) =>
    world.anvil.client.readContract({ address: of, abi: abi as Abi, functionName }) as Promise<Address>
  const manager = await read(pool, maplePoolAbi, 'manager')
  const contracts = { manager, queue: await read(manager, mapleManagerAbi, 'withdrawalManager') }
  const maple = await world.list({
    ...{ address: pool, asset, decimals: 6, receiptDecimals: 6, kind: 'maple', contracts },
  })
  await playCalls(
    world.anvil,
    wallets.map((wallet) => callOf(owner.address, manager, mapleManagerAbi, 'setLender', [wallet, true])),
  )
  const own = (vault: WorldVault, abi: unknown, name: string) => (wallet: Address, shares: bigint) => [
    callOf(wallet, vault.address, abi, name, [shares, wallet, wallet]),
  ]
  const opens = (vault: WorldVault, abi: unknown) => (wallet: Address) => [
    callOf(wallet, vault.address, abi, 'cooldown', []),
  ]
  const asks = (vault: WorldVault, abi: unknown) => (wallet: Address, amount: bigint) =>
    callOf(wallet, vault.address, abi, 'requestDeposit', [amount, wallet, wallet])
  return {
    erc4626: {
      ...{ vault: plain, enter: deposits(plain.address), leave: own(plain, erc4626Abi, 'redeem') },
      worth: converts(plain.address),
    },
    umbrella: {
      ...{ vault: umbrella, enter: deposits(umbrella.address), leave: opens(umbrella, umbrellaStakeAbi) },
      worth: converts(umbrella.address),
    },
    'window-stake': {
      vault: stake,
      enter: (wallet, amount) => callOf(wallet, stake.address, windowStakeAbi, 'stake', [wallet, amount]),
      leave: opens(stake, windowStakeAbi),
      worth: async (shares) =>
        (shares * 10n ** 18n) / (await one(stake.address, 'getExchangeRate', '', [], ['uint216'])),
    },
    cooldown: {
      ...{ vault: cooling, enter: deposits(cooling.address), worth: converts(cooling.address) },
      leave: (wallet, shares) => [callOf(wallet, cooling.address, cooldownVaultAbi, 'cooldownShares', [shares])],
      waiting: async (wallet) =>
        (await ask(cooling.address, 'cooldowns', 'address', [wallet], ['uint104', 'uint152']))[1] ?? 0n,
    },
    erc5115: {
      vault: yielding,
      enter: (wallet, amount) =>
        callOf(wallet, yielding.address, standardizedYieldAbi, 'deposit', [wallet, asset, amount, 0n]),
      leave: (wallet, shares) => [
        callOf(wallet, yielding.address, standardizedYieldAbi, 'redeem', [wallet, shares, asset, 0n, false]),
      ],
      worth: async (shares) => (shares * (await one(yielding.address, 'exchangeRate', '', []))) / 10n ** 18n,
    },
    // Nobody settles these: they wait with what was asked.
    lagoon: {
      ...{ vault: lagoon, enter: asks(lagoon, lagoonVaultAbi), leave: () => [], worth: converts(lagoon.address) },
      waiting: (wallet) => one(lagoon.address, 'pendingDepositRequest', 'uint256,address', [1n, wallet]),
    },
    erc7540: {
      ...{ vault: slow, enter: asks(slow, asyncVaultAbi), leave: () => [], worth: converts(slow.address) },
      waiting: (wallet) => one(slow.address, 'pendingDepositRequest', 'uint256,address', [0n, wallet]),
    },
    maple: {
      ...{ vault: maple, enter: deposits(pool), worth: converts(pool), isQueued: true },
      leave: (wallet, shares) => [callOf(wallet, pool, maplePoolAbi, 'requestRedeem', [shares, wallet])],
    },
    veda: {
      ...{ vault: veda, spender: veda.address, isQueued: true },
      enter: (wallet, amount) => callOf(wallet, veda.teller, veda.tellerAbi, 'deposit', [asset, amount, 0n]),
      leave: (wallet, shares) => [
        callOf(wallet, veda.address, erc20Abi, 'approve', [veda.queue, shares]),
        callOf(wallet, veda.queue, vedaQueueAbi, 'requestOnChainWithdraw', [asset, shares, 16, 604_800]),
      ],
      worth: async (shares) => (shares * (await one(veda.accountant, 'getRate', '', []))) / 10n ** 6n,
    },
  }
}

const mint = [parseAbiItem('function mint(address to, uint256 amount)')]

beforeAll(async () => {
  world = await openWorld()
  const { anvil } = world
  provider = new JsonRpcProvider(anvil.url, 31_337, { staticNetwork: true, batchMaxCount: 100 })
  asset = await world.token({ pegUsd: '1' })
  await letAllSend(anvil)
  kinds = await openKinds()
  const all = Object.entries(kinds)
  for (const address of wallets) await anvil.client.setBalance({ address, value: 10n ** 18n })
  const some = () => BigInt(1_000 + random.integer(10_000_000))
  // Each wallet is in one to four kinds.
  const played = wallets.flatMap((wallet) =>
    Array.from({ length: 1 + random.integer(4) }, () => all[random.integer(all.length)]!)
      .filter((each, at, list) => list.indexOf(each) === at)
      .map(([name, kind]) => ({ wallet, name, kind })),
  )
  await playCalls(
    anvil,
    wallets.map((wallet) => callOf(owner.address, asset, mint, 'mint', [wallet, 100_000_000n + some()])),
  )
  await playCalls(
    anvil,
    played.map(({ wallet, kind }) =>
      callOf(wallet, asset, erc20Abi, 'approve', [kind.spender ?? kind.vault.address, maxUint256]),
    ),
  )
  await playCalls(
    anvil,
    played.map(({ wallet, kind }) => kind.enter(wallet, some())),
  )
  // Shares and assets differ, with a remainder.
  for (const name of ['erc4626', 'umbrella', 'cooldown', 'maple'])
    await world.mint(asset, kinds[name]!.vault.address, 7_777_777n)
  const leaving = []
  for (const { wallet, name, kind } of played) {
    if (random.integer(2) === 0) continue
    const held = await world.balance(kind.vault.address, wallet)
    const shares = random.integer(3) === 0 ? held : (held * BigInt(1 + random.integer(9))) / 10n
    if (shares === 0n) continue
    leaving.push(...kind.leave(wallet, shares))
    if (kind.isQueued) queued.set(`${name} ${wallet}`, shares)
  }
  await playCalls(anvil, leaving)
  await world.sync()
}, 300_000)
afterAll(async () => {
  provider?.destroy()
  await world?.close()
})

it('the total of a portfolio is what the vaults of every kind say of shares and of what waits, for 200 random wallets', async () => {
  const seen = new Map<string, bigint>()
  const prices = new Map<string, readonly [bigint, bigint]>()
  for (const [name, { vault, worth }] of Object.entries(kinds)) {
    const unit = 10n ** ((await one(vault.address, 'decimals', '', [], ['uint8'])) + 12n)
    prices.set(name, [await worth(unit), unit])
  }
  const { earn } = world
  const ctx = {
    ...earn.ctx,
    chains: earn.service.holdingsChains,
    portfolio: openPortfolio({ adapters: listAdapters() }),
  }
  for (const wallet of wallets) {
    const terms = await Promise.all(
      Object.entries(kinds).map(async ([name, { vault, waiting }]) => {
        const [numerator, unit] = prices.get(name) ?? [0n, 1n]
        const inAssets = (shares: bigint) => (shares * numerator) / unit
        return [
          [`${name} held`, inAssets(await one(vault.address, 'balanceOf', 'address', [wallet]))],
          [`${name} queued`, inAssets(queued.get(`${name} ${wallet}`) ?? 0n)],
          [`${name} waiting`, (await waiting?.(wallet)) ?? 0n],
        ] as const
      }),
    )
    let sum = await one(asset, 'balanceOf', 'address', [wallet])
    for (const [term, amount] of terms.flat()) {
      seen.set(term, (seen.get(term) ?? 0n) + amount)
      sum += amount
    }
    earn.ctx.catalogue.answers.forget()
    const { portfolio } = await getWalletPortfolio(ctx, { address: wallet, includeProtocolTokens: false })
    // Nothing gives the native token a price here.
    const errors = portfolio.holdings.wallets
      .flatMap((each) => each.errors)
      .filter(({ source, error }) => source !== 'earnings' && !error.endsWith(': ETH'))
    expect([wallet, errors]).toEqual([wallet, []])
    expect([wallet, portfolio.holdings.totalUsd]).toEqual([wallet, format(sum)])
  }
  const told = [...seen].filter(([, sum]) => sum > 0n).map(([term]) => term)
  expect(told.sort()).toEqual(
    [
      ...['erc4626', 'umbrella', 'window-stake', 'cooldown', 'erc5115', 'maple', 'veda'].map((name) => `${name} held`),
      ...['cooldown waiting', 'erc7540 waiting', 'lagoon waiting', 'maple queued', 'veda queued'],
    ].sort(),
  )
}, 300_000)

/** An amount of six decimals as dollars. */
function format(value: bigint): string {
  const text = value.toString().padStart(7, '0')
  const fraction = text.slice(-6).replace(/0+$/, '')
  return `${text.slice(0, -6)}${fraction && `.${fraction}`}`
}
