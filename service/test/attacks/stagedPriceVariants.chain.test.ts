import {
  cooldownVaultAbi,
  cooldownVaultBytecode,
  standardizedYieldAbi,
  standardizedYieldBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withSuffix } from '../chain/watchWorld.js'
import { openBatches, type Step, stepsOf } from './stagedBatch.js'
import {
  capital,
  cheat,
  cheatOnce,
  D,
  donation,
  expectGuarded,
  few,
  type Gains,
  interval,
  openStagedWorld,
  payAll,
  type StagedWorld,
  show,
  usd,
} from './stagedWorld.js'

/** Further ways to stage a share price, each played before and after the paid price (docs/threat-model.md). */

const shareUnit = 10n ** 18n
const day = 86_400

let staged: StagedWorld
let runBatch: (steps: readonly Step[]) => Promise<void>

beforeAll(async () => {
  staged = await openStagedWorld()
  runBatch = await openBatches(staged)
})
afterAll(() => staged?.close())

/** Where a vault cannot be staged both rules pay what was brought, and hardly less. */
function expectNoGain({ before, after }: Gains): void {
  for (const gain of [...before, ...after]) {
    expect(gain).toBeLessThanOrEqual(1.01)
    expect(gain).toBeGreaterThan(0.98)
  }
}

describe('a price that is staged again and again, or in one transaction', () => {
  it('by 49 hundredths of a percent more at each instant of a day pays no more than the capital', async () => {
    const vault = await staged.deployVault(staged.world.token)
    await staged.world.list(vault)
    const tiny = usd
    await staged.give(cheat, capital + donation, [vault])
    const { deposit, redeem, donate } = stepsOf(staged.world.token)
    /** The price of an instant times a million. */
    let price = 1_000_000n
    await runBatch([deposit(vault, tiny, D)])
    const from = await staged.passInstant()
    await runBatch([redeem(vault, tiny), deposit(vault, capital, D)])
    const since = await staged.timeNow()
    let to = from
    while (to < from + day) {
      price = (price * 10_049n) / 10_000n
      const given = (tiny * price) / 1_000_000n - tiny
      await staged.waitUntilBefore(to + interval)
      await runBatch([redeem(vault, capital), deposit(vault, tiny, D), donate(vault, given)])
      to = await staged.passInstant()
      await runBatch([redeem(vault, tiny), deposit(vault, capital, D)])
    }
    const gains = await payAll(staged, { vault, from, to, since, honest: capital })
    show('49 bps at each instant of a day', gains)
    expectGuarded(gains, 1.2)
  })

  it('by one transaction that buys high, redeems all and buys low pays no more than the capital', async () => {
    const vault = await staged.deployVault(staged.world.token)
    await staged.world.list(vault)
    const high = 1_000n * usd
    await staged.give(cheat, capital + donation + high + few, [vault])
    const { deposit, redeem, donate } = stepsOf(staged.world.token)
    await runBatch([deposit(vault, few, D), donate(vault, donation)])
    const from = await staged.passInstant()
    const bought = (high * few) / (few + donation)
    await runBatch([deposit(vault, high), redeem(vault, few + bought), deposit(vault, capital, D)])
    const since = await staged.timeNow()
    const to = await staged.passInstant()
    const gains = await payAll(staged, { vault, from, to, since, honest: capital })
    show('high, all out and low in one transaction', gains)
    expectGuarded(gains)
  })

  it('where the capital comes in a token of other decimals pays no more than it', async () => {
    const { anvil, token, db } = staged.world
    const wide = await anvil.deploy({
      abi: testTokenAbi as Abi,
      bytecode: testTokenBytecode,
      args: ['Wide', 'WIDE', 18],
    })
    const args = [token, wide]
    const vault = await anvil.deploy({ abi: standardizedYieldAbi as Abi, bytecode: standardizedYieldBytecode, args })
    await staged.world.list(vault, { kind: 'erc5115' })
    await db`update vaults set receipt_decimals = 18 where address = ${vault.toLowerCase()}`
    await staged.give(cheat, donation + few, [vault])
    const wideCall = { address: wide, abi: testTokenAbi } as const
    const inWide = capital * 10n ** 12n
    await anvil.done(anvil.client.writeContract({ ...wideCall, functionName: 'mint', args: [cheat.address, inWide] }))
    await staged.approve(cheat, wide, vault)
    const depositIn = (tokenIn: Address, amount: bigint) => {
      const abi = standardizedYieldAbi
      const data = encodeFunctionData({ abi, functionName: 'deposit', args: [cheat.address, tokenIn, amount, 0n] })
      return staged.world.send(cheat, vault, withSuffix(data, cheat.address, vault, D))
    }
    await depositIn(token, few)
    await staged.donate(vault, donation)
    const from = await staged.passInstant()
    const all = (few * shareUnit) / usd
    await staged.call(cheat, vault, standardizedYieldAbi as Abi, 'redeem', [cheat.address, all, token, 0n, false])
    await depositIn(wide, inWide)
    const since = await staged.timeNow()
    const to = await staged.passInstant()
    const gains = await payAll(staged, { vault, from, to, since, honest: capital })
    show('deposits in a token of other decimals', gains)
    expectGuarded(gains)
  })
})

describe('vaults on which a staged price gains nothing by either rule', () => {
  it('are those with virtual shares', async () => {
    const vault = await staged.world.deployVault()
    const when = await cheatOnce(staged, vault)
    const gains = await payAll(staged, { vault, ...when, honest: capital })
    show('virtual shares', gains)
    expectNoGain(gains)
  })

  it('are those whose shares cool down', async () => {
    const args = [staged.world.token, 'Cooled', 'cUSD', 0, 60]
    const abi = cooldownVaultAbi as Abi
    const vault = await staged.world.anvil.deploy({ abi, bytecode: cooldownVaultBytecode, args })
    const escrow = (await staged.world.anvil.client.readContract({
      ...{ address: vault, abi: cooldownVaultAbi, functionName: 'silo' },
    })) as Address
    await staged.world.list(vault, { kind: 'cooldown', escrow })
    await staged.give(cheat, capital + donation + few, [vault])
    await staged.deposit(vault, few, D)
    await staged.donate(vault, donation)
    const from = await staged.passInstant()
    await staged.call(cheat, vault, abi, 'cooldownShares', [few])
    await staged.deposit(vault, capital, D)
    const since = await staged.timeNow()
    const to = await staged.passInstant()
    const gains = await payAll(staged, { vault, from, to, since, honest: capital })
    show('a cooldown', gains)
    expectNoGain(gains)
  })
})
