import type { Random } from '../simulation/random.js'
import { monthSeconds, openMonth, type TestVault, walletOf } from './month.js'

/** Months by an outsider who knows nothing of the auditor: eight kinds of washing, and honest months that look odd. */
export const fourthSeeds = { washing: 417_093, honest: 860_251 }

export type Month = ReturnType<typeof openMonth>
type Manner = Pick<Parameters<Month['deposit']>[0], 'sender' | 'target' | 'attribution' | 'isReplayed' | 'hash'>
type Stay = { wallet: string; vault: TestVault; from: number; to: number; weight: number }
export type Drawn = { month: Month; random: Random; vaults: readonly TestVault[]; blockSeconds: number }

export const day = 86_400
const blockTimes: [number, number][] = [
  [1, 12],
  [1, 12],
  [8_453, 2],
  [10, 2],
  [130, 1],
  [42_161, 0.25],
]
export const chains = blockTimes.map(([chainId, blockSeconds]) => ({ chainId, blockSeconds }))

export const between = (random: Random, low: number, high: number) => low + random.next() * (high - low)
/** Each order of magnitude is as likely as another. */
export const spread = (random: Random, low: number, high: number) => low * (high / low) ** random.next()
export const wholeSpread = (random: Random, low: number, high: number) => Math.round(spread(random, low, high))
export const delay = (random: Random, mean: number) => Math.ceil(-Math.log(1 - random.next()) * mean) + 1
const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
export const range = (count: number) => Array.from({ length: count }, (_, place) => place)
export const names = (name: string, count: number) => range(count).map((place) => walletOf(`${name} ${place}`))
export const hashFor = (name: string) => walletOf(`first ${name}`) + walletOf(`second ${name}`).slice(2, 26)
export const nameOf = (kind: string, random: Random) => `${kind} ${random.int(0, 1_000_000_000)}`
const usualFloor = (assetDecimals: number) => 10n ** BigInt(assetDecimals - 2)
export const some = <T>(random: Random, items: readonly T[], count: number): T[] =>
  items
    .map((item) => ({ item, by: random.next() }))
    .sort((a, b) => a.by - b.by)
    .map((one) => one.item)
    .slice(0, count)
export function drawUsd(random: Random): number {
  const usd = random.chance(0.03) ? spread(random, 50_000, 900_000) : spread(random, 15, 20_000)
  return random.chance(0.55) ? Number(usd.toPrecision(random.int(1, 3))) : usd
}
/** A second of a day; more by day than by night, in the time zone given as a part of a day. */
export const drawSecond = (random: Random, zone: number) =>
  Math.floor((((random.next() + random.next() + random.next()) / 3 + zone) % 1) * day)

