import { restartingVaultAbi, restartingVaultBytecode, testTokenAbi } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, type Hex, type PrivateKeyAccount } from 'viem'
import { expect } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { reportDistributor } from '../../src/features/audit/index.js'
import { runShareReadings } from '../../src/features/paid/index.js'
import { computeSnapshot } from '../../src/features/streams/amounts.js'
import { readInputs } from '../../src/features/streams/snapshotInputs.js'
import type { StreamRow } from '../../src/features/streams/storeStreams.js'
import type { StreamTerms } from '../../src/features/streams/types.js'
import { findStreamTarget, runSnapshots } from '../../src/snapshots/index.js'
import { chainId, openWatchWorld, withSuffix } from '../chain/watchWorld.js'
import { openEarn } from '../harness.js'

/** A real chain with vaults whose share price somebody stages, and what three ways of paying give for it. */

export const D = 'Y2Zi7KWy'
export const interval = 900
export const [cheat, other] = [account(1), account(2)]
export const usd = 10n ** 6n
/** What the cheat brings in all, and what he gives for a moment. */
export const capital = 10_000n * usd
export const donation = 1_000n * usd
/** The dust floor: a snapshot of so many shares is a reading. */
export const few = 1_000n

export type Played = { vault: Address; from: number; to: number; since: number; honest: bigint }
export type StagedWorld = Awaited<ReturnType<typeof openStagedWorld>>

export async function openStagedWorld() {
  const earn = await openEarn()
  const world = await openWatchWorld(earn.db, earn.organizationId)
  const ctx = { ...earn.ctx, chains: new Map([[chainId, world.chain]]) }
  const call = (user: PrivateKeyAccount, to: Address, abi: Abi, functionName: string, args: unknown[]) =>
    world.send(user, to, encodeFunctionData({ abi, functionName, args }))
  const approve = (user: PrivateKeyAccount, token: Address, spender: Address) =>
    call(user, token, testTokenAbi as Abi, 'approve', [spender, 2n ** 255n])
  const timeNow = async () => Number((await world.anvil.client.getBlock()).timestamp)
  const observe = async (): Promise<void> => {
    await world.sync()
    earn.clock.set(new Date((await timeNow()) * 1_000))
    await runSnapshots(ctx)
    await runShareReadings(ctx)
  }
  return {
    earn,
    world,
    call,
    approve,
    timeNow,
    give: async (user: PrivateKeyAccount, amount: bigint, spenders: readonly [Address, ...Address[]]) => {
      const [first, ...others] = spenders
      await world.fund(user, amount, first)
      for (const spender of others) await approve(user, world.token, spender)
    },
    donate: (to: Address, amount: bigint) => call(cheat, world.token, testTokenAbi as Abi, 'transfer', [to, amount]),
    /** What is sent next is mined a few seconds before an instant. */
    waitUntilBefore: (instant: number) => world.anvil.client.setNextBlockTimestamp({ timestamp: BigInt(instant - 5) }),
    /** Mines the block of the next instant of the grid, and has it read: the snapshot that everybody knew would come. */
    passInstant: async (): Promise<number> => {
      const instant = (Math.floor((await timeNow()) / interval) + 1) * interval
      for (const timestamp of [instant, instant + 1]) {
        await world.anvil.client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) })
        await world.anvil.client.mine({ blocks: 1 })
      }
      await observe()
      return instant
    },
    deployVault: (asset: Address, feeBps = 0n, receiver = cheat.address) =>
      world.anvil.deploy({
        ...{ abi: restartingVaultAbi as Abi, bytecode: restartingVaultBytecode, args: [asset, feeBps, receiver] },
      }),
    deposit: (vault: Address, amount: bigint, distributorId?: string) =>
      world.send(cheat, vault, withSuffix(depositData(amount), cheat.address, vault, distributorId)),
    redeem: (vault: Address, shares: bigint) =>
      call(cheat, vault, restartingVaultAbi as Abi, 'redeem', [shares, cheat.address, cheat.address]),
    sharesOf: (vault: Address, holder = cheat.address) =>
      world.anvil.client.readContract({
        ...{ address: vault, abi: restartingVaultAbi, functionName: 'balanceOf', args: [holder] },
      }),
    close: async () => {
      await world.close()
      await earn.close()
    },
  }
}

