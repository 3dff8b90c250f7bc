import type { Random } from '../simulation/random.js'
import {
  around,
  between,
  count,
  type Drawn,
  day,
  drawName,
  drawNames,
  fortune,
  hour,
  inTurn,
  type Month,
  minute,
  skewed,
  times,
} from './fifthDrawing.js'
import { drawCrowd, drawCustoms, drawHow, drawMarket, drawMoment, drawVault } from './fifthMarket.js'
import { monthSeconds, type TestVault } from './month.js'

/** Months that look odd and are honest: everyone's money is their own or really given, and really at work. */

const round = Math.round
const end = monthSeconds - hour
const batchHash = (random: Random) => `${drawName(random)}${'0'.repeat(24)}`
const others = (vaults: readonly TestVault[], vault: TestVault) => vaults.filter((one) => one !== vault)

function amidMarket(add: (drawn: Drawn) => void): (random: Random) => Month {
  return (random) => {
    const drawn = drawMarket(random)
    add(drawn)
    return drawn.month
  }
}

/** Bots that go where the yield is best, with all they have, some of them several times a day. */
function addBots({ month, random, vaults }: Drawn): void {
  const [pace, gap] = [skewed(random, hour, 3 * day), skewed(random, 15, 20 * minute)]
  for (const wallet of drawNames(random, count(random, 2, 60))) {
    const [own, jitter] = [around(random, pace, 0.5), between(random, 0.05, 0.9)]
    let [usd, vault] = [fortune(random, 12_000, 1.4), random.pick(vaults)]
    let at = drawMoment(random, 0, 12 * day)
    month.deposit({ at, vault, wallet, usd })
    for (;;) {
      const outAt = at + round(around(random, own, jitter))
      at = outAt + round(around(random, gap, 0.5))
      if (at >= end) break
      month.exit({ at: outAt, vault, wallet })
      vault = random.pick(others(vaults, vault))
      usd *= between(random, 0.9995, 1.0008)
      month.deposit({ at, vault, wallet, usd })
    }
  }
}

/** People who need their money after all, or who try it first. */
function addSameDayExits({ month, random, vaults }: Drawn): void {
  const customs = drawCustoms(random)
  const longest = between(random, 3 * hour, 16 * hour)
  for (const wallet of drawNames(random, count(random, 10, 250))) {
    const vault = random.pick(vaults)
    const usd = fortune(random, 900, 1.5)
    const at = drawMoment(random, 0, end - day)
    month.deposit({ at, vault, wallet, usd, ...drawHow(random, wallet, customs) })
    const outAt = at + round(skewed(random, 20 * minute, longest))
    month.exit({ at: outAt, vault, wallet, part: random.chance(0.7) ? 1 : between(random, 0.2, 0.95) })
    if (!random.chance(0.35)) continue
    const back = outAt + round(skewed(random, 2 * hour, 9 * day))
    month.deposit({ at: back, vault, wallet, usd: usd * skewed(random, 0.3, 6), ...drawHow(random, wallet, customs) })
  }
}

/** An exchange that deposits for its customers, each into a wallet of their own, one by one or in batches. */
function addExchange({ month, random, vaults }: Drawn): void {
  const [hot, target] = [drawName(random), random.chance(0.5) ? drawName(random) : '0xvault']
  const [middle, deviation] = [skewed(random, 30, 3_000), between(random, 0.8, 2)]
  const [of, leaving, returning] = [random.chance(0.5) ? 1 : random.int(5, 80), random.next() * 0.5, random.next()]
  const [vault, opens] = [random.pick(vaults), between(random, -40 * day, 12 * day)]
  let [hash, at] = [batchHash(random), 0]
  drawNames(random, count(random, 150, 10_000)).forEach((wallet, place) => {
    if (place % of === 0) {
      at = round(between(random, opens, end))
      hash = batchHash(random)
    }
    const usd = Math.max(1, fortune(random, middle, deviation))
    month.deposit({ at, vault, wallet, usd, sender: hot, target, hash })
    let last = Math.max(0, at)
    while (random.chance(leaving) && last < end - day) {
      last = drawMoment(random, last + hour, end)
      month.exit({ at: last, vault, wallet, part: random.chance(0.5) ? 1 : between(random, 0.05, 0.9), sender: hot })
      if (!random.chance(returning) || last > end - 2 * hour) continue
      last = drawMoment(random, last + hour, end + minute)
      month.deposit({ at: last, vault, wallet, usd: usd * skewed(random, 0.1, 3), sender: hot, target })
    }
  })
}

