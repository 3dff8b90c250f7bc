import {
  restartingVaultAbi,
  restartingVaultBytecode,
  restartingYieldAbi,
  restartingYieldBytecode,
  testTokenAbi,
} from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, type Hex, type PrivateKeyAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { reportDistributor } from '../../src/features/audit/index.js'
import { runShareReadings } from '../../src/features/paid/index.js'
import { computeSnapshot } from '../../src/features/streams/amounts.js'
import { readInputs } from '../../src/features/streams/snapshotInputs.js'
import type { StreamRow } from '../../src/features/streams/storeStreams.js'
import type { StreamTerms } from '../../src/features/streams/types.js'
import { findStreamTarget, runSnapshots } from '../../src/snapshots/index.js'
import { chainId, openWatchWorld, type WatchWorld, withSuffix } from '../chain/watchWorld.js'
import { type Earn, openEarn } from '../harness.js'

/** The holder of a vault stages its share price for the block of a snapshot, and is paid by it: docs/threat-model.md. */

const D = 'Y2Zi7KWy'
const interval = 900
const [cheat, other] = [account(1), account(2)]
const usd = 10n ** 6n
/** What the cheat brings in all, and what he gives for a moment. */
const capital = 10_000n * usd
const donation = 1_000n * usd
/** The dust floor: a snapshot of so many shares is a reading. */
const few = 1_000n

let earn: Earn
let world: WatchWorld

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const ctx = () => ({ ...earn.ctx, chains: new Map([[chainId, world.chain]]) })

async function call(user: PrivateKeyAccount, to: Address, abi: Abi, functionName: string, args: unknown[]) {
  return world.send(user, to, encodeFunctionData({ abi, functionName, args }))
}

const give = async (user: PrivateKeyAccount, amount: bigint, spenders: readonly [Address, ...Address[]]) => {
  const [first, ...others] = spenders
  await world.fund(user, amount, first)
  for (const spender of others) await approve(user, world.token, spender)
}
const approve = (user: PrivateKeyAccount, token: Address, spender: Address) =>
  call(user, token, testTokenAbi as Abi, 'approve', [spender, 2n ** 255n])
const donate = (to: Address, amount: bigint) => call(cheat, world.token, testTokenAbi as Abi, 'transfer', [to, amount])

const timeNow = async () => Number((await world.anvil.client.getBlock()).timestamp)

/** Mines the block of the next instant of the grid, and has it read: the snapshot that everybody knew would come. */
async function passInstant(): Promise<number> {
  const instant = (Math.floor((await timeNow()) / interval) + 1) * interval
  await world.anvil.client.setNextBlockTimestamp({ timestamp: BigInt(instant) })
  await world.anvil.client.mine({ blocks: 1 })
  await world.anvil.client.setNextBlockTimestamp({ timestamp: BigInt(instant + 1) })
  await world.anvil.client.mine({ blocks: 1 })
  await observe()
  return instant
}

async function observe(): Promise<void> {
  await world.sync()
  earn.clock.set(new Date((await timeNow()) * 1_000))
  await runSnapshots(ctx())
  await runShareReadings(ctx())
}

/** Runs while the rule of before holds, for nothing of the chain is as new. */
async function byEarlierRule<T>(run: () => Promise<T>): Promise<T> {
  await earn.db`update rules_versions set holds_from = '2999-01-01'`
  try {
    return await run()
  } finally {
    await earn.db`update rules_versions set holds_from = to_timestamp(0)`
  }
}

type Played = { vault: Address; from: number; to: number; since: number; honest: bigint }

/** Times the USD-days of the capital that was there, from when it was. */
async function gainOf({ vault, from, to, since, honest }: Played): Promise<number> {
  const rows = await reportDistributor(earn, {
    ...{ distributorId: D, from: new Date(from * 1_000), to: new Date(to * 1_000) },
  })
  const row = rows.find(({ vaultAddress }) => vaultAddress === vault.toLowerCase())
  return Number(row?.usdDays) / ((Number(honest) / 1e6) * ((to - since) / 86_400))
}

