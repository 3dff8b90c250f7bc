import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Earn, openEarn } from '../harness.js'
import { createRandom } from './random.js'
import { chainId, createYear, listRows, playYear, prepareYear, start, vaults } from './snapshotYear.js'

const day = 86_400
/** Measured by the US dollars of a share, so that a price that comes late makes a reading. */
const [sharePriced = '', navPriced = ''] = vaults

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn?.close())

type Value = { native: number; usd: number | null }
type Reading = { timestamp: string; priceUsd: string | null } & Record<string, unknown>
type Point = {
  timestamp: string
  blockNumber: number
  tvl?: Value
  sharePrice?: Value
  apy?: { base: number } | null
  apr?: { base: number }
  inputs?: { from: Reading; to: Reading }
}

const seconds = (timestamp: string) => Date.parse(timestamp) / 1000
const without = <T extends object>(value: T, ...names: string[]) =>
  JSON.stringify(Object.entries(value).filter(([name]) => !names.includes(name)))
const isFilled = <T>(before: T, now: T) => before === null || before === now

/** What may not be: a served point that is another one now, and neither was null nor has another reading. */
function findServedChange(before: Point, now: Point, known: (at: number) => boolean): string | undefined {
  if (before.blockNumber !== now.blockNumber) return 'another block'
  for (const name of ['tvl', 'sharePrice'] as const) {
    const [old, own] = [before[name], now[name]]
    if (old && (own?.native !== old.native || !isFilled(old.usd, own.usd))) return `another ${name}`
  }
  if (!before.inputs || !now.inputs) return undefined
  const { from, to } = now.inputs
  if (without(before.inputs.to, 'priceUsd') !== without(to, 'priceUsd')) return 'another last reading'
  if (before.inputs.from.timestamp === from.timestamp) {
    if (without(before.inputs.from, 'priceUsd') !== without(from, 'priceUsd')) return 'another first reading'
    return without(before, 'inputs') === without(now, 'inputs') ? undefined : 'another rate of the same readings'
  }
  if (seconds(from.timestamp) < seconds(before.inputs.from.timestamp)) return 'an older first reading'
  return known(seconds(from.timestamp)) ? 'a first reading that was known before' : undefined
}

it('serves over a year of reorganisations, gaps filled later and late prices each point as it was, but where it was null or a filled gap is its reading', async () => {
  const { db, clock } = earn
  await prepareYear(db)
  await db`update vaults set growth_sources = ${db.json([{ source: 'nav' }])} where address = ${navPriced}`
  await earn.ctx.catalogue.refresh()
  const key = await earn.key({ kind: 'publishable', hourlyUnits: 1_000_000_000 })
  const model = createYear()
  model.vaultAt = (address, { hash, timestamp }) => {
    const noise = BigInt(`0x${hash.slice(2, 10)}`) % 1_000n
    const growth = BigInt(timestamp - start) / (address === sharePriced ? 300n : 900n)
    return {
      totalAssets: 10n ** 12n + noise,
      totalSupply: 10n ** 12n,
      perShare: (shares) => (shares * (10n ** 9n + growth + noise)) / 10n ** 9n,
    }
  }
  const served = new Map<string, Point>()
  const counts = { looks: 0, points: 0, filledUsd: 0, otherReading: 0, rates: 0 }
  const wrong: string[] = []
  /** Readings there were at the last look, by vault; of the one measured in dollars only those with a price. */
  let known = new Map<string, Set<number>>()

  const ask = async (name: string, vault: string, startDate: string) => {
    const query = { startDate, apyInterval: 7 * day, ...(name === '' ? {} : { includeInputs: true }) }
    const params = { chainId, vaultAddress: vault }
    const { status, body } = await earn.call(`GetOpportunityHistorical${name}`, { params, query, key })
    expect([status, body.error]).toEqual([200, undefined])
    return body.data as Point[]
  }
  const compare = (vault: string, name: string, points: readonly Point[], startAt: number) => {
    const now = new Map(points.map((point) => [point.timestamp, point]))
    const buckets = new Map(points.map(({ timestamp }) => [Math.floor(seconds(timestamp) / day), seconds(timestamp)]))
    for (const [label, before] of served) {
      const [ownVault, ownName, timestamp = ''] = label.split(' ')
      if (ownVault !== vault || ownName !== `/${name}` || seconds(timestamp) < startAt) continue
      const point = now.get(timestamp)
      const isReplaced = (buckets.get(Math.floor(seconds(timestamp) / day)) ?? 0) > seconds(timestamp)
      const isKnown = (at: number) => known.get(name === 'APY' ? vault : `${vault} all`)?.has(at) === true
      const change = point ? findServedChange(before, point, isKnown) : isReplaced ? undefined : 'gone'
      if (change) wrong.push(`${label}: ${change}`)
      if (point?.tvl?.usd !== before.tvl?.usd) counts.filledUsd += 1
      if (point?.inputs && point.inputs.from.timestamp !== before.inputs?.from.timestamp) counts.otherReading += 1
    }
    for (const point of points) served.set(`${vault} /${name} ${point.timestamp}`, point)
    counts.points += points.length
  }
  let checks = 0
  const look = async () => {
    checks += 1
    if (checks % 4 > 0) return
    const rows = await listRows(db)
    const newest = Math.min(
      ...vaults.map((own) => Math.max(0, ...rows.filter(({ vault }) => vault === own).map(({ at }) => at))),
    )
    if (newest === 0) return
    // Asked when the newest snapshot is fresh: how late it may be is another test's.
    clock.set(new Date((newest + 60) * 1000))
    const startAt = Math.max(start, newest - 364 * day)
    const startDate = new Date(startAt * 1000).toISOString()
    for (const vault of [sharePriced, navPriced]) {
      const [base, apr, apy] = await Promise.all(['', 'APR', 'APY'].map((name) => ask(name, vault, startDate)))
      compare(vault, '', base ?? [], startAt)
      compare(vault, 'APR', apr ?? [], startAt)
      compare(vault, 'APY', apy ?? [], startAt)
      const rates = new Map(apy?.map((point) => [point.timestamp, point.apy]))
      for (const { timestamp, apy: own } of base ?? [])
        if (JSON.stringify(own) !== JSON.stringify(rates.get(timestamp) ?? null))
          wrong.push(`${vault} base at ${timestamp}`)
      counts.rates += rates.size
    }
    const later = rows.filter(({ at }) => at <= newest + 60)
    known = new Map(
      vaults.flatMap((own) => {
        const of = later.filter(({ vault }) => vault === own)
        const priced = of.filter(({ usd }) => own !== navPriced || usd !== null)
        return [
          [own, new Set(priced.map(({ at }) => at))],
          [`${own} all`, new Set(of.map(({ at }) => at))],
        ] as const
      }),
    )
    counts.looks += 1
  }
  const { changed, reorgs, gaps } = await playYear(db, createRandom(2), { model, isDeep: false, look })
  expect(changed).toEqual([])
  expect(wrong).toEqual([])
  expect(reorgs).toBeGreaterThan(3)
  expect(gaps).toBeGreaterThan(10)
  expect(counts.looks).toBeGreaterThan(15)
  expect(counts.rates).toBeGreaterThan(1_000)
  // What may change has changed in this year.
  expect(counts.filledUsd).toBeGreaterThan(5)
  expect(counts.otherReading).toBeGreaterThan(5)
}, 120_000)
