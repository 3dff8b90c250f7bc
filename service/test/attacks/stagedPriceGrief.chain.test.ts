import { asyncVaultAbi, asyncVaultBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { withSuffix } from '../chain/watchWorld.js'
import { openBatches, type Step, stepsOf } from './stagedBatch.js'
import {
  byEarlierRule,
  capital,
  cheat,
  depositData,
  donation,
  openStagedWorld,
  other,
  type StagedWorld,
  usd,
  usdDaysOf,
} from './stagedWorld.js'

/**
 * Somebody tries to lower what others are paid. Each vault has a twin with the same holders that is left alone: USD-days of the
 * holders are the same in both, to the last digit.
 */

const distributorId = 'MpOgVDnc'
const holder = account(3)
const whale = other
/** 1.05 for a share. */
const yielded = 2_750n * usd

let staged: StagedWorld
let runBatch: (steps: readonly Step[]) => Promise<void>

beforeAll(async () => {
  staged = await openStagedWorld()
  runBatch = await openBatches(staged)
})
afterAll(() => staged?.close())

type Pair = readonly [griefed: Address, twin: Address]

/** Two vaults in which a holder and a whale have deposited, and whose share price has grown. */
async function openPair(deploy: () => Promise<Address>): Promise<Pair> {
  const { world } = staged
  const vaults = [await deploy(), await deploy()] as const
  await staged.give(cheat, capital * 100n, vaults)
  for (const vault of vaults) {
    await world.list(vault)
    for (const [user, amount, code] of [
      [holder, 5_000n * usd, distributorId],
      [whale, 50_000n * usd, undefined],
    ] as const) {
      await staged.give(user, amount, [vault])
      await world.send(user, vault, withSuffix(depositData(amount, user.address), user.address, vault, code))
    }
    await staged.donate(vault, yielded)
  }
  return vaults
}

/** Plays up to the next instant, and the one after that, what somebody does to the first of two vaults. */
async function expectUnchanged(name: string, [griefed, twin]: Pair, grief: () => Promise<void>): Promise<void> {
  const from = await staged.passInstant()
  await grief()
  const to = await staged.passInstant()
  const of = (vault: Address, end: number) => usdDaysOf(staged, { vault, from, to: end, distributorId })
  const [paid, alone] = [await of(griefed, to), await of(twin, to)]
  console.log(`${name}: ${paid} USD-days beside ${alone} where nobody did it`)
  expect(Number(alone)).toBeGreaterThan(50)
  expect(paid).toBe(alone)
  // Nor is anything taken from what the next snapshot says.
  const end = await staged.passInstant()
  expect(await of(griefed, end)).toBe(await byEarlierRule(staged, () => of(griefed, end)))
}

const kinds = [
  ['begins again at one to one', () => staged.deployVault(staged.world.token)],
  ['has virtual shares', () => staged.world.deployVault()],
] as const

describe.each(kinds)('holders of a vault that %s are paid the same to the last digit', (kind, deploy) => {
  const steps = () => stepsOf(staged.world.token)

  it('through a flash deposit with a donation, before the deposit and after it', async () => {
    const pair = await openPair(deploy)
    const [vault] = pair
    const { deposit, redeem, donate } = steps()
    const amount = capital * 50n
    await expectUnchanged(`flash deposit, ${kind}`, pair, async () => {
      const { client } = staged.world.anvil
      const sharesOf = async (assets: bigint) =>
        (await client.readContract({
          ...{ address: vault, abi: asyncVaultAbi, functionName: 'convertToShares', args: [assets] },
        })) as bigint
      const bought = await sharesOf(amount)
      await runBatch([deposit(vault, amount), donate(vault, donation), redeem(vault, bought)])
      // Somewhat fewer than the donation leaves for so much.
      await runBatch([donate(vault, donation), deposit(vault, amount), redeem(vault, (bought * 9n) / 10n)])
    })
  })

  it('through a thousand deposits of dust', async () => {
    const pair = await openPair(deploy)
    const { deposit } = steps()
    await expectUnchanged(`dust, ${kind}`, pair, async () => {
      for (let round = 0; round < 10; round += 1)
        await runBatch(Array.from({ length: 100 }, (_, at) => deposit(pair[0], BigInt(2 + (at % 9)))))
    })
  })

  it('through a whale that leaves after a harvest', async () => {
    const pair = await openPair(deploy)
    await expectUnchanged(`whale, ${kind}`, pair, async () => {
      for (const vault of pair) await staged.donate(vault, yielded)
      const shares = await staged.sharesOf(pair[0], whale.address)
      await staged.world.redeem(whale, shares, undefined, pair[0])
    })
  })
})

describe('holders of a vault of ERC-7540 are paid the same to the last digit', () => {
  const abi = asyncVaultAbi as Abi
  const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: false, decimalsOffset: 0 }
  const deploy = () =>
    staged.world.anvil.deploy({
      ...{ abi, bytecode: asyncVaultBytecode, args: [staged.world.token, 'Async', 'aUSD', settings] },
    })
  /** Requests a deposit, which the vault settles at the price of now. */
  const request = async (vault: Address, user: typeof holder, amount: bigint, code?: string) => {
    const { anvil, world } = { anvil: staged.world.anvil, world: staged.world }
    await staged.give(user, amount, [vault])
    const args = [amount, user.address, user.address] as const
    const data = encodeFunctionData({ abi: asyncVaultAbi, functionName: 'requestDeposit', args })
    await world.send(user, vault, withSuffix(data, user.address, vault, code))
    const settle = { address: vault, abi: asyncVaultAbi, functionName: 'settleDeposit' } as const
    await anvil.done(anvil.client.writeContract({ ...settle, args: [user.address, 0n] }))
  }
  const claim = (vault: Address, user: typeof holder, amount: bigint) =>
    staged.call(user, vault, abi, 'deposit', [amount, user.address, user.address])

  it('through a claim of shares that were sold long before, at a lower price', async () => {
    const pair = [await deploy(), await deploy()] as const
    await staged.give(cheat, yielded * 2n, pair)
    const old = 20_000n * usd
    for (const vault of pair) {
      await staged.world.list(vault, { kind: 'erc7540' })
      await request(vault, holder, 5_000n * usd, distributorId)
      await claim(vault, holder, 5_000n * usd)
      await request(vault, whale, old)
      await staged.donate(vault, yielded)
    }
    await expectUnchanged('stale claim', pair, async () => {
      await claim(pair[0], whale, old)
    })
  })
})
