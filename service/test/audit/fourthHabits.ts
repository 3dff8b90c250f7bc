import type { Random } from '../simulation/random.js'
import {
  between,
  chains,
  type Drawn,
  day,
  delay,
  drawMarket,
  drawSecond,
  drawUsd,
  drawVault,
  hashFor,
  type Month,
  nameOf,
  names,
  range,
  some,
  spread,
  wholeSpread,
} from './fourthMonths.js'
import { monthSeconds, type TestVault, walletOf } from './month.js'

/** Honest months of the fourth set that look odd. */
/** Holders of a vault, most of them since before the month. */
function settle({ month, random }: Drawn, { vault, count, until }: { vault: TestVault; count: number; until: number }) {
  const draw = () => ({ vault, usd: drawUsd(random), at: random.chance(0.7) ? -1 : random.int(0, until) })
  const holders = names(nameOf('holder', random), count).map((wallet) => ({ wallet, ...draw() }))
  for (const holder of holders) month.deposit(holder)
  return holders
}
/** A bot that follows the best rate with its owner's money. */
function rebalancer(random: Random): Month {
  const { month, vaults } = drawMarket(random, { vaults: random.int(2, 7) })
  const [wallet, keeper] = [walletOf(nameOf('rebalanced', random)), walletOf(nameOf('keeper', random))]
  const by = { wallet, sender: random.pick([wallet, keeper, keeper]) }
  const shares = new Map<TestVault, number>()
  const enter = (at: number, vault: TestVault, usd: number) => {
    month.deposit({ ...by, at, vault, usd })
    shares.set(vault, (shares.get(vault) ?? 0) + usd / vault.priceAt(at))
  }
  let at = random.chance(0.6) ? -1 : random.int(0, 5 * day)
  const [usd, pace, isByClock] = [spread(random, 5_000, 2_000_000), spread(random, 1_200, 2 * day), random.chance(0.4)]
  for (const vault of some(random, vaults, random.int(1, 3))) enter(at, vault, usd * between(random, 0.3, 1))
  for (;;) {
    at = Math.max(at, 0) + Math.ceil(isByClock ? pace + random.int(0, 20) : 60 + delay(random, pace))
    if (at > monthSeconds - 700) return month
    const from = random.pick([...shares.keys()].filter((vault) => (shares.get(vault) ?? 0) > 1))
    const to = random.pick(vaults.filter((vault) => vault !== from))
    const [part, held] = [random.chance(0.4) ? 1 : between(random, 0.1, 0.9), shares.get(from) ?? 0]
    const value = held * part * from.priceAt(at) * between(random, 0.9985, 1)
    month.exit({ ...by, at, vault: from, part })
    shares.set(from, held * (1 - part))
    // Within one transaction on a chain; over a bridge it takes minutes.
    at += from.chainId === to.chainId ? random.pick([0, 0, Math.ceil(to.blockSeconds)]) : random.int(40, 600)
    enter(at, to, value)
  }
}
/** A rumour or a better rate elsewhere: many leave on one day, some come back. */
function sameDay(random: Random): Month {
  const drawn = drawMarket(random, { people: wholeSpread(random, 40, 500) })
  const [until, leaving] = [random.int(4 * day, 28 * day), between(random, 0.3, 0.95)]
  const [back, mean] = [random.pick([0, 0.1, 0.35]), spread(random, 1_200, 5 * 3_600)]
  const chosen = some(random, drawn.vaults, random.int(1, 3))
  const crowd = chosen.flatMap((vault) => settle(drawn, { vault, count: wholeSpread(random, 40, 900), until }))
  for (const { vault, wallet, usd: held } of crowd.filter(() => random.chance(leaving))) {
    const at = until + Math.min(delay(random, mean), random.int(60_000, day))
    drawn.month.exit({ at, vault, wallet, part: random.pick([1, 1, 1, 0.5, 0.9]) })
    const usd = held * between(random, 0.2, 1)
    if (random.chance(back)) drawn.month.deposit({ at: at + 900 + delay(random, 3 * day), vault, wallet, usd })
  }
  return drawn.month
}
/** An exchange that pays for its 10,000 customers from its own senders. */
function exchange(random: Random): Month {
  const { month, vaults } = drawMarket(random, { people: wholeSpread(random, 40, 400) })
  const [name, zone, old] = [nameOf('exchange', random), random.next(), between(random, 0.1, 0.6)]
  const [senders, router] = [names(`${name} sender`, random.int(3, 40)), walletOf(`${name} router`)]
  const [leaving, adding] = [between(random, 0.05, 0.35), between(random, 0.05, 0.3)]
  const target = random.pick([router, '0xvault'])
  for (const wallet of names(name, 10_000)) {
    const [vault, usd] = [random.pick(vaults), Math.ceil(spread(random, 5, 12_000) * 100) / 100]
    const by = () => ({ vault, wallet, sender: random.pick(senders) })
    const at = random.chance(old) ? -1 : random.int(0, 30) * day + drawSecond(random, zone)
    month.deposit({ ...by(), at, usd, target })
    const later = () => Math.max(at, 0) + 600 + delay(random, 10 * day)
    if (random.chance(adding)) month.deposit({ ...by(), at: later(), usd: usd * spread(random, 0.1, 3), target })
    if (random.chance(leaving)) month.exit({ ...by(), at: later(), part: random.pick([1, 1, random.next()]) })
  }
  return month
}
/** A vault closes, and its people go to its successor. */
function migration(random: Random): Month {
  const drawn = drawMarket(random, { people: wholeSpread(random, 30, 600) })
  const [month, chain] = [drawn.month, random.pick(chains)]
  const [old, next] = [drawVault(month, random, chain), drawVault(month, random, chain)]
  const [until, mean] = [random.int(2 * day, 24 * day), spread(random, 2 * 3_600, 4 * day)]
  const [target, lost] = [walletOf(nameOf('migrator', random)), between(random, 0, 0.15)]
  const byMigrator = random.pick([0, 0.5, 0.95])
  for (const holder of settle(drawn, { vault: old, count: wholeSpread(random, 50, 2_500), until })) {
    const [{ wallet }, at] = [holder, until + delay(random, mean)]
    month.exit({ at, vault: old, wallet })
    if (random.chance(lost)) continue
    const usd = (holder.usd * old.priceAt(at)) / old.priceAt(holder.at)
    const share = random.pick([1, 1, between(random, 0.3, 1.5)])
    const own = { at: at + wholeSpread(random, 20, day), usd: usd * share, target: '0xvault' }
    month.deposit({ vault: next, wallet, ...(random.chance(byMigrator) ? { at, usd, target } : own) })
  }
  return month
}
/** A vault loses money for good: many flee, some come back. */
function loss(random: Random): Month {
  const drawn = drawMarket(random, { people: wholeSpread(random, 40, 900) })
  const [vault, fall] = [random.pick(drawn.vaults), random.int(3 * day, 25 * day)]
  const before = { ...vault }
  const falls = range(random.int(1, 3)).map((place) => fall + place * random.int(600, 12 * 3_600))
  const steps = falls.map((at) => ({ at, left: 1 - spread(random, 0.008, 0.4) }))
  const leftAt = (second: number) => steps.reduce((left, step) => (second >= step.at ? left * step.left : left), 1)
  vault.priceAt = (second) => before.priceAt(second) * leftAt(second)
  const [leaving, back, mean] = [between(random, 0.3, 0.9), between(random, 0.05, 0.5), spread(random, 1_800, 2 * day)]
  const crowd = settle(drawn, { vault, count: wholeSpread(random, 50, 1_500), until: fall - day })
  for (const { wallet, usd } of crowd.filter(() => random.chance(leaving))) {
    const at = random.chance(0.04) ? fall - random.int(30, day / 2) : fall + delay(random, mean)
    drawn.month.exit({ at, vault, wallet, part: random.pick([1, 1, 1, 0.5]) })
    const again = { at: at + day / 4 + delay(random, 4 * day), usd: usd * leftAt(at) * between(random, 0.2, 1) }
    if (random.chance(back)) drawn.month.deposit({ ...again, vault, wallet })
  }
  return drawn.month
}
/** An employer pays wages into its people's vault accounts, who take out their rent and groceries. */
function payday(random: Random): Month {
  const { month, vaults } = drawMarket(random, { people: wholeSpread(random, 40, 500) })
  const [name, vault, isOneBatch] = [nameOf('employer', random), random.pick(vaults), random.chance(0.6)]
  const by = { vault, sender: walletOf(`${name} payroll`), target: walletOf(`${name} contract`) }
  const [pace, first] = [random.pick([7, 14, 31]) * day, random.int(0, 6) * day + random.int(6, 20) * 3_600]
  for (const [place, wallet] of names(name, wholeSpread(random, 15, 900)).entries()) {
    const [wage, own] = [(spread(random, 1_200, 14_000) * pace) / (31 * day), isOneBatch ? 0 : place]
    if (random.chance(0.5)) month.deposit({ at: -1, vault, wallet, usd: wage * spread(random, 0.1, 6) })
    for (let at = first; at < monthSeconds; at += pace) {
      month.deposit({ ...by, at: at + own * 14, wallet, usd: wage, hash: hashFor(`${name} ${at} ${own}`) })
      const [out, part] = [at + 15_000 + delay(random, 2 * day), Math.min(1, spread(random, 0.1, 1.4))]
      if (random.chance(0.8)) month.exit({ at: out, vault, wallet, part })
    }
  }
  return month
}
/** Shops whose takings earn overnight and over the weekend, and pay suppliers in the morning. */
function nightTill(random: Random): Month {
  const { month, vaults } = drawMarket(random)
  for (const wallet of names(nameOf('shop', random), wholeSpread(random, 2, 40))) {
    const [vault, takings, spoiled] = [random.pick(vaults), spread(random, 300, 80_000), between(random, 0, 0.2)]
    const [opens, closes] = [random.int(5, 9) * 3_600, random.int(16, 22) * 3_600 + random.pick([0, 900, 1_800])]
    const [jitter, part] = [random.pick([5, 300, 2_400]), random.pick([1, 1, between(random, 0.7, 0.99)])]
    // The month's first day is a Thursday: its second one is a Friday.
    for (const date of range(31).filter((place) => place % 7 !== 2 && place % 7 !== 3 && !random.chance(spoiled))) {
      const usd = Math.round(takings * between(random, 50, 160)) / 100
      month.deposit({ at: date * day + closes + random.int(0, jitter), vault, wallet, usd })
      const morning = (date + (date % 7 === 1 ? 3 : 1)) * day
      month.exit({ at: morning + opens + random.int(0, jitter), vault, wallet, part })
    }
  }
  return month
}
const asked = { rebalancer, sameDay, exchange, migration, loss }
/** Honest months that look odd. */
export const habits: Record<string, (random: Random) => Month> = { ...asked, payday, nightTill }
