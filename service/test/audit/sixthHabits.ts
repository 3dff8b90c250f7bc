import type { Random } from '../simulation/random.js'
import { monthSeconds, openMonth, type TestVault } from './month.js'
import {
  about,
  anySecond,
  between,
  day,
  drawCrowd,
  drawVaults,
  hour,
  type Month,
  minute,
  names,
  openPlan,
  type Plan,
  people,
  some,
  wait,
  wide,
  wideInt,
  writePlan,
} from './sixthPlan.js'

/** Months that look odd and are honest: people hold their own money, or that of their customers. */

type Honest = { random: Random; plan: Plan; vaults: TestVault[]; crowd: string[]; median: number }

/** A market of a few or of many people, in which something more is done. */
function draw(random: Random, doMore: (honest: Honest) => void): Month {
  const month = openMonth()
  const vaults = drawVaults(month, { random, count: random.int(2, 7) })
  const [plan, median] = [openPlan(), wide(random, 150, 8_000)]
  const crowd = drawCrowd(plan, { random, vaults, count: wideInt(random, 15, 500), median })
  doMore({ random, plan, vaults, crowd, median })
  writePlan(month, plan)
  return month
}

const named = (random: Random, of: string) => random.pick(names(random, { of, count: 1 }))
const after = (at: number, later: number) => Math.max(0, at) + later

/** A vault, and another. */
function twoOf(random: Random, vaults: TestVault[]): [TestVault, TestVault] {
  const from = random.pick(vaults)
  return [from, random.pick(vaults.filter((vault) => vault !== from))]
}

/** Bots that keep their own money in the better of some vaults, and move all or part of it as yields change. */
function rebalancers({ random, plan, vaults }: Honest): void {
  for (const wallet of names(random, { of: 'bot', count: wideInt(random, 1, 15) })) {
    const [usd, begun] = [wide(random, 2_000, 3_000_000), random.pick(vaults)]
    const [every, pause, whole] = [wide(random, 25 * minute, 4 * day), wide(random, 5, 40 * minute), random.next()]
    const inside = new Map([[begun, usd]])
    let at = random.chance(0.5) ? -random.int(hour, 30 * day) : between(random, 0, 8 * day)
    plan.put({ at, vault: begun, wallet, usd })
    const step = () => after(at, every * 0.2 + wait(random, every * 0.8))
    for (at = step(); at < monthSeconds - hour; at = step()) {
      const [vault, next] = twoOf(random, vaults)
      const money = inside.get(vault) ?? 0
      if (money < usd / 100) continue
      const part = random.chance(whole) ? 1 : between(random, 0.2, 0.9)
      plan.take({ at, vault, wallet, part })
      at += Math.max(pause * wide(random, 0.5, 2), 2 * vault.blockSeconds)
      const moved = money * part * between(random, 0.9985, 1)
      plan.put({ at, vault: next, wallet, usd: moved })
      inside.set(vault, money * (1 - part)).set(next, (inside.get(next) ?? 0) + moved)
    }
  }
}

/** People who change their minds, or need the money, on the day that they came. */
function sameDay({ random, plan, vaults, median }: Honest): void {
  for (const wallet of names(random, { of: 'brief', count: wideInt(random, 4, 150) })) {
    for (let times = random.chance(0.15) ? random.int(2, 3) : 1; times > 0; times -= 1) {
      const [at, vault] = [anySecond(random), random.pick(vaults)]
      plan.put({ at, vault, wallet, usd: people(random, median) })
      plan.take({ at: at + wide(random, 4 * minute, 20 * hour), vault, wallet })
    }
  }
}

/** An exchange that puts each customer's money into a wallet of theirs, and takes it out when they ask. */
function exchange({ random, plan, vaults }: Honest): void {
  const [sender, target] = [named(random, 'exchange'), named(random, 'exchange contract')]
  const [median, leaving, before] = [wide(random, 15, 1_500), random.next() * 0.5, random.next() * 0.9]
  const homes = some(random, { of: vaults, count: random.int(1, 3) })
  const sent = random.chance(0.5) ? { sender, target } : { sender }
  for (const wallet of names(random, { of: 'customer', count: wideInt(random, 50, 10_000) })) {
    const vault = random.pick(homes)
    const at = random.chance(before) ? -wide(random, hour, 200 * day) : anySecond(random)
    plan.put({ at, vault, wallet, usd: people(random, median), ...sent })
    const more = after(at, wide(random, 6 * hour, 30 * day))
    if (random.chance(0.25)) plan.put({ at: more, vault, wallet, usd: people(random, median / 2), ...sent })
    const [out, part] = [after(at, wide(random, hour, 30 * day)), random.chance(0.6) ? 1 : between(random, 0.1, 0.9)]
    if (random.chance(leaving)) plan.take({ at: out, vault, wallet, part, sender })
  }
}