/** A new version of a vault: everybody moves, in a rush or over days, by a migrator or by hand. */
function addMigration(drawn: Drawn): void {
  const { month, random, vaults } = drawn
  const [old, next] = [random.pick(vaults), month.vault({ ...drawVault(random) })]
  if (random.chance(0.8)) Object.assign(next, { chainId: old.chainId, blockSeconds: old.blockSeconds })
  const [from, over] = [between(random, 6 * day, 18 * day), skewed(random, 2 * hour, 9 * day)]
  const [migrator, byHand, most] = [drawName(random), random.next(), between(random, 0.85, 1)]
  for (const { wallet, usd } of drawCrowd(drawn, old, count(random, 40, 900))) {
    if (!random.chance(most)) continue
    const at = drawMoment(random, from, from + over)
    month.exit({ at, vault: old, wallet })
    const isByHand = random.chance(byHand)
    const later = isByHand ? round(skewed(random, 40, 6 * hour)) : 0
    const target = isByHand ? '0xvault' : migrator
    month.deposit({ at: at + later, vault: next, wallet, usd: usd * between(random, 0.98, 1.01), target })
  }
}

/** The price falls and stays down; some leave, some buy. */
function addLoss(drawn: Drawn): void {
  const { month, random, vaults } = drawn
  const vault = random.pick(vaults)
  const [at, over] = [drawMoment(random, 3 * day, 26 * day), skewed(random, 60, 2 * day)]
  const depth = skewed(random, 0.01, 0.7)
  const before = vault.priceAt
  vault.priceAt = (second) => before(second) * (1 - depth * Math.min(1, Math.max(0, (second - at) / over)))
  const [leaving, adding] = [between(random, 0.05, 0.7), random.next() * 0.15]
  for (const { wallet, usd } of drawCrowd(drawn, vault, count(random, 30, 600))) {
    const then = at + round(skewed(random, 3 * minute, 6 * day))
    if (random.chance(leaving)) month.exit({ at: then, vault, wallet, part: random.chance(0.7) ? 1 : random.next() })
    else if (random.chance(adding)) month.deposit({ at: then, vault, wallet, usd: usd * skewed(random, 0.1, 2) })
  }
}

/** Givers who deposit for friends and family, each for some. */
function addGifts({ month, random, vaults }: Drawn): void {
  for (const giver of drawNames(random, count(random, 5, 120))) {
    const vault = random.pick(vaults)
    const usd = fortune(random, 150, 1.2)
    const isHolder = random.chance(0.6)
    const own = usd * between(random, 2, 60)
    if (isHolder) month.deposit({ at: -random.int(hour, 90 * day), vault, wallet: giver, usd: own })
    for (const wallet of drawNames(random, count(random, 1, 9))) {
      const at = drawMoment(random, day, end)
      const part = between(random, 0.01, 0.1)
      if (isHolder && random.chance(0.4)) month.exit({ at: at - hour, vault, wallet: giver, part })
      month.deposit({ at, vault, wallet, usd: around(random, usd, 0.5), sender: giver })
      if (random.chance(0.3)) month.exit({ at: at + round(skewed(random, hour, 20 * day)), vault, wallet })
    }
  }
}

/** One holder of millions, in pieces, who takes some out and puts some in as the business goes. */
function addWhale({ month, random, vaults }: Drawn): void {
  const [wallet, usd] = [drawName(random), skewed(random, 500_000, 90_000_000)]
  const pieces = random.int(1, 8)
  const from = random.chance(0.4) ? -random.int(day, 60 * day) : drawMoment(random, 0, 20 * day)
  const homes = times(pieces, (piece) => {
    const vault = random.pick(vaults)
    const at = from + piece * round(skewed(random, 2 * minute, 12 * hour))
    month.deposit({ at, vault, wallet, usd: around(random, usd / pieces, 0.6) })
    return vault
  })
  let at = Math.max(0, from) + 5 * day
  for (let acts = random.int(0, 14); acts > 0 && at < end; acts--) {
    const vault = random.pick(homes)
    if (random.chance(0.5)) month.exit({ at, vault, wallet, part: skewed(random, 0.02, 1) })
    else month.deposit({ at, vault, wallet, usd: usd * skewed(random, 0.01, 0.5) })
    at += round(skewed(random, 40 * minute, 7 * day))
  }
}

