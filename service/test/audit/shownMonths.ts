import type { Random } from '../simulation/random.js'
import { monthSeconds, openMonth, type TestVault, walletOf } from './month.js'

/**
 * The months that audits are shown on, written apart from `fittedMonths.ts`, and after the thresholds were fixed: other chains,
 * amounts, habits, and other ways to do each kind of washing. No threshold may follow from a month of this file.
 */

type Month = ReturnType<typeof openMonth>
export type Drawn = { month: Month; random: Random; vaults: readonly TestVault[]; blockSeconds: number }

const [minute, hour, day] = [60, 3_600, 86_400]
const last = monthSeconds - 1

/** Few have much: the least is `least`, and one of a hundred has fifty times as much. */
const pareto = (random: Random, least: number) => Math.min(least * 2_000, least / (1 - random.next()) ** 0.85)

/** A chain with its vaults, some large holders, savers who add each week, and many who come once. */
export function drawMarket(random: Random, of: { people?: number; first?: Partial<TestVault> } = {}): Drawn {
  const month = openMonth()
  const isFast = random.chance(0.5)
  const chain = { chainId: isFast ? 8_453 : 1, blockSeconds: isFast ? 2 : 12 }
  const vaults = Array.from({ length: random.int(1, 4) }, (_, index) => {
    const yearly = 0.01 + 0.14 * random.next()
    const harvests = random.chance(0.3)
    return month.vault({
      ...chain,
      assetDecimals: random.pick([6, 8, 18]),
      snapshotSeconds: random.pick([900, 1_800, 3_600]),
      // Some are harvested once a week instead of earning by the block.
      priceAt: (at) => 1.2 + (yearly * (harvests ? Math.floor(at / (7 * day)) * 7 * day : at)) / (365 * day),
      ...(index === 0 ? of.first : {}),
    })
  })
  const drawn = { month, random, vaults, blockSeconds: chain.blockSeconds }
  for (let index = 0; index < 3; index++) {
    const [wallet, vault] = [walletOf(`treasury ${index}`), random.pick(vaults)]
    month.deposit({ at: -1, vault, wallet, usd: 20_000 + 60_000 * random.next() })
    if (random.chance(0.3)) month.exit({ at: random.int(0, last), vault, wallet, part: 0.5 })
  }
  const people = of.people ?? random.int(60, 400)
  for (let index = 0; index < people; index++) {
    const [wallet, vault] = [walletOf(`visitor ${index}`), random.pick(vaults)]
    const attribution = random.chance(0.7) ? 'signed' : 'unsigned'
    const usd = random.chance(0.3) ? random.pick([25, 100, 250, 1_000]) : pareto(random, 40)
    if (random.chance(0.15)) {
      for (let at = random.int(0, 7 * day); at <= last; at += 7 * day + random.int(-hour, hour))
        month.deposit({ at, vault, wallet, usd: usd / 4, attribution })
      continue
    }
    const at = random.chance(0.6) ? -1 : random.int(0, last)
    month.deposit({ at, vault, wallet, usd, attribution })
    if (random.chance(0.35)) {
      const isBare = random.chance(0.2)
      month.exit({
        at: Math.max(at, 0) + random.int(hour, 20 * day),
        vault,
        wallet,
        part: random.pick([0.25, 0.5, 1]),
        isBare,
      })
    }
  }
  return drawn
}

