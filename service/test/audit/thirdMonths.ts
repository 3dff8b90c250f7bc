import type { Random } from '../simulation/random.js'
import { monthSeconds, openMonth, type TestVault, walletOf } from './month.js'

/**
 * A third set of months, drawn after all thresholds stood: shapes of the same eight kinds of washing and five kinds of honest
 * months, with their sizes, times, counts and noise drawn from wide ranges. It was written before it was ever run, and run once
 * by the seeds of `thirdSeeds`; where a threshold changes later, a further set has to be drawn.
 */
export const thirdSeeds = { washing: 20_261_129, honest: 31_415_926 }

type Month = ReturnType<typeof openMonth>
export type Drawn = { month: Month; random: Random; vaults: readonly TestVault[]; blockSeconds: number }

const [minute, hour, day] = [60, 3_600, 86_400]

/** A number between two, each power of which is as likely. */
const between = (random: Random, low: number, high: number) => low * (high / low) ** random.next()
const whole = (random: Random, low: number, high: number) => Math.round(between(random, low, high))
const bell = (random: Random) => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())

export function drawMarket(random: Random, of: { people?: number; first?: Partial<TestVault> } = {}): Drawn {
  const month = openMonth()
  const [chainId, blockSeconds] = random.pick([
    [1, 12],
    [10, 2],
    [137, 2],
    [100, 5],
    [56, 3],
    [42_161, 1],
  ] as const)
  const vaults = Array.from({ length: random.int(1, 6) }, (_, index) => {
    const [first, yearly] = [between(random, 0.8, 3), between(random, 0.002, 0.3)]
    return month.vault({
      ...{ chainId, blockSeconds },
      assetDecimals: random.pick([6, 8, 18]),
      snapshotSeconds: random.pick([300, 900, 1_800, 3_600]),
      priceAt: (at) => first * (1 + (yearly * at) / (365 * day)),
      ...(index === 0 ? of.first : {}),
    })
  })
  const people = of.people ?? whole(random, 30, 900)
  const [middle, spread] = [between(random, 30, 3_000), 0.6 + random.next()]
  const amount = () => middle * Math.exp(spread * bell(random))
  for (let index = 0; index < people; index++) {
    const [wallet, vault] = [walletOf(`citizen ${index}`), random.pick(vaults)]
    const attribution = random.chance(0.6) ? 'signed' : 'unsigned'
    if (random.chance(0.1)) {
      // Saves each day or week, at about the same time.
      const [every, hourOf] = [random.pick([day, 7 * day]), random.int(0, day)]
      for (let at = hourOf; at < monthSeconds; at += every)
        month.deposit({ at: at + random.int(0, hour), vault, wallet, usd: amount() / 10, attribution })
      continue
    }
    const at = random.chance(0.55) ? -1 : random.int(0, monthSeconds - 1)
    const usd = random.chance(0.25) ? Math.ceil(amount() / 50) * 50 : amount()
    month.deposit({ at, vault, wallet, usd, attribution })
    if (random.chance(0.4)) {
      const part = random.chance(0.5) ? 1 : random.next()
      month.exit({ at: Math.max(0, at) + whole(random, 2 * hour, 25 * day), vault, wallet, part })
    }
    if (random.chance(0.2)) month.deposit({ at: random.int(0, monthSeconds - 1), vault, wallet, usd: amount() / 3 })
  }
  return { month, random, vaults, blockSeconds }
}

/** A stay that makes so many USD-days. */
function stay(
  { month }: Drawn,
  of: { vault: TestVault; wallet: string; at: number; seconds: number; usdDays: number },
) {
  const { vault, wallet, at, seconds, usdDays } = of
  month.deposit({ at, vault, wallet, usd: (usdDays * day) / seconds })
  month.exit({ at: at + seconds, vault, wallet })
}

