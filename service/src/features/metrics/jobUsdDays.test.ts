import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { seededRandom, times } from '../../../test/seed.js'
import { changeFacts, listStored } from '../../../test/usdDaysChanges.js'
import { drawHistory, type History, lengthSeconds, start, stretchHistory } from '../../../test/usdDaysHistory.js'
import { openUsdDaysWorld, writeHistory } from '../../../test/usdDaysWorld.js'
import { openDatabase } from '../../postgres/pool.js'
import { runUsdDays } from './jobUsdDays.js'
import { listRest } from './tallyUsdDays.js'

/** An hour as three days. */
const stretch = 72
const rounds = 5
const changesARound = 4

let earn: Earn
beforeAll(async () => {
  earn = await openUsdDaysWorld(drawHistory(seededRandom()))
  earn.clock.set('2026-11-24T00:00:00Z')
})
afterAll(() => earn?.close())

const tsOf = (seconds: number) => new Date((start + seconds) * 1_000).toISOString().replace('.000Z', 'Z')

async function ask({ from, to, step }: { from: number; to: number; step: number }, distributorId = 'acme') {
  const { status, body } = await earn.call('GetDistributorMetrics', {
    params: { distributorId },
    query: { startDate: tsOf(from), endDate: tsOf(to), step, includeUsdDays: true },
  })
  expect(status).toBe(200)
  const { usdDays, timeseries } = body
  return { usdDays, points: timeseries.map((point: { usdDays: string }) => point.usdDays) }
}

/** Counts all that can be counted: the clock of the test stands still. */
const count = ({ chains }: Pick<History, 'chains'>) =>
  runUsdDays({ db: earn.db, clock: earn.clock, chains: new Map(chains.map(({ chainId }) => [chainId, {} as never])) })

const forget = () => earn.db`truncate usd_days, usd_day_sums`

/** A hundred shares that are worth 2, from the first minute on, on chains that are confirmed for three days. */
function tellSimply(): History {
  const whole = 10n ** 6n
  const chains = [
    { chainId: 31_337, seconds: 60, head: 4_319, confirmed: 4_318 },
    { chainId: 1, seconds: 600, head: 431, confirmed: 430 },
  ]
  const inner = {
    ...{ name: 'inner', chainId: 31_337, assetDecimals: 6, receiptDecimals: 6, identities: [], mints: [] },
    snapshots: [0, 1_000, 2_000].map((block) => ({
      ...{ block, numerator: 2n * whole, exponent: 6, supply: whole, priceUsd: '1' },
    })),
    readings: new Map(),
    lots: [{ block: 1, transaction: 0, wallet: 0, distributorId: 'acme', after: 100n * whole }],
  }
  return { chains, vaults: [inner], rulesAt: -1 }
}
const [from, to] = [1_000, 250_000]