/** Ways to wash, each of which makes so many USD-days. */
export const ways: Record<string, (drawn: Drawn, usdDays: number) => void> = {
  'bursts of passes': ({ month, random, vaults, blockSeconds }, usdDays) => {
    const bursts = [random.int(day, 9 * day), random.int(12 * day, 26 * day)]
    const each = usdDays / 60
    for (const burst of bursts)
      for (let index = 0; index < 30; index++) {
        const [vault, wallet] = [random.pick(vaults), walletOf(`burst ${index % 3}`)]
        const at = burst + index * 17 * minute
        const seconds = blockSeconds * random.int(3, 44)
        month.deposit({ at, vault, wallet, usd: (each * day) / seconds })
        month.exit({ at: at + seconds, vault, wallet, part: random.pick([1, 1, 0.97]) })
      }
  },
  'two friends and the same money': (drawn, usdDays) => passAround(drawn, usdDays, 2),
  'a circle without an order': (drawn, usdDays) => passAround(drawn, usdDays, drawn.random.int(3, 8)),
  'old signatures beside good ones': ({ month, random, vaults }, usdDays) => {
    for (let index = 0; index < 20; index++) {
      const [vault, wallet] = [random.pick(vaults), walletOf(`copier ${index % 5}`)]
      if (index < 5) month.deposit({ at: random.int(0, hour), vault, wallet, usd: 40 })
      const at = random.int(2 * hour, 29 * day)
      const usd = (usdDays * day) / 20 / (monthSeconds - at)
      month.deposit({ at, vault, wallet, usd, attribution: 'unsigned', isReplayed: true })
    }
  },
  'crowds that one payer makes': ({ month, random, vaults }, usdDays) => {
    const crowds = random.int(2, 4)
    for (let crowd = 0; crowd < crowds; crowd++) {
      const [vault, at, wallets] = [
        random.pick(vaults),
        random.int(crowd * 5 * day, (crowd + 1) * 5 * day),
        random.int(14, 40),
      ]
      const usd = (usdDays * day) / crowds / wallets / (30 * day - at)
      const hash = `0x${'c0'.repeat(31)}${crowd.toString(16).padStart(2, '0')}`
      for (let index = 0; index < wallets; index++) {
        const wallet = walletOf(`crowd ${crowd} ${index}`)
        const own = usd * (0.97 + 0.06 * random.next())
        month.deposit({ at, vault, wallet, usd: own, sender: walletOf('maker'), target: '0xbatcher', hash })
        month.exit({ at: 30 * day + index, vault, wallet })
      }
    }
  },
  'crumbs for strangers': ({ month, random, vaults }, usdDays) => {
    let left = usdDays
    for (let index = 0; index < 9_000 && left > 0; index++) {
      const [at, usd] = [random.int(0, 25 * day), 0.05 + 0.9 * random.next()]
      const sender = walletOf(`crumbler ${index % 3}`)
      month.deposit({ at, vault: random.pick(vaults), wallet: walletOf(`stranger ${index}`), usd, sender })
      left -= (usd * (monthSeconds - at)) / day
    }
  },
  'prices made for an hour': ({ month, random, vaults }, usdDays) => {
    const vault = vaults[0] as TestVault
    const times = random.int(4, 20)
    for (let index = 0; index < times; index++) {
      const grid = Math.floor(((index + random.next()) * (monthSeconds - day)) / times / vault.snapshotSeconds) + 1
      const at = grid * vault.snapshotSeconds
      vault.spikes.set(at, random.pick([1.006, 1.02, 1.5, 40]))
      const seconds = Math.floor(vault.snapshotSeconds * (0.5 + 0.6 * random.next()))
      const wallet = walletOf(`maker of prices ${index % 2}`)
      month.deposit({ at: at + 2 * vault.blockSeconds, vault, wallet, usd: (usdDays * day) / times / seconds })
      month.exit({ at: at + seconds, vault, wallet })
    }
  },
  'there at midnight': ({ month, random, vaults }, usdDays) => {
    for (let index = 1; index <= 30; index++) {
      const at = index * day - random.int(14, 55)
      const seconds = random.int(3 * minute, 50 * minute)
      const [vault, wallet] = [random.pick(vaults), walletOf('by night')]
      month.deposit({ at, vault, wallet, usd: (usdDays * day) / 30 / seconds })
      month.exit({ at: at + seconds, vault, wallet })
    }
  },
}

/** The same money goes from friend to friend, a little less each time, over any of the vaults. */
function passAround({ month, random, vaults, blockSeconds }: Drawn, usdDays: number, friends: number): void {
  const turns = random.int(9, 30)
  const length = Math.floor((monthSeconds - 2 * hour) / turns)
  const usd = (usdDays * day) / (turns * length)
  let [friend, at, factor] = [0, hour, 1]
  for (let turn = 0; turn < turns; turn++) {
    const [vault, wallet] = [random.pick(vaults), walletOf(`friend ${friend}`)]
    const end = at + length - random.int(5, 40) * blockSeconds
    month.deposit({ at, vault, wallet, usd: usd * factor })
    month.exit({ at: end, vault, wallet })
    // What it earned is kept apart, so that the same goes on, but for a cent in some hundred dollars.
    factor *= (vault.priceAt(end) / vault.priceAt(at)) * (1 - 0.0002 * random.next())
    at += length
    friend = (friend + random.int(1, friends - 1)) % friends
  }
}