/** A vault is closed: who is in it moves to another, most of them soon. */
function migration({ random, plan, vaults, median }: Honest): void {
  const [old, fresh] = twoOf(random, vaults)
  const [said, lasts] = [between(random, 1, 27) * day, wide(random, 20 * minute, 6 * day)]
  const share = between(random, 0.6, 1)
  const [router, isRouted] = [named(random, 'migrator'), random.chance(0.4)]
  const pause = wide(random, 3, 5 * hour)
  for (const wallet of names(random, { of: 'mover', count: wideInt(random, 20, 1_200) })) {
    const usd = people(random, median)
    plan.put({ at: random.chance(0.7) ? -wide(random, day, 90 * day) : random.next() * said, vault: old, wallet, usd })
    if (!random.chance(share)) continue
    const at = said + wait(random, lasts)
    plan.take({ at, vault: old, wallet })
    const moved = usd * between(random, 0.97, 1)
    const late = isRouted ? 2 * fresh.blockSeconds : pause * wide(random, 0.3, 3)
    if (random.chance(0.93)) {
      plan.put({ at: at + late, vault: fresh, wallet, usd: moved, ...(isRouted ? { target: router } : {}) })
    }
  }
}

/** A vault loses money, in one or some steps, and does not get it back; some of its people leave. */
function loss({ random, plan, vaults, crowd, median }: Honest): void {
  const vault = random.pick(vaults)
  const whole = vault.priceAt
  const first = between(random, 1, 27) * day
  const steps = Array.from({ length: random.int(1, 4) }, () => first + wide(random, 1, 3 * day))
  const kept = 1 - wide(random, 0.008, 0.6)
  const each = kept ** (1 / steps.length)
  vault.priceAt = (second) => whole(second) * each ** steps.filter((step) => second >= step).length
  const [leaving, lasts] = [random.next() * 0.9, wide(random, hour, 4 * day)]
  for (const wallet of [...names(random, { of: 'struck', count: wideInt(random, 5, 200) }), ...crowd]) {
    if (!crowd.includes(wallet)) {
      plan.put({ at: -wide(random, hour, 60 * day), vault, wallet, usd: people(random, median) })
    }
    if (random.chance(leaving)) plan.take({ at: first + wait(random, lasts), vault, wallet })
    if (random.chance(0.06)) plan.put({ at: anySecond(random, first), vault, wallet, usd: people(random, median) })
  }
}

/** A vault books what it earned at once: its price steps up, and stays there. */
function harvest({ random, plan, vaults, median }: Honest): void {
  const vault = random.pick(vaults)
  const whole = vault.priceAt
  const steps = Array.from({ length: random.int(1, 8) }, () => between(random, 0.1, 30) * day)
  const each = 1 + wide(random, 0.001, 0.04)
  vault.priceAt = (second) => whole(second) * each ** steps.filter((step) => second >= step).length
  for (const wallet of names(random, { of: 'reaper', count: wideInt(random, 1, 60) })) {
    const at = random.pick(steps) + between(random, -3, 3) * day
    plan.put({ at, vault, wallet, usd: people(random, median) })
    if (random.chance(0.3)) plan.take({ at: after(at, wide(random, 8 * hour, 10 * day)), vault, wallet })
  }
}

/** People who give to some or many others, on a feast or through the month. */
function gifts({ random, plan, vaults, crowd }: Honest): void {
  for (const sender of some(random, { of: crowd, count: wideInt(random, 1, 12) })) {
    const [usd, spread] = [wide(random, 3, 800), random.pick([0, 0.3, 0.9])]
    const [feast, lasts] = [anySecond(random), wide(random, 20 * minute, 20 * day)]
    for (const wallet of names(random, { of: 'gifted', count: wideInt(random, 1, 150) })) {
      const [at, vault] = [feast + random.next() * lasts, random.pick(vaults)]
      plan.put({ at, vault, wallet, usd: people(random, usd, spread), sender })
      const part = random.chance(0.5) ? 1 : between(random, 0.2, 0.9)
      if (random.chance(0.3)) plan.take({ at: at + wide(random, 2 * hour, 15 * day), vault, wallet, part })
    }
  }
}

