import type { Random } from '../simulation/random.js'
import {
  around,
  between,
  clamp,
  count,
  countDays,
  cut,
  type Drawn,
  day,
  drawName,
  drawNames,
  fortune,
  hour,
  inTurn,
  minute,
  type Span,
  type Stay,
  settle,
  skewed,
  some,
  times,
  walk,
} from './fifthDrawing.js'
import { drawMoment } from './fifthMarket.js'
import { monthSeconds, type TestVault, walletOf } from './month.js'

export type { Drawn, Month } from './fifthDrawing.js'
export { drawMarket } from './fifthMarket.js'

/** Months of a cheat: eight ways to have USD-days, LPs or TVL counted that are no real users' capital. */

export type Kind = 'churn' | 'passToAndFro' | 'passRound' | 'replay' | 'payForMany' | 'scatter' | 'stage' | 'straddle'

export const seeds = { washing: 5_219, honest: 8_464 }

/** How a cheat does it throughout: through which contract, in how many pieces, and with what standing money. */
function drawManner(random: Random) {
  const target = random.chance(0.3) ? drawName(random) : '0xvault'
  const attribution = random.chance(0.15) ? ('unsigned' as const) : ('signed' as const)
  const [pieces, bare] = [random.chance(0.5) ? between(random, 0, 0.4) : 0, random.chance(0.15) ? random.next() / 2 : 0]
  return { target, attribution, pieces, bare, covers: random.chance(0.35) ? random.next() : 0 }
}

type Manner = ReturnType<typeof drawManner>

function inManner(random: Random, stays: readonly Stay[], { target, attribution, pieces, bare }: Manner): Stay[] {
  return stays.flatMap((stay) => {
    const done = { ...stay, target, attribution, isBare: random.chance(bare) }
    return random.chance(pieces) ? cut(random, done, 3) : [done]
  })
}

/** Money that stands in some of the wallets the whole month, so that they look lived in: at most half the washing. */
function drawCovers(random: Random, stays: readonly Stay[], share: number): Stay[] {
  const firsts = new Map(stays.map((stay) => [stay.wallet, stay]))
  const covered = [...firsts.values()].filter(() => random.chance(share))
  const washed = stays.reduce((sum, stay) => sum + stay.weight * countDays(stay), 0)
  const each = (washed * skewed(random, 0.01, 0.3)) / (31 * covered.length)
  return covered.map(({ vault, wallet }) => {
    const inAt = -Math.round(skewed(random, hour, 90 * day))
    return { vault, wallet, inAt, outAt: monthSeconds, weight: around(random, each, 0.6), isCover: true }
  })
}

function settleInManner(drawn: Drawn, stays: readonly Stay[], usdDays: number): void {
  const { random } = drawn
  const manner = drawManner(random)
  const covers = drawCovers(random, stays, manner.covers)
  settle(drawn, [...covers, ...inManner(random, stays, manner)], usdDays)
}

function churn(drawn: Drawn, usdDays: number): void {
  const { random, vaults } = drawn
  const wallets = drawNames(random, count(random, 1, 14))
  const places = some(random, vaults, 3)
  const most = Math.ceil(count(random, 40, 900) / wallets.length)
  const [stay, gap] = [skewed(random, 1.5 * minute, 30 * minute), skewed(random, minute, 3 * hour)]
  const [jitter, pauses, spread] = [between(random, 0.05, 0.8), between(random, 0, 0.08), between(random, 0, 0.7)]
  const areBurnt = random.chance(0.2)
  const stays = wallets.flatMap((wallet) => {
    const from = between(random, 0, monthSeconds * 0.4)
    return walk(random, { from, most: Math.max(4, most), stay, gap, jitter, pauses }).map((span) => ({
      ...span,
      ...{ vault: random.pick(places), wallet: areBurnt ? drawName(random) : wallet },
      weight: around(random, 1, spread),
    }))
  })
  settleInManner(drawn, stays, usdDays)
}