/** Wages into vaults, by the week, the fortnight or the month; some spend them at once, some save. */
function addPayroll({ month, random, vaults }: Drawn): void {
  for (let firms = random.int(1, 4); firms > 0; firms--) {
    const [payer, every, vault] = [drawName(random), random.pick([7, 14, 31]) * day, random.pick(vaults)]
    const [wage, spread, isBatch] = [skewed(random, 300, 9_000), between(random, 0, 0.6), random.chance(0.6)]
    const target = isBatch ? drawName(random) : '0xvault'
    const first = random.int(hour, Math.min(every, 12 * day))
    const staff = drawNames(random, count(random, 4, 450)).map((wallet) => ({
      ...{ wallet, pay: around(random, wage, spread), spends: random.next() },
    }))
    for (let payday = first; payday < end; payday += every) {
      const hash = batchHash(random)
      staff.forEach(({ wallet, pay, spends }, place) => {
        const at = isBatch ? payday : payday + place * random.int(5, 40)
        const paid = { at, vault, wallet, usd: pay, sender: payer, target }
        month.deposit(isBatch ? { ...paid, hash } : paid)
        const then = at + round(skewed(random, 30 * minute, 6 * day))
        if (random.chance(spends)) month.exit({ at: then, vault, wallet, part: random.chance(0.3) ? 1 : random.next() })
      })
    }
  }
}

/** A bad rumour: many leave within hours, and a part comes back when it was none. */
function addPanic(drawn: Drawn): void {
  const { month, random, vaults } = drawn
  const [at, over] = [drawMoment(random, 4 * day, 24 * day), skewed(random, 40 * minute, 2 * day)]
  const [leaving, returning] = [between(random, 0.25, 0.95), random.next() * 0.8]
  const calm = skewed(random, 2 * hour, 5 * day)
  for (const vault of vaults.slice(0, random.int(1, vaults.length))) {
    for (const { wallet, usd } of drawCrowd(drawn, vault, count(random, 30, 400))) {
      if (!random.chance(leaving)) continue
      const then = at + round(over * random.next() ** 2)
      month.exit({ at: then, vault, wallet, part: random.chance(0.8) ? 1 : between(random, 0.3, 0.95) })
      if (!random.chance(returning)) continue
      month.deposit({ at: then + round(around(random, calm, 0.9)), vault, wallet, usd: usd * between(random, 0.4, 1) })
    }
  }
}

/** A treasury that spreads what it has over wallets, equal or by purpose, and levels them now and then. */
function addTreasury({ month, random, vaults }: Drawn): void {
  const [owner, usd, isSelf] = [drawName(random), skewed(random, 50_000, 20_000_000), random.chance(0.5)]
  const [wallets, spread] = [drawNames(random, count(random, 2, 60)), random.pick([0, 0.05, 0.8])]
  const [from, apart] = [drawMoment(random, 0, 15 * day), skewed(random, 15, 4 * hour)]
  const homes = wallets.map((wallet, place) => {
    const [vault, part] = [inTurn(vaults, place), around(random, usd / wallets.length, spread)]
    const at = from + round(place * Math.min(apart, (5 * day) / wallets.length))
    month.deposit({ at, vault, wallet, usd: part, sender: isSelf ? wallet : owner })
    return { vault, wallet, part }
  })
  for (let at = from + 6 * day; at < end - 2 * hour; at += round(skewed(random, 2 * day, 15 * day))) {
    const [rich, poor, share] = [random.pick(homes), random.pick(homes), skewed(random, 0.02, 0.5)]
    if (rich === poor) continue
    month.exit({ at, vault: rich.vault, wallet: rich.wallet, part: share, sender: isSelf ? rich.wallet : owner })
    const later = at + round(skewed(random, 2 * minute, hour))
    const sender = isSelf ? poor.wallet : owner
    month.deposit({ at: later, vault: poor.vault, wallet: poor.wallet, usd: rich.part * share, sender })
  }
}