/** One or some who hold many times what all others do, and come and go by tranches. */
function whale({ random, plan, vaults, crowd, median }: Honest): void {
  for (const wallet of names(random, { of: 'whale', count: random.int(1, 4) })) {
    const usd = median * Math.max(20, crowd.length) * wide(random, 0.3, 30)
    const [vault, tranches] = [random.pick(vaults), wideInt(random, 1, 25)]
    let at = random.chance(0.4) ? -random.int(hour, 20 * day) : anySecond(random, 0, 20 * day)
    for (let left = tranches; left > 0; left -= 1) {
      plan.put({ at, vault, wallet, usd: (usd / tranches) * about(random, 0.3) })
      at += wide(random, 2 * minute, 12 * hour)
    }
    for (let left = random.chance(0.6) ? wideInt(random, 1, 12) : 0; left > 0; left -= 1) {
      at = after(at, wide(random, hour, 8 * day))
      plan.take({ at, vault, wallet, part: left === 1 && random.chance(0.5) ? 1 : between(random, 0.05, 0.6) })
    }
  }
}

/** Wages that one or some employers pay into a vault, of which the people then live. */
function payroll({ random, plan, vaults, median }: Honest): void {
  for (const sender of names(random, { of: 'employer', count: wideInt(random, 1, 4) })) {
    const [vault, wage, spread] = [random.pick(vaults), wide(random, 300, 9_000), wide(random, 0.05, 0.8)]
    const [every, first] = [random.pick([7, 14, 15, 30]) * day, between(random, 0, 14) * day]
    const [spends, contract, isBatched] = [random.next(), named(random, 'payroll'), random.chance(0.6)]
    for (const wallet of names(random, { of: 'employee', count: wideInt(random, 4, 400) })) {
      const own = people(random, wage, spread)
      const saved = { at: -wide(random, hour, 60 * day), vault, wallet, usd: people(random, median) }
      if (random.chance(0.4)) plan.put(saved)
      for (let at = first; at < monthSeconds; at += every) {
        const batch = isBatched ? { bundle: `${sender} ${at}`, target: contract } : {}
        const paid = isBatched ? at : at + random.next() * 2 * hour
        plan.put({ at: paid, vault, wallet, usd: own, sender, ...batch })
        if (!random.chance(spends)) continue
        plan.take({ at: paid + wide(random, 10 * minute, 6 * day), vault, wallet, part: between(random, 0.1, 1) })
      }
    }
  }
}

/** Bad news: most leave within hours, and some of them are back some days after. */
function panic({ random, plan, vaults, crowd, median }: Honest): void {
  const [vault, news] = [random.pick(vaults), between(random, 1, 29) * day]
  const [leaving, lasts, back] = [between(random, 0.3, 0.98), wide(random, 10 * minute, 30 * hour), random.next() * 0.7]
  const inside = names(random, { of: 'scared', count: wideInt(random, 20, 800) })
  for (const wallet of [...inside, ...crowd]) {
    const usd = people(random, median)
    if (!crowd.includes(wallet)) plan.put({ at: news - wide(random, 10 * minute, 60 * day), vault, wallet, usd })
    if (!random.chance(leaving)) continue
    const at = news + wait(random, lasts)
    const part = random.chance(0.85) ? 1 : between(random, 0.3, 0.95)
    plan.take({ at, vault, wallet, part, isBare: random.chance(0.03) })
    if (crowd.includes(wallet) || !random.chance(back)) continue
    plan.put({ at: at + wide(random, 2 * hour, 9 * day), vault, wallet, usd: usd * wide(random, 0.3, 1.1) })
  }
}

/** A treasury that splits what it has over wallets of its own, evenly or by purpose, and holds it. */
function treasury({ random, plan, vaults, median }: Honest): void {
  const [sender, total] = [named(random, 'treasury'), median * wide(random, 50, 5_000)]
  const wallets = names(random, { of: 'purse', count: wideInt(random, 3, 150) })
  const [begins, gap, spread] = [between(random, -10, 15) * day, wide(random, 6, 9 * hour), random.pick([0, 0, 0.4, 1])]
  const [paysItself, moves] = [random.chance(0.5), random.next() * 0.4]
  for (const [index, wallet] of wallets.entries()) {
    const [at, vault] = [Math.min(begins + index * gap * about(random, 0.3), 29 * day), random.pick(vaults)]
    const usd = people(random, total / wallets.length, spread)
    plan.put({ at, vault, wallet, usd, ...(paysItself ? {} : { sender }) })
    if (!random.chance(moves)) continue
    const [out, next] = [after(at, wide(random, day, 20 * day)), random.pick(vaults)]
    plan.take({ at: out, vault, wallet, ...(paysItself ? {} : { sender }) })
    if (random.chance(0.7)) plan.put({ at: out + wide(random, minute, day), vault: next, wallet, usd, sender })
  }
}

