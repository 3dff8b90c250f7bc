import type { Address } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { createSnapshotChain, type SnapshotChain, snapshotContext } from '../../test/snapshotChain.js'
import { runFeedHistory } from '../snapshots/jobHistory.js'
import { runSnapshots } from '../snapshots/jobSnapshots.js'
import { fillSnapshotPrices } from '../snapshots/store.js'
import { judgeRound, observeFeed, type Round } from './feeds.js'
import { findPrice } from './index.js'

const chainId = 31_337
const token = `0x${'dd'.repeat(20)}`
const feed = `0x${'fe'.repeat(20)}` as Address
const vault = `0x${'cc'.repeat(20)}`
const start = 1_700_000_000
const phase = (number: bigint, round: bigint) => (number << 64n) | round
const roundOf = (id: bigint, answer: bigint, at: number, answeredIn = id): Round => [
  id,
  answer,
  BigInt(at),
  BigInt(at),
  answeredIn,
]

describe('a round of a feed', () => {
  const block = { timestamp: start }
  const good = roundOf(5n, 200_000_000n, start - 10)
  it.each([
    ['is no price when it is 0', { decimals: 8, round: roundOf(5n, 0n, start) }, /no price/],
    ['is no price below 0', { decimals: 8, round: roundOf(5n, -1n, start) }, /no price/],
    ['is no price when it is beyond all prices', { decimals: 8, round: roundOf(5n, 1n << 250n, start) }, /no price/],
    ['is not complete without a time', { decimals: 8, round: roundOf(5n, 1n, 0) }, /not complete/],
    ['is not of the future', { decimals: 8, round: roundOf(5n, 1n, start + 1) }, /after the block/],
    ['is not carried over', { decimals: 8, round: roundOf(5n, 1n, start, 4n) }, /carried over/],
    ['has decimals', { decimals: undefined, round: good }, /does not answer/],
    ['has decimals that are some', { decimals: 200, round: good }, /200 decimals/],
    ['is there', { decimals: 8, round: undefined }, /does not answer/],
  ])('%s', (_what, answer, said) => {
    expect(judgeRound(answer, block)).toMatch(said)
    expect(
      observeFeed({ chainId, address: token, feed, heartbeatSeconds: 60 }, answer, { ...block, number: 1, hash: '' }),
    ).toEqual([])
  })

  it('is the one asked for', () => {
    expect(judgeRound({ decimals: 8, round: good }, block, 4n)).toMatch(/another round/)
    expect(judgeRound({ decimals: 8, round: good }, block, 5n)).toBeUndefined()
  })

  it.each([
    [0, 7n, '7'],
    [8, 100_000_001n, '1.00000001'],
    [18, 1n, '0.000000000000000001'],
    [36, 5n, `0.${'0'.repeat(35)}5`],
  ])('with %s decimals keeps every digit', (decimals, answer, priceUsd) => {
    const round = roundOf(5n, answer, start - 10)
    const [observation] = observeFeed(
      { chainId, address: token, feed, heartbeatSeconds: 60 },
      { decimals, round },
      { ...block, number: 1, hash: '0x01' },
    )
    expect(observation).toMatchObject({ priceUsd, observedAt: new Date((start - 10) * 1_000) })
    expect(observation?.validUntil).toEqual(new Date((start - 10 + 120) * 1_000))
  })
})

let test: TestDatabase
let model: SnapshotChain
let rounds: Map<bigint, Round>
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

beforeEach(async () => {
  await test.db`truncate chains, tokens, vaults, vault_snapshots, snapshot_progress, snapshot_gaps, price_observations,
    price_histories cascade`
  await test.db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'C', 'c', true)`
  await test.db`
    insert into tokens (chain_id, address, decimals, symbol, name, price_feed)
    values (${chainId}, ${token}, 6, 'T', 'T', ${test.db.json({ address: feed, heartbeatSeconds: 3_600 })})`
  await test.db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (${chainId}, ${vault}, 'erc4626', ${token}, 6, ${vault}, 6)`
  model = createSnapshotChain()
  model.vaultAt = () => ({ totalAssets: 10n, totalSupply: 10n, perShare: (shares) => shares })
  rounds = new Map()
  model.roundsAt = (_, block) => {
    const there = [...rounds].filter(([, round]) => round[3] <= BigInt(block.timestamp))
    return { decimals: 8, rounds: new Map(there), latest: there.at(-1)?.[0] ?? 0n }
  }
})

const ctx = () => snapshotContext(model, test.db)
const at = (seconds: number) => findPrice(test.db, { chainId, address: token }, new Date(seconds * 1_000))
const addRounds = (number: bigint, from: bigint, to: bigint, since: number) => {
  for (let round = from; round <= to; round++) {
    const id = phase(number, round)
    rounds.set(id, roundOf(id, 100_000_000n * number + round, since + Number(round) * 600))
  }
}
const mineTo = (seconds: number) => {
  for (let time = (model.blocks.at(-1)?.timestamp ?? start - 60) + 60; time < seconds + 60; time += 60) model.mine(time)
}