/** The same money from wallet to wallet, in turn. */
function pass({ random, vaults }: Drawn, { wallets, size, skips }: { wallets: string[]; size: number; skips: number }) {
  const [isQuick, isFolded] = [random.chance(0.5), random.chance(0.15)]
  const stay = isQuick ? skewed(random, 15 * minute, 8 * hour) : skewed(random, 8 * hour, 2.5 * day)
  // Some do it in one go, by a contract: out and in within a block or two.
  const gap = isFolded ? between(random, 0, 15) : skewed(random, 30, 4 * hour)
  const [slip, jitter] = [between(random, 0, 0.04), between(random, 0.05, 0.6)]
  const most = Math.max(count(random, 10, 160), wallets.length * 3)
  const from = between(random, 0, 6 * day)
  const places = random.chance(0.3) ? some(random, vaults, 3) : [random.pick(vaults)]
  let [turn, weight] = [random.int(0, wallets.length - 1), size]
  return walk(random, { from, most, stay, gap, jitter, pauses: between(random, 0, 0.08) }).map((span): Stay => {
    turn += random.chance(skips) ? 2 : 1
    weight = clamp(around(random, weight, slip), size * 0.6, size * 1.4)
    return { ...span, vault: random.pick(places), wallet: inTurn(wallets, turn), weight }
  })
}

function passToAndFro(drawn: Drawn, usdDays: number): void {
  const { random } = drawn
  const stays = times(count(random, 1, 5), () => {
    return pass(drawn, { wallets: drawNames(random, 2), size: skewed(random, 0.3, 3), skips: 0 })
  })
  settleInManner(drawn, stays.flat(), usdDays)
}

function passRound(drawn: Drawn, usdDays: number): void {
  const { random } = drawn
  const skips = random.chance(0.25) ? between(random, 0, 0.1) : 0
  const stays = times(count(random, 1, 3), () => {
    return pass(drawn, { wallets: drawNames(random, random.int(3, 8)), size: skewed(random, 0.3, 3), skips })
  })
  settleInManner(drawn, stays.flat(), usdDays)
}

/** From a moment for about as long as wanted, or on past the month's end. */
function drawSpan(random: Random, { inAt, stay, keeps }: { inAt: number; stay: number; keeps: number }): Span {
  const out = Math.round(inAt + around(random, stay, 0.6))
  return { inAt, outAt: random.chance(keeps) || out >= monthSeconds ? monthSeconds : Math.max(out, inAt + minute) }
}

function replay(drawn: Drawn, usdDays: number): void {
  const { random, vaults } = drawn
  const wallets = drawNames(random, count(random, 1, 25))
  const [stay, keeps, deviation] = [skewed(random, 2 * hour, 22 * day), random.next() * 0.7, between(random, 0.05, 1.3)]
  const places = some(random, vaults, 4)
  const from = between(random, 0, 0.4) * monthSeconds
  const stays = times(count(random, 4, 160), (): Stay => {
    const inAt = drawMoment(random, from, monthSeconds - 12 * hour)
    const span = drawSpan(random, { inAt, stay, keeps })
    const wallet = random.pick(wallets)
    return { ...span, vault: random.pick(places), wallet, weight: fortune(random, 1, deviation), isReplayed: true }
  })
  // The deposit that the signature was made for, once and small, comes before them.
  const vault = random.pick(places)
  const signed = { vault, wallet: random.pick(wallets), weight: skewed(random, 0.001, 0.5), isCover: true }
  const inAt = random.chance(0.5) ? Math.floor(from * random.next()) : -Math.round(skewed(random, hour, 60 * day))
  const target = random.chance(0.3) ? drawName(random) : '0xvault'
  const replayed = stays.map((one) => ({ ...one, target }))
  settle(drawn, [{ ...signed, inAt, outAt: monthSeconds }, ...replayed], usdDays)
}

type Batches = { size: number; of: number; from: number; over: number }

/** Moments of batches: how many wallets are served at each, from one to some dozens. */
function drawBatches(random: Random, { size, of, from, over }: Batches) {
  const moments = times(Math.ceil(size / of), () => Math.floor(between(random, from, from + over)))
  return times(size, (place) => ({ inAt: inTurn(moments, Math.floor(place / of)), batch: Math.floor(place / of) }))
}