describe('USD-days of stored days', () => {
  it('are those of the facts to the last digit, whatever changed since they were stored, and counted again they are the same rows', async () => {
    const random = seededRandom()
    const seen = { answers: 0, days: 0, marked: 0, unguarded: 0, unpriced: 0, staged: 0 }
    for (let round = 0; round < rounds * times; round++) {
      const history = stretchHistory(drawHistory(random), stretch)
      await writeHistory(earn.db, history)
      await count(history)
      const all = (await listStored(earn.db)).days.length
      for (let change = 0; change < changesARound; change++) {
        const changed = await changeFacts(earn.db, random, history)
        const range = { from: random.int(0, 86_400), to: random.int(86_400, lengthSeconds * stretch) }
        const asked = { ...range, step: random.pick([900, 2_700, 3_600, 25_200, 86_400, 604_800, 1_000]) }
        const distributorId = random.pick(['acme', 'beta'])
        const stale = await ask(asked, distributorId)
        seen.marked += all - Number((await listStored(earn.db)).unmarked)
        await count(history)
        const again = await listStored(earn.db)
        const fresh = await ask(asked, distributorId)
        await forget()
        const exact = await ask(asked, distributorId)
        const told = `round ${round}, ${changed}`
        expect(stale, told).toEqual(exact)
        expect(fresh, told).toEqual(exact)
        await count(history)
        expect(await listStored(earn.db), told).toEqual(again)
        seen.answers += 1
        seen.days += again.days.length
        seen.unguarded += exact.usdDays.unguardedSeconds > 0 ? 1 : 0
        seen.unpriced += exact.usdDays.unpricedSeconds > 0 ? 1 : 0
        seen.staged += exact.usdDays.staged
      }
    }
    console.info(`stored USD-days beside the facts: ${JSON.stringify(seen)}`)
    for (const [what, number] of Object.entries(seen)) expect(number, what).toBeGreaterThan(5)
  })

  it('are read instead of the facts: what a stored sum says is served', async () => {
    const history = tellSimply()
    await writeHistory(earn.db, history)
    const before = await ask({ from, to, step: 900 })
    expect(await count(history)).toBe(false)
    expect(await ask({ from, to, step: 900 })).toEqual(before)
    await earn.db`update usd_day_sums set total = 0, cuts = '0x0' || repeat(' 0x0', 95)`
    const after = await ask({ from, to, step: 900 })
    // Two whole days of 200 US dollars are within the range.
    expect(Number(before.usdDays.total) - Number(after.usdDays.total)).toBeCloseTo(400, 9)
    // A stretch that ends within one of 900 s is counted by the facts.
    expect((await ask({ from, to, step: 1_000 })).usdDays).toEqual(before.usdDays)
  })

  it('stay as they were where counting them fails on the way, and what changed stays marked', async () => {
    const { db } = earn
    const history = tellSimply()
    await writeHistory(db, history)
    await count(history)
    const before = await listStored(db)
    await db`update vault_snapshots set price_usd = 3`
    await db`create function refuse_sums() returns trigger language plpgsql as $$ begin raise exception 'no more'; end $$`
    await db`create trigger refuse_sums before insert on usd_day_sums for each statement execute function refuse_sums()`
    const exact = await ask({ from, to, step: 900 })
    await expect(count(history)).rejects.toThrow('no more')
    expect(await ask({ from, to, step: 900 })).toEqual(exact)
    await db`drop function refuse_sums cascade`
    await count(history)
    expect(await ask({ from, to, step: 900 })).toEqual(exact)
    expect((await listStored(db)).days.length).toBe(before.days.length)
    expect(Number(exact.usdDays.total)).toBeGreaterThan(800)
  })

  it('are counted again once where the prices of two vaults follow from each other', async () => {
    const { db } = earn
    const { chains, vaults, ...rest } = tellSimply()
    const history = { ...rest, chains, vaults: vaults.flatMap((vault) => [vault, { ...vault, name: 'wide' }]) }
    await writeHistory(db, history)
    await count(history)
    const before = await listStored(db)
    const ids = (await db<{ id: number }[]>`select distinct vault_id as id from usd_days order by 1`).map(
      ({ id }) => id,
    )
    expect(ids).toHaveLength(2)
    for (const id of ids)
      await db`update usd_days set bases = ${ids.filter((each) => each !== id)} where vault_id = ${id}`
    await db`update vault_snapshots set price_usd = 3 where block_number = 2000`
    // Days before the change stay, and still name each other.
    expect(await count(history)).toBe(false)
    const again = await listStored(db)
    expect([again.days.length, Number(again.unmarked)]).toEqual([before.days.length, before.days.length])
  })

  it('are not served where a fact changes while they are counted, though it is told after them', async () => {
    const { db } = earn
    const history = tellSimply()
    await writeHistory(db, history)
    const other = openDatabase(db.settings.target)
    try {
      await other.begin(async (tx) => {
        await tx`update vault_snapshots set price_usd = 5 where block_number = 1000`
        // It is counted by what was true before, and stored.
        await count(history)
        expect((await listStored(db)).unmarked).toBeGreaterThan(0)
      })
      const stale = await ask({ from, to, step: 900 })
      await forget()
      expect(stale).toEqual(await ask({ from, to, step: 900 }))
      expect(Number(stale.usdDays.total)).toBeGreaterThan(600)
    } finally {
      await other.end()
    }
  })

  it.each([
    ['a rule that holds from another time on', "update rules_versions set holds_from = '2026-11-21' where version = 2"],
    ['another asset of a vault', "update vaults set asset = '0xee' where id = (select min(vault_id) from usd_days)"],
  ])('are counted again for %s', async (_what, statement) => {
    const history = tellSimply()
    await writeHistory(earn.db, history)
    await count(history)
    expect((await listStored(earn.db)).unmarked).toBeGreaterThan(0)
    const undo = await earn.db<{ id: number; asset: string }[]>`select id, asset from vaults`
    await earn.db.unsafe(statement)
    expect((await listStored(earn.db)).unmarked).toBe(0)
    for (const { id, asset } of undo) await earn.db`update vaults set asset = ${asset} where id = ${id}`
  })
})

describe('what is left beside stored days', () => {
  const day = 86_400_000
  it.each([
    [0, 3 * day, [], [[0, 3 * day]]],
    [
      5,
      3 * day + 7,
      [1, 2],
      [
        [5, day],
        [3 * day, 3 * day + 7],
      ],
    ],
    [
      0,
      3 * day,
      [1],
      [
        [0, day],
        [2 * day, 3 * day],
      ],
    ],
    [0, 2 * day, [0, 1], []],
    [9, 9, [], []],
  ])('from %i to %i beside %j is %j', (fromMs, toMs, days, rest) => {
    const spans = listRest(
      { fromMs, toMs },
      days.map((each) => ({ day: each })),
    )
    expect(spans.map((span) => [span.fromMs, span.toMs])).toEqual(rest)
  })
})