describe('a feed', () => {
  it('prices its token from the time of each round, until twice its heartbeat later', async () => {
    addRounds(1n, 1n, 1n, start)
    mineTo(start + 2_000)
    await runSnapshots(ctx())
    expect(await at(start + 599)).toBeUndefined()
    expect(await at(start + 600)).toMatchObject({ priceUsd: '1.00000001', source: `feed:${feed}` })
    expect(await at(start + 600 + 7_200)).toMatchObject({ priceUsd: '1.00000001' })
    expect(await at(start + 600 + 7_201)).toBeUndefined()
    const [row] = await test.db`select price_usd::text as usd from vault_snapshots`
    expect(row).toEqual({ usd: '1.00000001' })
  })

  it('has a past that is read through all its phases, past one that is missing and rounds that do not answer', async () => {
    addRounds(1n, 1n, 30n, start)
    addRounds(3n, 1n, 420n, start + 20_000)
    rounds.delete(phase(3n, 100n))
    rounds.set(phase(3n, 7n), roundOf(phase(3n, 7n), 0n, start + 20_000 + 7 * 600))
    model.phases.set(feed, new Map([[1, { aggregator: `0x${'a1'.repeat(20)}`, latest: 30n }]]))
    mineTo(start + 300_000)
    await runFeedHistory(ctx(), { runMs: 600_000 })
    const [count] = await test.db<{ count: number }[]>`select count(*) as count from price_observations`
    expect(count?.count).toBe(30 + 420 - 2)
    expect(await at(start + 30 * 600)).toMatchObject({ priceUsd: '1.0000003' })
    expect(await at(start + 20_000 + 100 * 600)).toMatchObject({ priceUsd: '3.00000099' })
    const [history] = await test.db`select next_round, problem from price_histories`
    expect(history).toEqual({
      next_round: null,
      problem: 'phase 2 of the feed does not answer: its rounds are missing',
    })
  })

  it('is read on where it was cut off, and tells the same live and from its past', async () => {
    addRounds(1n, 1n, 900n, start)
    mineTo(start + 600_000)
    await runSnapshots(ctx())
    const before = await at(start + 600_000)
    await runFeedHistory(ctx(), { runMs: 0 })
    const [some] = await test.db<{ count: number }[]>`select count(*) as count from price_observations`
    expect(some?.count).toBe(200)
    await runFeedHistory(ctx(), { runMs: 600_000 })
    const [all] = await test.db<{ count: number }[]>`select count(*) as count from price_observations`
    expect(all?.count).toBe(900)
    expect(await at(start + 600_000)).toEqual(before)
  })

  it('has its rounds read that came while nobody watched, and those alone', async () => {
    addRounds(1n, 1n, 10n, start)
    mineTo(start + 7_000)
    await runFeedHistory(ctx(), { runMs: 600_000 })
    addRounds(1n, 11n, 300n, start)
    mineTo(start + 200_000)
    await runSnapshots(ctx())
    await runFeedHistory(ctx(), { runMs: 600_000 })
    const [count] = await test.db<{ count: number }[]>`select count(*) as count from price_observations`
    expect(count?.count).toBe(300)
    const before = model.calls.eth_call
    await runFeedHistory(ctx(), { runMs: 600_000 })
    expect(model.calls.eth_call).toBe(before + 1)
  })

  it('fills the price of a snapshot that had none once, and changes none', async () => {
    mineTo(start + 10_000)
    await runSnapshots(ctx())
    addRounds(1n, 1n, 10n, start)
    await runFeedHistory(ctx(), { runMs: 600_000 })
    const usd = async () =>
      (await test.db<{ usd: string | null }[]>`select price_usd::text as usd from vault_snapshots`)[0]
    expect(await usd()).toEqual({ usd: null })
    expect(await fillSnapshotPrices(test.db, chainId)).toBe(1)
    expect(await usd()).toEqual({ usd: '1.0000001' })
    rounds.set(phase(1n, 11n), roundOf(phase(1n, 11n), 999_000_000n, start + 6_100))
    await runSnapshots(ctx())
    expect(await fillSnapshotPrices(test.db, chainId)).toBe(0)
    expect(await usd()).toEqual({ usd: '1.0000001' })
  })

  it.each([
    ['reverts', () => new Map<bigint, Round>()],
    ['answers 0', () => new Map([[phase(1n, 1n), roundOf(phase(1n, 1n), 0n, start)]])],
  ])('that %s prices nothing and hinders nothing', async (_what, listRounds) => {
    rounds = listRounds()
    mineTo(start + 2_000)
    await runSnapshots(ctx())
    await runFeedHistory(ctx(), { runMs: 600_000 })
    expect(await at(start + 2_000)).toBeUndefined()
    expect(await test.db`select price_usd from vault_snapshots`).toEqual([{ price_usd: null }])
  })
})