function payForMany(drawn: Drawn, usdDays: number): void {
  const { random, vaults } = drawn
  const [stay, keeps] = [skewed(random, 0.8 * day, 22 * day), random.pick([0, 0.3, 0.8, 1])]
  const size = clamp(count(random, 25, 1_500), 12, Math.max(12, Math.round((usdDays / stay) * day)))
  const [payer, disperser] = [drawName(random), random.chance(0.4) ? drawName(random) : '0xvault']
  const of = random.chance(0.5) ? 1 : Math.min(size, random.int(3, 60))
  const over = skewed(random, 3 * hour, 14 * day)
  const from = between(random, 0, monthSeconds - over - 2 * day)
  const [deviation, later] = [random.pick([0.01, 0.2, 0.6, 1.1]), random.chance(0.4) ? random.next() * 0.5 : 0]
  const [places, collects, salt] = [some(random, vaults, 3), random.next(), drawName(random)]
  const stays = drawBatches(random, { size, of, from, over }).flatMap(({ inAt, batch }): Stay[] => {
    const wallet = drawName(random)
    const span = drawSpan(random, { inAt, stay, keeps })
    const vault = inTurn(places, batch)
    const exitSender = random.chance(collects) ? payer : wallet
    const paid = { vault, wallet, sender: payer, target: disperser, exitSender }
    const first = { ...paid, ...span, weight: fortune(random, 1, deviation) }
    const once = of === 1 ? first : { ...first, hash: `${walletOf(`${salt} ${batch}`)}${'0'.repeat(24)}` }
    if (!random.chance(later)) return [once]
    const again = Math.round(between(random, inAt, span.outAt - minute / 2))
    return [once, { ...paid, inAt: again, outAt: span.outAt, weight: fortune(random, 0.5, deviation) }]
  })
  settle(drawn, stays, usdDays)
}

/** Dust is at most ten dollars a wallet: more than 9,000 wallets of that are not washed. */
function scatter(drawn: Drawn, usdDays: number): void {
  const { random, vaults } = drawn
  const over = skewed(random, 2 * hour, 16 * day)
  // With the most wallets and the most dust, it must be held so long.
  const least = (usdDays / 90_000) * day
  const from = Math.max(0, Math.min(between(random, 0, monthSeconds - over - 3 * day), monthSeconds - over - least))
  const left = (monthSeconds - from - over / 2) / day
  const days = random.chance(0.65) ? left : Math.min(Math.max(skewed(random, 0.5, 20), (least / day) * 1.2), left)
  const keeps = days === left ? 1 : 0
  const dust = Math.max(0.011, Math.min(skewed(random, 0.02, 4), usdDays / (25 * days)))
  const size = clamp(Math.round(usdDays / (dust * days)), 1, 9_000)
  const relayers = random.chance(0.4) ? drawNames(random, count(random, 3, 50)) : []
  const [spread, places] = [between(random, 0, 0.7), some(random, vaults, vaults.length)]
  const isAllOver = random.chance(0.3)
  const moments = times(size, () => Math.floor(between(random, from, from + over))).sort((a, b) => a - b)
  const wallets = drawNames(random, size)
  const stays = moments.flatMap((inAt, place): Stay[] => {
    const wallet = inTurn(wallets, place)
    const span = drawSpan(random, { inAt, stay: days * day, keeps })
    const sender = relayers.length > 0 ? random.pick(relayers) : wallet
    const at = isAllOver && size < 4_000 ? places : [random.pick(places)]
    return at.map((vault) => ({ ...span, vault, wallet, sender, weight: around(random, 1 / at.length, spread) }))
  })
  settle(drawn, stays, Math.min(usdDays, size * 10 * days))
}