function drawPrice(random: Random): (second: number) => number {
  const [first, yearly] = [random.chance(0.3) ? 1 : between(random, 1, 1.6), spread(random, 0.005, 0.3)]
  const harvest = random.pick([1, 1, 60, 3_600, day / 3, day, 7 * day])
  const wave = random.chance(0.4) ? spread(random, 0.00001, 0.0006) : 0
  const period = between(random, 4 * 3_600, 9 * day) / (2 * Math.PI)
  const grownAt = (second: number) => (yearly * Math.floor(second / harvest) * harvest) / (365 * day)
  return (second) => first * (1 + grownAt(second) + wave * Math.sin(second / period))
}
export function drawVault(month: Month, random: Random, chain: Pick<TestVault, 'chainId' | 'blockSeconds'>): TestVault {
  const assetDecimals = random.pick([6, 6, 6, 18, 18, 8])
  const snapshotSeconds = random.pick([900, 1_800, 3_600, 3_600, 3_600, 14_400])
  const [lpFloor, priceAt] = [usualFloor(assetDecimals), drawPrice(random)]
  return month.vault({ ...chain, assetDecimals, snapshotSeconds, lpFloor, priceAt })
}
/** An honest base: vaults with growth, and people who deposit, top up, leave. */
export function drawMarket(random: Random, of: { vaults?: number; people?: number } = {}): Drawn {
  const [month, chain] = [openMonth(), random.pick(chains)]
  const chainOf = (place: number) => (place > 0 && random.chance(0.2) ? random.pick(chains) : chain)
  const vaults = range(of.vaults ?? random.int(1, 7)).map((place) => drawVault(month, random, chainOf(place)))
  const drawn = { month, random, vaults, blockSeconds: chain.blockSeconds }
  for (const place of range(of.people ?? wholeSpread(random, 40, 1_200))) live(drawn, `person ${place}`)
  return drawn
}
function live({ month, random, vaults }: Drawn, name: string) {
  const [wallet, vault, usd] = [walletOf(name), random.pick(vaults), drawUsd(random)]
  const attribution: 'signed' | 'unsigned' = random.chance(0.94) ? 'signed' : 'unsigned'
  const sender = random.chance(0.06) ? walletOf(`${name} owner`) : wallet
  const [by, out] = [
    { vault, wallet, attribution, sender },
    { vault, wallet, sender },
  ]
  const at = random.chance(0.45) ? -1 : random.int(0, 30) * day + drawSecond(random, random.next())
  const [since, part] = [Math.max(at, 0), between(random, 0.05, 0.7)]
  // Some try with a few dollars first.
  const isTrying = at > 8_000 && usd > 100 && random.chance(0.1)
  if (isTrying) month.deposit({ ...by, at: at - random.int(90, 7_200), usd: random.int(1, 20) })
  month.deposit({ ...by, at, usd })
  const pace = random.chance(0.08) ? random.pick([7, 14]) * day : monthSeconds
  const saved = Math.round(clamp(usd * between(random, 0.02, 0.2), 5, 2_000))
  const add = (second: number, dollars: number) => month.deposit({ ...by, at: second, usd: dollars })
  for (let next = since + pace; next < monthSeconds; next += pace) add(next + random.int(0, 900), saved)
  const more = range(random.pick([0, 0, 0, 1, 3]))
  for (const _ of more) add(random.int(since, monthSeconds), usd * spread(random, 0.05, 1.5))
  if (random.chance(0.25)) month.exit({ ...out, at: random.int(since + 600, monthSeconds + 600), part })
  if (!random.chance(0.25)) return
  // Some change their minds at once.
  const left = since + 120 + delay(random, random.chance(0.1) ? 3_600 : spread(random, day, 15 * day))
  month.exit({ ...out, at: left })
  const next = random.pick(vaults)
  if (!random.chance(0.3) || next === vault) return
  month.deposit({ ...by, vault: next, at: left + random.int(30, 2 * day), usd: usd * between(random, 0.3, 1) })
}
/** Puts the money of the stays in and out, sized so that it adds up to `usdDays`. */
function put(drawn: Drawn, of: { usdDays: number; stays: readonly Stay[]; manner?: (place: number) => Manner }) {
  const lasting = ({ from, to }: Stay) => Math.max(0, Math.min(to, monthSeconds) - Math.max(from, 0))
  const total = of.stays.reduce((sum, stay) => sum + stay.weight * lasting(stay), 0)
  const digits = drawn.random.pick([3, 15, 15])
  for (const [place, { wallet, vault, from, to, weight }] of of.stays.entries()) {
    const usd = Number(((weight * of.usdDays * day) / total).toPrecision(digits))
    const by: Manner = of.manner?.(place) ?? {}
    drawn.month.deposit({ at: from, vault, wallet, usd, ...by })
    if (to < monthSeconds) drawn.month.exit({ at: to, vault, wallet, sender: by.sender ?? wallet })
  }
}
/** Stays that begin before some of the marks at multiples of `every`, and end after them. */
function drawAround(random: Random, of: { every: number; turns: number; before: number; after: number }) {
  const marks = range(Math.floor(monthSeconds / of.every) - 1).map((place) => (place + 1) * of.every)
  return some(random, marks, of.turns).map((mark) => ({
    from: mark - Math.max(1, Math.round(of.before * between(random, 0.5, 1.3))),
    to: mark + Math.max(1, Math.round(of.after * between(random, 0.6, 1.3))),
  }))
}
/** Short stays one after another: all month, or in sessions on some days; sometimes by the clock. */
function drawShort(random: Random, { turns, hold }: { turns: number; hold: number }) {
  const isAllMonth = random.chance(0.5)
  const days = isAllMonth ? 31 : clamp(random.int(2, 25), Math.ceil((turns * hold * 1.6) / day), 31)
  const perDay = Math.ceil(turns / days)
  const step = Math.min(day / perDay, isAllMonth ? day : hold * between(random, 1.35, 6))
  const jitter = random.chance(0.3) ? 0 : Math.max(0, step - 1.3 * hold)
  return some(random, range(31), days).flatMap((date) => {
    const first = date * day + random.next() * (day - perDay * step)
    const starts = range(perDay).map((place) => Math.floor(first + place * step + random.next() * jitter))
    return starts.map((from) => ({ from, to: from + Math.ceil(hold * between(random, 0.7, 1.2)) }))
  })
}
/** In and out within blocks or minutes; some around the snapshots. */
function churn(drawn: Drawn, usdDays: number) {
  const [random, vault] = [drawn.random, drawn.random.pick(drawn.vaults)]
  const [isAtSnapshots, every] = [random.chance(0.33), vault.snapshotSeconds]
  const most = isAtSnapshots ? Math.floor((0.95 * monthSeconds) / every) : 3_900
  const wished = spread(random, Math.max(5, 2 * vault.blockSeconds), 330)
  const turns = clamp(Math.round((usdDays * day) / (wished * spread(random, 30_000, 3_000_000))), 20, most)
  const hold = clamp((usdDays * day) / (turns * 6_000_000), wished, 330)
  const before = hold * between(random, 0.2, 0.8)
  const around = { every, turns, before, after: hold - before }
  const times = isAtSnapshots ? drawAround(random, around) : drawShort(random, { turns, hold })
  const [wallets, noise] = [names(nameOf('churner', random), random.int(1, 6)), random.pick([0, 0.01, 0.4])]
  const last = ({ from, to }: { from: number; to: number }) => Math.max(to, from + Math.ceil(vault.blockSeconds))
  const mine = () => ({ vault, wallet: random.pick(wallets), weight: between(random, 1 - noise, 1 + noise) })
  put(drawn, { usdDays, stays: times.map((time) => ({ ...time, to: last(time), ...mine() })) })
}
/** The same money goes from wallet to wallet. */
function passOn(drawn: Drawn, usdDays: number, wallets: readonly string[]) {
  const { random, vaults } = drawn
  const [first, end, home] = [random.int(0, 6 * day), monthSeconds - random.int(1, 5 * day), random.pick(vaults)]
  const rest = Math.min(spread(random, 1_800, 4 * day), (end - first) / (2.5 * wallets.length))
  const gap = spread(random, Math.max(2, drawn.blockSeconds), 2_400)
  const [roaming, splitting, fee] = [
    [0, 0, 0.4],
    [0, 0, 0.3],
    [0, 0.0005, 0.003],
  ].map((of) => random.pick(of))
  let [at, weight] = [random.chance(0.25) ? -1 : first, 1]
  const stays: Stay[] = []
  for (let turn = 0; at < end; turn += 1) {
    const to = Math.min(Math.max(at, 0) + Math.ceil(rest * between(random, 0.5, 1.5)), monthSeconds - 1)
    const wallet = wallets[turn % wallets.length] ?? random.pick(wallets)
    const stay = { wallet, vault: random.chance(roaming ?? 0) ? random.pick(vaults) : home, to }
    const cut = at >= 0 && random.chance(splitting ?? 0) ? between(random, 0.2, 0.8) : 1
    stays.push({ ...stay, from: at, weight: weight * cut })
    const later = Math.min(at + random.int(15, 600), to - 1)
    if (cut < 1) stays.push({ ...stay, from: later, weight: weight * (1 - cut) })
    weight *= 1 - (fee ?? 0) * random.next()
    at = to + Math.ceil(Math.max(drawn.blockSeconds, gap * between(random, 0.3, 1.7)))
  }
  put(drawn, { usdDays, stays })
}
function passInGroups(drawn: Drawn, usdDays: number, size: number) {
  const groups = drawn.random.pick([1, 1, 2, 4])
  for (const _ of range(groups)) passOn(drawn, usdDays / groups, names(nameOf('passer', drawn.random), size))
}
/** Signatures of earlier deposits serve for further ones, of the same wallets or of others. */
function replay(drawn: Drawn, usdDays: number) {
  const [{ month, random, vaults }, name] = [drawn, nameOf('replayer', drawn.random)]
  const draw = (wallet: string) => ({ at: random.int(0, 9 * day), vault: random.pick(vaults), wallet })
  const originals = names(name, random.int(1, 4)).map(draw)
  for (const original of originals) month.deposit({ ...original, usd: drawUsd(random) })
  const [isOwn, isServed, server] = [random.chance(0.5), random.chance(0.3), walletOf(`${name} server`)]
  const end = random.chance(0.5) ? monthSeconds : random.int(28 * day, monthSeconds)
  const stays = range(wholeSpread(random, 2, 300)).map((place) => {
    const { at, vault, wallet } = random.pick(originals)
    const from = at + wholeSpread(random, 30, 18 * day)
    const to = isOwn || random.chance(0.5) ? end : from + wholeSpread(random, 3_600, 20 * day)
    const stay = { wallet, vault, from, to, weight: spread(random, 1, 20) }
    const other = random.pick([vault, vault, random.pick(vaults)])
    return isOwn ? stay : { ...stay, wallet: walletOf(`${name} other ${place}`), vault: other }
  })
  const senderOf = (place: number) => (isServed ? server : (stays[place]?.wallet ?? server))
  const by: Manner = { attribution: 'unsigned', isReplayed: true }
  put(drawn, { usdDays, stays, manner: (place) => ({ ...by, sender: senderOf(place) }) })
}
/** One sender pays for many wallets; in batches through a contract, or one after another. */
function payForMany(drawn: Drawn, usdDays: number) {
  const [random, name] = [drawn.random, nameOf('paid', drawn.random)]
  const batch = random.chance(0.5) ? random.int(4, 60) : 1
  const target = batch > 1 || random.chance(0.3) ? walletOf(`${name} contract`) : '0xvault'
  const [wallets, few] = [names(name, wholeSpread(random, 15, 900)), some(random, drawn.vaults, random.int(1, 3))]
  const [first, days, batches] = [random.int(0, 8 * day), spread(random, 0.02, 14), Math.ceil(wallets.length / batch)]
  const [unlike, jitter] = [random.pick([1, 1.02, 1.5, 15]), random.pick([0, 0.2, 1])]
  const [leaving, end] = [random.pick([0, 0.3, 1]), random.int(Math.ceil(first + (days + 2) * day), monthSeconds)]
  const starts = range(batches).map((place) => first + ((place + jitter * random.next()) * days * day) / batches)
  const stays = wallets.map((wallet, place) => {
    const from = Math.floor(starts[Math.floor(place / batch)] ?? first)
    const to = random.chance(leaving) ? end + Math.floor(place * between(random, 2, 20)) : monthSeconds
    return { wallet, vault: random.pick(few), from, to, weight: spread(random, 1, unlike) }
  })
  const sender = walletOf(`${name} payer`)
  const hashOf = (place: number) => hashFor(`${name} batch ${Math.floor(place / batch)}`)
  put(drawn, { usdDays, stays, manner: (place) => ({ sender, target, hash: hashOf(place) }) })
}
/** Crumbs in very many wallets. */
function scatter({ month, random, vaults }: Drawn, usdDays: number) {
  const [vault, floorUsd] = [random.pick(vaults), random.chance(0.4) ? 0.01 : spread(random, 0.02, 1)]
  vault.lpFloor = (usualFloor(vault.assetDecimals) * BigInt(Math.round(floorUsd * 10_000))) / 100n
  const [least, most] = [floorUsd * between(random, 0.1, 0.6), floorUsd * between(random, 0.7, 0.98)]
  const [first, days] = [random.int(0, 4 * day), spread(random, 0.1, 10)]
  const count = clamp(Math.ceil((usdDays * 2) / ((least + most) * (31 - first / day - days / 2))), 1, 10_000)
  const [name, payers] = [nameOf('crumb', random), names(nameOf('payer', random), random.pick([0, 0, 1, 1, 7]))]
  const [isEven, leaving] = [random.chance(0.3), random.pick([0, 0, 0.1, 0.35])]
  for (const [place, wallet] of names(name, count).entries()) {
    const sender = payers.length > 0 ? random.pick(payers) : wallet
    const at = Math.floor(first + ((place + random.next()) / count) * days * day)
    month.deposit({ at, vault, wallet, sender, usd: isEven ? (least + most) / 2 : between(random, least, most) })
    if (random.chance(leaving)) month.exit({ at: random.int(25 * day, monthSeconds - 1), vault, wallet, sender })
  }
}
/** Snapshots with too high a share price, with the cheat's money in around them. */
function stage(drawn: Drawn, usdDays: number) {
  const [random, vault] = [drawn.random, drawn.random.pick(drawn.vaults)]
  const [run, every] = [random.pick([1, 1, 1, 2, 3]), vault.snapshotSeconds]
  const slots = Math.floor(monthSeconds / every / (run + 4))
  const wished = (usdDays * day) / (spread(random, 40_000, 2_000_000) * (run + 0.5) * every)
  const [gain, eager] = [spread(random, 0.012, 0.9), random.pick([0.05, 0.4, 0.9])]
  const wallets = names(nameOf('stager', random), random.pick([1, 1, 2, random.int(3, 6)]))
  const turns = clamp(Math.round(wished), 1, Math.min(slots, 140))
  const stays = some(random, range(slots), turns).flatMap((slot) => {
    const first = (slot * (run + 4) + 2) * every
    for (const place of range(run)) vault.spikes.set(first + place * every, 1 + gain * between(random, 0.8, 1.2))
    return wallets.map((wallet) => {
      const from = first - random.int(Math.ceil(vault.blockSeconds), Math.ceil(eager * every))
      const to = first + (run - 1) * every + random.int(Math.ceil(0.3 * every), Math.ceil(1.8 * every))
      return { wallet, vault, from, to, weight: between(random, 0.7, 1.3) }
    })
  })
  put(drawn, { usdDays, stays })
}
/** In before the end of a quarter hour, an hour or a day, and out soon after it. */
function straddle(drawn: Drawn, usdDays: number) {
  const [random, vault] = [drawn.random, drawn.random.pick(drawn.vaults)]
  const every = random.pick([900, 3_600, day])
  const longest = Math.min(every / 6, 2_400)
  const before = spread(random, Math.max(6, vault.blockSeconds), longest)
  const after = spread(random, Math.max(6, 2 * vault.blockSeconds), longest)
  const wished = (usdDays * day) / ((before + after) * spread(random, 30_000, 3_000_000))
  const turns = clamp(Math.round(wished), 12, Math.floor(monthSeconds / every) - 1)
  const needed = (usdDays * day) / (turns * (before + after) * 8_000_000)
  const longer = clamp(needed, 1, longest / Math.max(before, after))
  const times = drawAround(random, { every, turns, before: before * longer, after: after * longer })
  const [wallets, noise] = [names(nameOf('straddler', random), random.int(1, 8)), random.pick([0, 0.02, 0.5])]
  const mine = () => ({ vault, wallet: random.pick(wallets), weight: between(random, 1 - noise, 1 + noise) })
  put(drawn, { usdDays, stays: times.map((time) => ({ ...time, ...mine() })) })
}
/** Eight kinds of washing; each adds about `usdDays` of washed money. */
export const ways: Record<string, (drawn: Drawn, usdDays: number) => void> = {
  churn,
  passToAndFro: (drawn, usdDays) => passInGroups(drawn, usdDays, 2),
  passRound: (drawn, usdDays) => passInGroups(drawn, usdDays, wholeSpread(drawn.random, 3, 14)),
  ...{ replay, payForMany, scatter, stage, straddle },
}