/** Honest months. */
export const habits: Record<string, (random: Random) => Month> = {
  'bots that rebalance': (random) => {
    const { month, vaults } = drawMarket(random)
    for (let bot = 0; bot < random.int(2, 8); bot++) {
      const wallet = walletOf(`keeper ${bot}`)
      const [every, share] = [random.pick([hour, 4 * hour, day]), random.pick([1, 0.5, 0.2])]
      const offset = random.int(0, every - 1)
      month.deposit({ at: -1, vault: vaults[0] as TestVault, wallet, usd: pareto(random, 2_000) })
      for (let [at, place] = [offset, 0]; at < last - hour; at += every + random.int(0, 90)) {
        const [from, to] = [vaults[place % vaults.length], vaults[(place + 1) % vaults.length]] as [
          TestVault,
          TestVault,
        ]
        if (random.chance(0.4)) continue
        const usd = pareto(random, 500)
        month.exit({ at, vault: from, wallet, part: share })
        month.deposit({ at: at + random.int(0, 30), vault: to, wallet, usd })
        place += 1
      }
    }
    return month
  },
  'exits on the same day': (random) => {
    const { month, vaults } = drawMarket(random)
    for (let index = 0; index < random.int(30, 200); index++) {
      const [vault, wallet, at] = [random.pick(vaults), walletOf(`tourist ${index}`), random.int(0, last - day)]
      month.deposit({ at, vault, wallet, usd: pareto(random, 150) })
      month.exit({ at: at + random.int(10 * minute, 20 * hour), vault, wallet })
    }
    return month
  },
  'the 10,000 wallets of an exchange': (random) => {
    const { month, vaults } = drawMarket(random, { people: 40 })
    const isBatched = random.chance(0.6)
    for (let index = 0; index < 10_000; index++) {
      const [vault, wallet] = [random.pick(vaults), walletOf(`account ${index}`)]
      const own = random.int(0, last)
      // A run a day, or each when its owner asks for it.
      const at = isBatched ? Math.floor(own / day) * day + 6 * hour : own
      const usd = random.chance(0.5) ? random.pick([20, 50, 100, 250, 500, 1_000]) : pareto(random, 30)
      const payer = isBatched
        ? { sender: walletOf('exchange'), target: '0xexchange', attribution: 'unsigned' as const }
        : {}
      month.deposit({ at, vault, wallet, usd, ...payer })
      if (random.chance(0.25))
        month.exit({ at: at + random.int(hour, 20 * day), vault, wallet, part: random.pick([0.5, 1]) })
    }
    return month
  },
  'a vault that moves': (random) => {
    const { month, vaults, blockSeconds } = drawMarket(random)
    const old = vaults[0] as TestVault
    const next = month.vault({ chainId: old.chainId, blockSeconds, priceAt: (at) => 1 + (0.05 * at) / (365 * day) })
    const isPushed = random.chance(0.5)
    const at = random.int(2 * day, 25 * day)
    for (let index = 0; index < random.int(80, 300); index++) {
      const [wallet, usd] = [
        walletOf(`holder ${index}`),
        random.chance(0.3) ? random.pick([100, 500, 1_000]) : pareto(random, 100),
      ]
      month.deposit({ at: -1, vault: old, wallet, usd })
      // Pushed by an operator in a few transactions, or by each holder in a week.
      const own = isPushed ? at + Math.floor(index / 40) * blockSeconds : at + random.int(0, 5 * day)
      const by = isPushed ? { sender: walletOf('operator of the vault') } : {}
      month.exit({ at: own, vault: old, wallet, ...by })
      month.deposit({ at: own + (isPushed ? 0 : random.int(10, 600)), vault: next, wallet, usd: usd * 1.001, ...by })
    }
    return month
  },
  'a real loss': (random) => {
    const at = random.int(3 * day, 27 * day)
    const [left, again] = [0.3 + 0.65 * random.next(), at + random.int(hour, 3 * day)]
    const recovers = random.chance(0.3)
    const priceAt = (second: number) => {
      const [before, after] = [1.1 + second / (3_650 * day), 1.1 * left]
      if (second < at) return before
      return recovers && second >= again ? (before + after) / 2 : after
    }
    const { month, vaults } = drawMarket(random, { first: { priceAt } })
    for (let index = 0; index < random.int(20, 120); index++) {
      const [vault, wallet] = [vaults[0] as TestVault, walletOf(`hurt ${index}`)]
      month.deposit({ at: random.chance(0.7) ? -1 : random.int(0, at), vault, wallet, usd: pareto(random, 200) })
      if (random.chance(0.6)) month.exit({ at: at + random.int(0, 2 * day), vault, wallet })
      if (random.chance(0.2))
        month.deposit({ at: at + random.int(10, 2 * hour), vault, wallet, usd: pareto(random, 200) })
    }
    return month
  },
}