/** People who change to a new wallet, once: out of the old, into the new, the same sum. */
function addNewWallets(drawn: Drawn): void {
  const { month, random, vaults } = drawn
  for (const vault of vaults.slice(0, random.int(1, 3))) {
    for (const { wallet, usd } of drawCrowd(drawn, vault, count(random, 5, 90))) {
      const at = drawMoment(random, 5 * day, end - 6 * hour)
      const isBare = random.chance(0.15)
      month.exit({ at, vault, wallet, isBare })
      if (isBare) continue
      const later = at + round(skewed(random, 45, 5 * hour))
      month.deposit({ at: later, vault, wallet: drawName(random), usd: usd * between(random, 0.97, 1) })
    }
  }
}

/** Small savers with a standing order: the same sum by the day or the week. */
function addSavers({ month, random, vaults }: Drawn): void {
  const customs = drawCustoms(random)
  for (const wallet of drawNames(random, count(random, 20, 500))) {
    const [vault, every] = [random.pick(vaults), random.pick([1, 7, 7, 14])]
    const usd = random.pick([1, 5, 10, 20, 50, 100, 250])
    const clock = random.int(0, day)
    for (let at = clock; at < end; at += every * day + random.int(-20 * minute, 20 * minute)) {
      month.deposit({ at: Math.max(0, at), vault, wallet, usd, ...drawHow(random, wallet, customs) })
    }
    if (random.chance(0.2)) month.exit({ at: drawMoment(random, 6 * day, end), vault, wallet, part: random.next() })
  }
}

/** Firms that park their cash over nights or weekends, and need it in working hours. */
function addParkers({ month, random, vaults }: Drawn): void {
  for (const wallet of drawNames(random, count(random, 3, 40))) {
    const [vault, usd, isNightly] = [random.pick(vaults), fortune(random, 60_000, 1.2), random.chance(0.4)]
    const [evening, morning] = [between(random, 15, 21) * hour, between(random, 6, 10) * hour]
    // The month's second day is a Friday.
    for (let date = 1; date < 28; date += isNightly ? 1 : 7) {
      if (random.chance(0.15)) continue
      const at = date * day + round(around(random, evening, 0.04))
      const back = (date + (isNightly ? 1 : 3)) * day + round(around(random, morning, 0.1))
      month.deposit({ at, vault, wallet, usd: around(random, usd, 0.5) })
      month.exit({ at: back, vault, wallet, part: random.chance(0.8) ? 1 : between(random, 0.5, 0.98) })
    }
  }
}

/** A harvest: the price goes up at once and stays up, and people come for it. */
function addHarvest(drawn: Drawn): void {
  const { random, vaults } = drawn
  const vault = random.pick(vaults)
  const harvests = times(random.int(1, 4), () => {
    return { at: random.int(day, 30 * day), gain: skewed(random, 0.0005, 0.03) }
  })
  const before = vault.priceAt
  vault.priceAt = (second) =>
    harvests.reduce((price, { at, gain }) => (second < at ? price : price * (1 + gain)), before(second))
  const crowd = drawCrowd(drawn, vault, count(random, 30, 400))
  for (const { at } of harvests) {
    for (const { wallet, usd } of crowd) {
      const then = at + round(skewed(random, minute, 2 * day))
      if (random.chance(0.1)) drawn.month.deposit({ at: then, vault, wallet, usd: usd * skewed(random, 0.2, 2) })
    }
  }
}

export const habits: Record<string, (random: Random) => Month> = {
  rebalancingBots: amidMarket(addBots),
  sameDayExits: amidMarket(addSameDayExits),
  exchange: amidMarket(addExchange),
  migration: amidMarket(addMigration),
  loss: amidMarket(addLoss),
  gifts: amidMarket(addGifts),
  whale: amidMarket(addWhale),
  payroll: amidMarket(addPayroll),
  panic: amidMarket(addPanic),
  treasury: amidMarket(addTreasury),
  newWallets: amidMarket(addNewWallets),
  savers: amidMarket(addSavers),
  parkers: amidMarket(addParkers),
  harvest: amidMarket(addHarvest),
}