export const ways: Record<string, (drawn: Drawn, usdDays: number) => void> = {
  'in for some blocks': (drawn, usdDays) => {
    const { random, vaults, blockSeconds } = drawn
    const [times, wallets] = [whole(random, 10, 150), random.int(1, 9)]
    const first = random.int(0, 15 * day)
    const length = Math.floor(between(random, day, 15 * day) / times)
    for (let index = 0; index < times; index++) {
      const [vault, wallet] = [random.pick(vaults), walletOf(`runner ${index % wallets}`)]
      const seconds = blockSeconds * whole(random, 1, 60)
      stay(drawn, { vault, wallet, at: first + index * length, seconds, usdDays: usdDays / times })
    }
  },
  'money between two': (drawn, usdDays) => passOn(drawn, usdDays, 2),
  'money in a ring': (drawn, usdDays) => passOn(drawn, usdDays, drawn.random.int(3, 12)),
  'signatures used again': ({ month, random, vaults }, usdDays) => {
    const [times, wallets] = [random.int(3, 40), random.int(1, 12)]
    for (let index = 0; index < times; index++) {
      const at = random.int(0, 28 * day)
      const usd = (usdDays * day) / times / (monthSeconds - at)
      const wallet = walletOf(`echo ${index % wallets}`)
      month.deposit({ at, vault: random.pick(vaults), wallet, usd, attribution: 'unsigned', isReplayed: true })
    }
  },
  'wallets of one payer': ({ month, random, vaults, blockSeconds }, usdDays) => {
    const [crowds, jitter] = [random.int(1, 5), 0.1 * random.next()]
    for (let crowd = 0; crowd < crowds; crowd++) {
      const [vault, wallets, at] = [random.pick(vaults), whole(random, 12, 120), random.int(0, 25 * day)]
      const [gap, seconds] = [random.int(0, 4) * blockSeconds, between(random, day, 5 * day)]
      for (let index = 0; index < wallets; index++) {
        const [wallet, own] = [walletOf(`puppet ${crowd} ${index}`), at + index * gap]
        const usd = ((usdDays * day) / crowds / wallets / seconds) * (1 + jitter * (2 * random.next() - 1))
        month.deposit({ at: own, vault, wallet, usd, sender: walletOf('payer'), target: '0xspread' })
        month.exit({ at: own + Math.round(seconds), vault, wallet })
      }
    }
  },
  'dust for many': ({ month, random, vaults }, usdDays) => {
    let left = usdDays
    for (let index = 0; index < 10_000 && left > 0; index++) {
      const [at, usd] = [random.int(0, 20 * day), between(random, 0.01, 0.9)]
      month.deposit({ at, vault: random.pick(vaults), wallet: walletOf(`mote ${index}`), usd })
      left -= (usd * (monthSeconds - at)) / day
    }
  },
  'a snapshot that was staged': (drawn, usdDays) => {
    const { random, vaults, blockSeconds } = drawn
    const [vault, times] = [vaults[0] as TestVault, random.int(1, 30)]
    const every = Math.floor((monthSeconds - day) / times)
    for (let index = 0; index < times; index++) {
      const { snapshotSeconds } = vault
      const at = (Math.floor((index * every + random.int(0, every - 1)) / snapshotSeconds) + 1) * snapshotSeconds
      vault.spikes.set(at, 1 + between(random, 0.0075, 99))
      const [from, to] = [at + blockSeconds * random.int(1, 5), at + snapshotSeconds + random.int(0, 120)]
      const wallet = walletOf(`stager ${index % 3}`)
      stay(drawn, { vault, wallet, at: from, seconds: to - from, usdDays: usdDays / times })
    }
  },
  'in time for the bucket': (drawn, usdDays) => {
    const { random, vaults, blockSeconds } = drawn
    const [step, times, wallets] = [random.pick([900, hour, day]), whole(random, 8, 30), random.int(1, 5)]
    const steps = Math.floor((monthSeconds - day) / step)
    for (let index = 0; index < times; index++) {
      const end = (1 + Math.floor(((index + random.next()) * steps) / times)) * step
      const lead = blockSeconds + between(random, 1, 75)
      const seconds = Math.round(lead + between(random, blockSeconds, 20 * minute))
      const [vault, wallet] = [random.pick(vaults), walletOf(`in time ${index % wallets}`)]
      stay(drawn, { vault, wallet, at: end - Math.round(lead), seconds, usdDays: usdDays / times })
    }
  },
}

/** Takes money out of one wallet and puts it into the next, minutes later, but for what is kept on the way. */
function passOn(drawn: Drawn, usdDays: number, wallets: number): void {
  const { month, random, vaults, blockSeconds } = drawn
  const turns = whole(random, 2 * wallets, 50)
  const length = Math.floor((monthSeconds - day) / turns)
  let usd = (usdDays * day) / (turns * length)
  for (let turn = 0; turn < turns; turn++) {
    const [vault, wallet] = [random.pick(vaults), walletOf(`hand ${turn % wallets}`)]
    const [at, gap] = [hour + turn * length, Math.round(between(random, blockSeconds, 10 * minute))]
    const end = at + length - gap
    month.deposit({ at, vault, wallet, usd })
    month.exit({ at: end, vault, wallet })
    usd *= (vault.priceAt(end) / vault.priceAt(at)) * (1 - 0.003 * random.next())
  }
}