/** Savers whose script puts the same in each day or week at the same time, midnight and full hours too. */
function savers({ random, plan, vaults, median }: Honest): void {
  for (const wallet of names(random, { of: 'saver', count: wideInt(random, 3, 250) })) {
    const [every, vault] = [random.pick([hour * 6, day, day, 7 * day]), random.pick(vaults)]
    const usd = people(random, median / 25)
    const [first, late] = [random.int(0, 7 * 24) * hour - random.pick([0, 5, 60, 300]), wide(random, 1, 20 * minute)]
    for (let at = first; at < monthSeconds; at += every) {
      if (at >= 0) plan.put({ at: at + random.next() * late, vault, wallet, usd })
    }
    if (random.chance(0.2)) plan.take({ at: anySecond(random, 15 * day), vault, wallet, part: between(random, 0.2, 1) })
  }
}

/** Firms whose working money is in a vault over night or over the week end, and at work in between. */
function overnight({ random, plan, vaults, median }: Honest): void {
  for (const wallet of names(random, { of: 'firm', count: wideInt(random, 1, 25) })) {
    const [vault, usd, isWeekly] = [random.pick(vaults), people(random, median * 20), random.chance(0.35)]
    const [closes, lasts] = [between(random, 15, 23) * hour, between(random, 8, 15) * hour]
    const late = wide(random, 20, hour)
    for (let at = closes; at < monthSeconds - 3 * day; at += isWeekly ? 7 * day : day) {
      if (random.chance(0.12)) continue
      plan.put({ at: at + random.next() * late, vault, wallet, usd: usd * about(random, 0.25) })
      plan.take({ at: at + late + lasts + (isWeekly ? 2 * day : 0) + random.next() * late, vault, wallet })
    }
  }
}

/** A vault or a campaign opens, and very many small ones come in hours. */
function opening({ random, plan, vaults, median }: Honest): void {
  const [vault, opens] = [random.pick(vaults), anySecond(random, 0, 25 * day)]
  const [lasts, leaving] = [wide(random, 20 * minute, 4 * day), random.next() * 0.6]
  for (const wallet of names(random, { of: 'early', count: wideInt(random, 50, 2_500) })) {
    const at = opens + wait(random, lasts)
    plan.put({ at, vault, wallet, usd: people(random, median / 8, 1.6) })
    if (random.chance(leaving)) plan.take({ at: at + wide(random, 5 * hour, 25 * day), vault, wallet })
  }
}

/** Couples and friends: what one takes out, the other puts in a day or a week after, once or twice. */
function couples({ random, plan, vaults, median }: Honest): void {
  for (let left = wideInt(random, 2, 60); left > 0; left -= 1) {
    const [pair, vault, usd] = [names(random, { of: 'pair', count: 2 }), random.pick(vaults), people(random, median)]
    let at = between(random, -10, 15) * day
    const holders = [...pair, ...(random.chance(0.3) ? pair.slice(0, 1) : [])]
    for (const [index, wallet] of holders.entries()) {
      plan.put({ at, vault, wallet, usd: usd * about(random, 0.2) })
      if (index === holders.length - 1 && random.chance(0.6)) continue
      at = after(at, wide(random, 18 * hour, 10 * day))
      plan.take({ at, vault, wallet, part: random.chance(0.6) ? 1 : between(random, 0.3, 0.9) })
      at += wide(random, 2 * hour, 4 * day)
    }
  }
}

const doings = {
  ...{ rebalancers, sameDay, exchange, migration, loss, harvest, gifts, whale },
  ...{ payroll, panic, treasury, savers, overnight, opening, couples },
}

export const habits: Record<string, (random: Random) => Month> = Object.fromEntries(
  Object.entries(doings).map(([name, doMore]) => [name, (random: Random) => draw(random, doMore)]),
)