/** Times what a stream of the type pays the same capital. */
async function streamGainOf({ vault, from, to, since, honest }: Played, type: 1 | 2): Promise<number> {
  const { db } = earn
  const [row] = await db<{ id: number }[]>`select id from vaults where address = ${vault.toLowerCase()}`
  const target = await findStreamTarget(db, row?.id ?? 0)
  const [block] = await db<{ number: number; hash: string }[]>`
    select number, hex_text(hash) as hash from blocks where timestamp <= to_timestamp(${to}) order by number desc limit 1`
  if (!target || !block) throw new Error('the vault is not read')
  const strategy =
    type === 1
      ? { type, tokensPerUsd: 10n ** 18n }
      : // As much: a thousandth of the value a day, at a dollar.
        { type, aprE18: 365n * 10n ** 15n }
  const terms: StreamTerms = {
    ...{ streamId: earn.organizationId, adapters: [], increases: [], rewardDecimals: 18, budget: null },
    ...{ strategy, startAt: from, endAt: null },
  }
  const reward = { chainId, rewardToken: world.token.toLowerCase() }
  const stream = { ...{ id: earn.organizationId, targetVaultId: row?.id, factory: null, contract: null }, ...reward }
  const inputs = await readInputs(db, {
    ...{ stream: stream as unknown as StreamRow, terms, target, previous: undefined, block, to },
  })
  const { amounts } = computeSnapshot(terms, inputs.facts, to)
  const paid = amounts.wallets.find(({ wallet }) => wallet === cheat.address.toLowerCase())?.rewards ?? 0n
  const due = (Number(honest) / 1e9) * ((to - since) / 86_400)
  return Number(paid) / 1e18 / due
}

/** What three ways of paying give for it, by the rule of before and by that of now. */
async function payAll(played: Played) {
  const all = async () => [await gainOf(played), await streamGainOf(played, 1), await streamGainOf(played, 2)]
  return { before: await byEarlierRule(all), after: await all() }
}

function expectGuarded({ before, after }: Awaited<ReturnType<typeof payAll>>, least = 1_000): void {
  for (const gain of before) expect(gain).toBeGreaterThan(least)
  for (const gain of after) {
    expect(gain).toBeLessThanOrEqual(1.01)
    expect(gain).toBeGreaterThan(0)
  }
}

const deployVault = (asset: Address, feeBps = 0n, receiver = cheat.address) =>
  world.anvil.deploy({
    ...{ abi: restartingVaultAbi as Abi, bytecode: restartingVaultBytecode, args: [asset, feeBps, receiver] },
  })

const depositData = (amount: bigint): Hex =>
  encodeFunctionData({ abi: restartingVaultAbi, functionName: 'deposit', args: [amount, cheat.address] })
const deposit = (vault: Address, amount: bigint, distributorId?: string) =>
  world.send(cheat, vault, withSuffix(depositData(amount), cheat.address, vault, distributorId))
const redeem = (vault: Address, shares: bigint) =>
  call(cheat, vault, restartingVaultAbi as Abi, 'redeem', [shares, cheat.address, cheat.address])
const sharesOf = (vault: Address) =>
  world.anvil.client.readContract({
    ...{ address: vault, abi: restartingVaultAbi, functionName: 'balanceOf', args: [cheat.address] },
  })