/** Pushes a vault's price up for some snapshots from a place on, and tells the seconds that it is up. */
function push(random: Random, vault: TestVault, { factor, snapshots }: { factor: number; snapshots: number }): Span {
  const { snapshotSeconds, spikes } = vault
  const first = random.int(2, Math.floor(monthSeconds / snapshotSeconds) - snapshots - 3)
  for (let place = first; place < first + snapshots; place++) {
    spikes.set(place * snapshotSeconds, 1 + around(random, factor - 1, 0.08))
  }
  return { inAt: first * snapshotSeconds, outAt: (first + snapshots) * snapshotSeconds }
}

function stage(drawn: Drawn, usdDays: number): void {
  const { random, vaults } = drawn
  const places = some(random, vaults, 2)
  const wallets = drawNames(random, count(random, 1, 15))
  const [factor, longest] = [1 + skewed(random, 0.03, 2), count(random, 1, 12)]
  const [leaves, stay, deviation] = [random.next(), skewed(random, hour, 8 * day), between(random, 0.05, 0.9)]
  const stays = times(count(random, 1, 16), (): Stay[] => {
    const vault = random.pick(places)
    const up = push(random, vault, { factor, snapshots: random.int(1, longest) })
    const last = Math.min(up.outAt - 2 * minute, up.inAt + skewed(random, 5 * minute, up.outAt - up.inAt))
    return times(random.int(1, 6), () => {
      const inAt = Math.ceil(between(random, up.inAt + vault.blockSeconds + 1, last))
      const isOver = random.chance(leaves)
      const late = Math.ceil(between(random, inAt + minute, up.outAt - 1))
      const span = isOver ? { inAt, outAt: late } : drawSpan(random, { inAt, stay: stay + up.outAt - inAt, keeps: 0.1 })
      return { ...span, vault, wallet: random.pick(wallets), weight: fortune(random, 1, deviation) }
    })
  })
  settle(drawn, stays.flat(), usdDays)
}

type Bucket = { seconds: number; lead: [number, number]; most: [number, number] }

const buckets: Bucket[] = [
  { seconds: 900, lead: [15, 150], most: [60, 1_200] },
  { seconds: hour, lead: [20, 10 * minute], most: [40, 600] },
  { seconds: day, lead: [minute, 75 * minute], most: [12, 30] },
]

function straddleEnds({ random, vaults }: Drawn, { seconds, lead, most }: Bucket): Stay[] {
  const wallets = drawNames(random, count(random, 1, 12))
  const places = some(random, vaults, 3)
  const [before, after] = [skewed(random, ...lead), skewed(random, ...lead)]
  const [jitter, spread, areBurnt] = [between(random, 0.05, 0.7), between(random, 0, 0.6), random.chance(0.25)]
  const ends = Math.floor(monthSeconds / seconds) - 1
  const share = Math.min(1, count(random, ...most) / ends)
  const abreast = random.int(1, Math.min(3, wallets.length))
  return times(ends, (place) => (place + 1) * seconds)
    .filter((end) => end === seconds * 2 || random.chance(share))
    .flatMap((end, place) =>
      times(abreast, (lane): Stay => {
        const vault = random.pick(places)
        const wallet = areBurnt ? drawName(random) : inTurn(wallets, place * abreast + lane)
        const inAt = Math.floor(end - Math.max(5, around(random, before, jitter)))
        const outAt = Math.ceil(end + Math.max(vault.blockSeconds, around(random, after, jitter)))
        return { inAt, outAt, vault, wallet, weight: around(random, 1, spread) }
      }),
    )
}

function straddle(drawn: Drawn, usdDays: number): void {
  const { random } = drawn
  const kinds = random.chance(0.2) ? some(random, buckets, 2) : [random.pick(buckets)]
  const stays = kinds.flatMap((bucket) => straddleEnds(drawn, bucket))
  const manner = drawManner(random)
  const how = { target: manner.target, attribution: manner.attribution }
  const covers = drawCovers(random, stays, manner.covers)
  settle(drawn, [...covers, ...stays.map((one) => ({ ...one, ...how }))], usdDays)
}

export const ways: Record<Kind, (drawn: Drawn, usdDays: number) => void> = {
  ...{ churn, passToAndFro, passRound, replay, payForMany, scatter, stage, straddle },
}
