import { afterAll, beforeAll, expect, it } from 'vitest'
import { seeded } from '../../../test/catalogueWorld.js'
import {
  exactRate,
  type PlainQuery,
  type PlainSnapshot,
  type PlainVault,
  plainBase,
  plainFigures,
  plainRate,
  plainRates,
  relativeError,
} from '../../../test/history/recount.js'
import { type HistoryWorld, historyNow, iso, openHistoryWorld } from '../../../test/historyWorld.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

const vaultCount = 50
const queriesOfVault = 34
const random = seeded(20_261_120)

function randomVault(): PlainVault {
  const [assetDecimals, receiptDecimals] = [random.pick([0, 2, 6, 8, 18, 27]), random.pick([0, 6, 18, 36])]
  const gap = random.pick([60, 900, 3_600, 43_200])
  const snapshots: PlainSnapshot[] = []
  let price = 10n ** BigInt(assetDecimals + 12) + BigInt(random.integer(1_000_000_000))
  let [assets, supply] = [BigInt(1 + random.integer(1e9)) * 1_000n, 10n ** 9n]
  let at = historyNow - random.integer(100)
  for (let index = 0; index < 30 + random.integer(120); index++) {
    snapshots.unshift({
      at,
      block: 1_000_000 - index,
      assets,
      supply: random.chance(0.05) && index > 0 ? BigInt(random.integer(2_000)) : supply,
      price,
      exponent: receiptDecimals + 12,
      usd: random.chance(0.1) ? null : `0.${999_900_000_000 + random.integer(2 * gap)}`,
    })
    // Going back in time: mostly it has gained, at times it has lost; the longer, the more.
    price -= (price * BigInt((random.integer(2_000) - 800) * gap)) / 432_000_000_000n
    assets += BigInt(random.integer(1_000) - 500)
    at -= gap * (random.chance(0.1) ? 1 + random.integer(20) : 1)
  }
  const from = snapshots[10]?.at ?? 0
  const pauses = random.chance(0.3) ? [{ from, to: from + gap * (1 + random.integer(5)) }] : []
  const source = random.pick(['share-price', 'nav'] as const)
  return { snapshots, assetDecimals, receiptDecimals, dustFloor: 1_000n, source, pauses }
}

function randomQuery({ snapshots }: PlainVault): PlainQuery {
  const first = snapshots[0]?.at ?? historyNow
  const span = historyNow - first
  const oldest = historyNow - 365 * 86_400
  const start = Math.max(first - 3_600 + random.integer(span + 3_600), oldest)
  const end = random.chance(0.4) ? historyNow : start + random.integer(historyNow - start + 1)
  const step = Math.max(1, random.pick([61, 900, 3_600, 86_400, 604_800, 31_536_000]), Math.ceil((end - start) / 300))
  const apyInterval = random.pick([1, 900, 86_400, 604_800, 2_592_000, 7_776_000])
  return { startMs: start * 1000 + random.pick([0, 0, 500]), endMs: end * 1000 + 500, step, apyInterval }
}

it('5,100 random series are, as served, equal to the digit to a second implementation, losses among them', async () => {
  let [series, points, negative, worst] = [0, 0, 0, 0]
  for (let made = 0; made < vaultCount; made++) {
    const vault = randomVault()
    const { source, pauses, assetDecimals, receiptDecimals, snapshots } = vault
    const address = await world.vault({
      ...{ assetDecimals, receiptDecimals, snapshots },
      // Decides whether a range is read bucket by bucket or whole.
      interval: random.pick([60, 900, 86_400]),
      growthSources: [{ source }],
    })
    for (const { from, to } of pauses) await world.pause(address, from, to)
    for (let asked = 0; asked < queriesOfVault; asked++) {
      const query = randomQuery(vault)
      const { step, apyInterval } = query
      const range = { startDate: iso(query.startMs / 1000), endDate: iso(query.endMs / 1000), step, apyInterval }
      const [base, apr, apy] = await Promise.all(['', 'APR', 'APY'].map((name) => world.ask(name, address, range)))
      const label = JSON.stringify([address, range, apr?.body.error])
      expect(base?.body.data, label).toEqual(plainBase(vault, query))
      expect(apr?.body.data, label).toEqual(plainRates(vault, query, 'apr'))
      expect(apy?.body.data, label).toEqual(plainRates(vault, query, 'apy'))
      series += 3
      points += apr?.body.data.length
      negative += apr?.body.data.filter((point: { apr: { base: number } }) => point.apr.base < 0).length
      const kind = random.pick(['apr', 'apy'] as const)
      const found = plainRate(vault, query, Math.floor(query.endMs / 1000 / step), kind)
      if (!found) continue
      const [p0, p1] = plainFigures(found.from, found.to, kind === 'apr' ? 'share-price' : source)
      const exact = exactRate(p0, p1, found.to.at - found.from.at, kind)
      worst = Math.max(worst, relativeError(found.unrounded, exact))
    }
  }
  expect(series).toBeGreaterThanOrEqual(5_000)
  expect(points).toBeGreaterThan(5_000)
  expect(negative).toBeGreaterThan(500)
  expect(worst).toBeGreaterThan(0)
  expect(worst).toBeLessThan(4e-15)
}, 120_000)