export const habits: Record<string, (random: Random) => Month> = {
  'bots that rebalance': (random) => {
    const { month, vaults } = drawMarket(random)
    for (let bot = 0; bot < random.int(1, 12); bot++) {
      const wallet = walletOf(`bot ${bot}`)
      const [every, isOnTheHour] = [random.pick([30 * minute, hour, 6 * hour, 2 * day]), random.chance(0.5)]
      let [usd, place] = [between(random, 200, 50_000), random.int(0, vaults.length - 1)]
      const start = isOnTheHour ? 0 : random.int(0, every)
      month.deposit({ at: -1, vault: vaults[place] as TestVault, wallet, usd })
      for (let at = start; at < monthSeconds - hour; at += every) {
        if (random.chance(0.3)) continue
        const moved = at + (isOnTheHour ? random.int(0, 40) : random.int(0, every / 3))
        const next = (place + 1) % vaults.length
        month.exit({ at: moved, vault: vaults[place] as TestVault, wallet })
        usd *= 1 - 0.0003 * random.next()
        month.deposit({ at: moved + random.int(0, 90), vault: vaults[next] as TestVault, wallet, usd })
        place = next
      }
    }
    return month
  },
  'exits on the same day': (random) => {
    const { month, vaults } = drawMarket(random)
    for (let index = 0; index < whole(random, 20, 400); index++) {
      const [vault, wallet, at] = [random.pick(vaults), walletOf(`guest ${index}`), random.int(0, 30 * day)]
      // A few change their mind within minutes.
      const seconds = random.chance(0.01) ? random.int(minute, 10 * minute) : between(random, 20 * minute, 20 * hour)
      month.deposit({ at, vault, wallet, usd: between(random, 20, 5_000) })
      month.exit({ at: at + Math.round(seconds), vault, wallet })
    }
    return month
  },
  'the 10,000 wallets of an exchange': (random) => {
    const { month, vaults } = drawMarket(random, { people: whole(random, 20, 200) })
    const [run, middle] = [random.pick([1, 10 * minute, hour, day]), between(random, 20, 800)]
    const payer = random.chance(0.7) ? { sender: walletOf('the exchange'), target: '0xexchange' } : {}
    for (let index = 0; index < 10_000; index++) {
      const [vault, wallet] = [random.pick(vaults), walletOf(`customer ${index}`)]
      const at = Math.floor(random.int(0, monthSeconds - 1) / run) * run
      const usd = random.chance(0.4) ? random.pick([10, 20, 50, 100, 200, 500]) : middle * Math.exp(bell(random))
      month.deposit({ at, vault, wallet, usd, attribution: random.chance(0.5) ? 'signed' : 'unsigned', ...payer })
      if (random.chance(0.2)) month.exit({ at: at + whole(random, hour, 25 * day), vault, wallet, part: random.next() })
    }
    return month
  },
  'a vault that moves': (random) => {
    const { month, vaults, blockSeconds } = drawMarket(random)
    const old = vaults[0] as TestVault
    const next = month.vault({ chainId: old.chainId, blockSeconds, priceAt: (at) => 1 + (0.07 * at) / (365 * day) })
    const [at, isPushed, perBlock] = [random.int(day, 27 * day), random.chance(0.5), random.int(1, 50)]
    const middle = between(random, 50, 3_000)
    for (let index = 0; index < whole(random, 40, 600); index++) {
      const wallet = walletOf(`mover ${index}`)
      const usd = random.chance(0.25) ? random.pick([100, 250, 500, 1_000]) : middle * Math.exp(1.2 * bell(random))
      month.deposit({ at: -1, vault: old, wallet, usd })
      const own = isPushed ? at + Math.floor(index / perBlock) * blockSeconds : at + whole(random, minute, 6 * day)
      const by = isPushed ? { sender: walletOf('the migrator') } : {}
      month.exit({ at: own, vault: old, wallet, ...by })
      const later = own + (isPushed ? random.int(0, 2) * blockSeconds : whole(random, 5, hour))
      const grown = old.priceAt(own) / old.priceAt(0)
      month.deposit({ at: later, vault: next, wallet, usd: usd * grown, ...by })
    }
    return month
  },
  'a real loss': (random) => {
    const [at, left, steps] = [random.int(day, 29 * day), 0.2 + 0.78 * random.next(), random.int(1, 4)]
    const pause = whole(random, 10 * minute, 2 * day)
    const priceAt = (second: number) => {
      const taken = second < at ? 0 : Math.min(steps, 1 + Math.floor((second - at) / pause))
      return (1.05 + second / (5_000 * day)) * left ** (taken / steps)
    }
    const { month, vaults } = drawMarket(random, { first: { priceAt } })
    const vault = vaults[0] as TestVault
    for (let index = 0; index < whole(random, 10, 200); index++) {
      const wallet = walletOf(`loser ${index}`)
      month.deposit({ at: random.chance(0.6) ? -1 : random.int(0, at), vault, wallet, usd: between(random, 30, 8_000) })
      if (random.chance(0.5)) month.exit({ at: at + whole(random, 12, 3 * day), vault, wallet })
      // Some buy what fell.
      if (random.chance(0.15))
        month.deposit({ at: at + whole(random, 12, day), vault, wallet, usd: between(random, 30, 8_000) })
    }
    return month
  },
}