/**
 * The cheat holds a rest of a vault, gives it a donation for the instant of a snapshot, leaves in the next block and deposits
 * his capital. Returns the snapshot's instant, when his capital is in, and the instant of the next snapshot.
 */
export async function cheatOnce(staged: StagedWorld, vault: Address): Promise<Pick<Played, 'from' | 'since' | 'to'>> {
  await staged.world.list(vault)
  await staged.give(cheat, capital + donation + few, [vault])
  await staged.deposit(vault, few, D)
  await staged.donate(vault, donation)
  const from = await staged.passInstant()
  await staged.redeem(vault, few)
  await staged.deposit(vault, capital, D)
  const since = await staged.timeNow()
  return { from, since, to: await staged.passInstant() }
}

export const depositData = (amount: bigint, receiver = cheat.address): Hex =>
  encodeFunctionData({ abi: restartingVaultAbi, functionName: 'deposit', args: [amount, receiver] })

/** Runs while the rule of before holds, for nothing of the chain is as new. */
export async function byEarlierRule<T>({ earn }: StagedWorld, run: () => Promise<T>): Promise<T> {
  await earn.db`update rules_versions set holds_from = '2999-01-01' where version = 2`
  try {
    return await run()
  } finally {
    await earn.db`update rules_versions set holds_from = to_timestamp(0) where version = 2`
  }
}

/** USD-days of a distributor in a vault, as they are reported. */
export async function usdDaysOf(
  { earn }: StagedWorld,
  { vault, from, to, distributorId }: { vault: Address; from: number; to: number; distributorId: string },
): Promise<string | undefined> {
  const range = { from: new Date(from * 1_000), to: new Date(to * 1_000) }
  const rows = await reportDistributor(earn.ctx, { distributorId, ...range })
  return rows.find(({ vaultAddress }) => vaultAddress === vault.toLowerCase())?.usdDays
}

/** Times the USD-days of the capital that was there, from when it was. */
async function gainOf(staged: StagedWorld, { vault, from, to, since, honest }: Played): Promise<number> {
  const usdDays = await usdDaysOf(staged, { vault, from, to, distributorId: D })
  return Number(usdDays) / ((Number(honest) / 1e6) * ((to - since) / 86_400))
}

/** Times what a stream of the type pays the same capital. */
async function streamGainOf(
  { earn, world }: StagedWorld,
  { vault, from, to, since, honest }: Played,
  type: 1 | 2,
): Promise<number> {
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
export async function payAll(staged: StagedWorld, played: Played) {
  const all = async () => [
    await gainOf(staged, played),
    await streamGainOf(staged, played, 1),
    await streamGainOf(staged, played, 2),
  ]
  return { before: await byEarlierRule(staged, all), after: await all() }
}

export type Gains = Awaited<ReturnType<typeof payAll>>

/** Prints by USD-days and by streams of types 1 and 2 how many times the honest capital × time was paid. */
export function show(name: string, { before, after }: Gains): void {
  const list = (gains: readonly number[]) => gains.map((gain) => gain.toFixed(4)).join(', ')
  console.log(`${name}: by the earlier rule ${list(before)}, now ${list(after)}`)
}

export function expectGuarded({ before, after }: Gains, least = 1_000): void {
  for (const gain of before) expect(gain).toBeGreaterThan(least)
  for (const gain of after) {
    expect(gain).toBeLessThanOrEqual(1.01)
    expect(gain).toBeGreaterThan(0)
  }
}