describe('a share price that is staged for the block of a snapshot', () => {
  it('pays the sole holder of a vault that begins again at one to one no more than his capital', async () => {
    const vault = await deployVault(world.token)
    await world.list(vault)
    await give(cheat, capital + donation + few, [vault])
    await deposit(vault, few, D)
    await donate(vault, donation)
    const from = await passInstant()
    await redeem(vault, few)
    await deposit(vault, capital, D)
    const since = await timeNow()
    const to = await passInstant()
    expectGuarded(await payAll({ vault, from, to, since, honest: capital }))
  })

  it.each(['asset', 'inner share'] as const)(
    'pays the sole holder of a vault of ERC-5115 over such a vault no more than his capital, who deposits in the %s',
    async (tokenIn) => {
      const inner = await deployVault(world.token)
      const outer = await world.anvil.deploy({
        ...{ abi: restartingYieldAbi as Abi, bytecode: restartingYieldBytecode, args: [inner] },
      })
      await world.list(outer, { kind: 'erc5115' })
      await give(cheat, capital + donation + few, [outer, inner])
      const abi = restartingYieldAbi
      const depositIn = (token: Address, amount: bigint) => {
        const data = encodeFunctionData({ abi, functionName: 'deposit', args: [cheat.address, token, amount, 0n] })
        return world.send(cheat, outer, withSuffix(data, cheat.address, outer, D))
      }
      await depositIn(world.token, few)
      await donate(inner, donation)
      const from = await passInstant()
      await call(cheat, outer, abi as Abi, 'redeem', [cheat.address, few, world.token, 0n, false])
      if (tokenIn === 'asset') await depositIn(world.token, capital)
      else {
        await deposit(inner, capital)
        await approve(cheat, inner, outer)
        await depositIn(inner, capital)
      }
      const since = await timeNow()
      const to = await passInstant()
      expectGuarded(await payAll({ vault: outer, from, to, since, honest: capital }))
    },
  )

  it('pays the holder of a vault whose asset is the staged share, and is priced by it, no more than his capital', async () => {
    const inner = await deployVault(world.token)
    await world.list(inner)
    const outer = await deployVault(inner)
    await world.list(outer)
    const { db } = earn
    await db`update vaults set asset = ${inner.toLowerCase()} where address = ${outer.toLowerCase()}`
    await db`
      insert into tokens (chain_id, address, decimals, symbol, name, price_vault)
      values (${chainId}, ${inner.toLowerCase()}, 6, 'rTUSD', 'Restarting vault', ${inner.toLowerCase()})`
    await give(cheat, capital + donation + few, [inner])
    await approve(cheat, inner, outer)
    await deposit(inner, few)
    await deposit(outer, few, D)
    await donate(inner, donation)
    const from = await passInstant()
    // The price of the inner share counts from the next instant on, so it is held until then.
    await passInstant()
    await redeem(outer, few)
    await redeem(inner, few)
    await deposit(inner, capital)
    await deposit(outer, capital, D)
    const since = await timeNow()
    const to = await passInstant()
    expectGuarded(await payAll({ vault: outer, from: since, to, since, honest: capital }))
    expect(from).toBeLessThan(since)
  })
})

describe('the variants of it', () => {
  it('gain nothing where a tiny rest is kept, or all is redeemed in the block before the snapshot', async () => {
    const vault = await deployVault(world.token)
    await world.list(vault)
    await give(cheat, capital + donation + few, [vault])
    await deposit(vault, few, D)
    await donate(vault, donation)
    const from = await passInstant()
    // One share holds the price: what is deposited now buys at it, and is worth what it cost.
    await redeem(vault, few - 1n)
    await deposit(vault, capital, D)
    const since = await timeNow()
    const to = await passInstant()
    const kept = await payAll({ vault, from, to, since, honest: capital })
    for (const gain of kept.after) expect(gain).toBeLessThanOrEqual(1.01)
    await redeem(vault, await sharesOf(vault))
    const empty = await passInstant()
    await deposit(vault, capital, D)
    const again = await timeNow()
    const end = await passInstant()
    const redeemed = await payAll({ vault, from: empty, to: end, since: again, honest: capital })
    for (const gain of redeemed.after) expect(gain).toBeLessThanOrEqual(1.01)
  })

  it('gain at most the entry fee that the cheat pays to himself', async () => {
    const vault = await deployVault(world.token, 100n, other.address)
    await world.list(vault)
    await give(cheat, capital + donation + few * 2n, [vault])
    await deposit(vault, few * 2n, D)
    await donate(vault, donation)
    const from = await passInstant()
    await redeem(vault, await sharesOf(vault))
    await deposit(vault, capital, D)
    const since = await timeNow()
    const to = await passInstant()
    const { before, after } = await payAll({ vault, from, to, since, honest: (capital * 99n) / 100n })
    for (const gain of before) expect(gain).toBeGreaterThan(1_000)
    for (const gain of after) expect(gain).toBeLessThanOrEqual(1.01 * 1.0102)
  })
})
