import type { Random } from '../simulation/random.js'
import { monthSeconds, type openMonth, type TestVault, walletOf } from './month.js'

/** The months that the thresholds of audits were fixed on. Those that show them stand in `shownMonths.ts`, written apart. */

export type Month = ReturnType<typeof openMonth>
type Wash = (month: Month, of: { vaults: TestVault[]; random: Random; usdDays: number }) => void

const day = 86_400
/** Dust that comes to a fifth of a month would take more wallets than anybody makes. */
const dustMax = 12_000

/** A bell-shaped number: mean 0, deviation 1. */
const bell = (random: Random) => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
const amount = (random: Random, middle: number, spread: number) => middle * Math.exp(spread * bell(random))

/** Two vaults with some yield, and wallets that come, add, take a part and go as people do. */
export function drawBase(month: Month, random: Random, wallets = random.int(80, 250)): TestVault[] {
  const rates = [0.04, 0.09]
  const vaults = rates.map((rate) => month.vault({ priceAt: (at) => 1 + (rate * at) / (365 * day) }))
  for (let index = 0; index < wallets; index++) {
    const wallet = walletOf(`a person ${index}`)
    const vault = random.pick(vaults)
    const at = random.chance(0.5) ? -1 : random.int(0, monthSeconds - 1)
    month.deposit({ at, vault, wallet, usd: amount(random, 1_500, 1.3) })
    for (let more = random.int(0, 2); more > 0; more--) {
      const later = random.int(Math.max(at, 0), monthSeconds)
      if (random.chance(0.5)) month.deposit({ at: later, vault, wallet, usd: amount(random, 300, 1) })
      else month.exit({ at: later, vault, wallet, part: random.chance(0.4) ? 1 : random.next() })
    }
  }
  return vaults
}

/** A stay of a wallet that makes so many USD-days. */
function stay(
  month: Month,
  of: { vault: TestVault; wallet: string; at: number; seconds: number; usdDays: number; exits?: boolean },
) {
  const usd = (of.usdDays * day) / of.seconds
  month.deposit({ at: of.at, vault: of.vault, wallet: of.wallet, usd })
  if (of.exits !== false) month.exit({ at: of.at + of.seconds, vault: of.vault, wallet: of.wallet })
}

/** Kinds of washing, each of which makes so many USD-days. */
export const washes: Record<string, Wash> = {
  'in and out within minutes': (month, { vaults, random, usdDays }) => {
    const times = random.int(10, 60)
    for (let index = 0; index < times; index++) {
      const at = Math.floor(((index + 0.3) * monthSeconds) / times)
      stay(month, {
        ...{ vault: random.pick(vaults), wallet: walletOf('passer'), at },
        seconds: random.int(60, 560),
        usdDays: usdDays / times,
      })
    }
  },
  'two wallets in turn': (month, { vaults, random, usdDays }) => ring(month, { vaults, random, usdDays, wallets: 2 }),
  'a ring of wallets': (month, { vaults, random, usdDays }) => ring(month, { vaults, random, usdDays, wallets: 6 }),
  'a signature used again': (month, { vaults, random, usdDays }) => {
    for (let index = 0; index < 8; index++) {
      const at = random.int(0, monthSeconds - day)
      const usd = (usdDays / 8) * (day / (monthSeconds - at))
      const wallet = walletOf(`replayer ${index}`)
      month.deposit({ at, vault: random.pick(vaults), wallet, usd, attribution: 'unsigned', isReplayed: true })
    }
  },
  'wallets that one sender pays for': (month, { vaults, random, usdDays }) => {
    const [wallets, at] = [random.int(20, 100), random.int(day, 10 * day)]
    const usd = (usdDays * day) / ((monthSeconds - at) * wallets)
    for (let index = 0; index < wallets; index++)
      month.deposit({
        ...{ at: at + index * 13, vault: vaults[0] as TestVault, wallet: walletOf(`paid for ${index}`) },
        ...{ usd: usd * (0.98 + 0.04 * random.next()), sender: walletOf('payer') },
      })
  },
  'dust in many wallets': (month, { vaults, random, usdDays }) => {
    for (let [left, index] = [usdDays, 0]; left > 0 && index < dustMax; index++) {
      const [at, usd] = [random.int(0, monthSeconds - day), 0.3 + 0.6 * random.next()]
      month.deposit({ at, vault: random.pick(vaults), wallet: walletOf(`dust ${index}`), usd })
      left -= (usd * (monthSeconds - at)) / day
    }
  },
  'a staged price': (month, { vaults, random, usdDays }) => {
    const times = random.int(3, 12)
    for (let index = 0; index < times; index++) {
      const vault = vaults[0] as TestVault
      const at = Math.floor(((index + 0.5) * monthSeconds) / times / vault.snapshotSeconds) * vault.snapshotSeconds
      vault.spikes.set(at, 1.01 + random.next())
      stay(month, {
        ...{ vault, wallet: walletOf('stager'), at: at + 24 },
        seconds: vault.snapshotSeconds - 120,
        usdDays: usdDays / times,
      })
    }
  },
  'deposits at the ends of buckets': (month, { vaults, random, usdDays }) => {
    const times = random.int(15, 40)
    for (let index = 0; index < times; index++) {
      const end = Math.floor(((index + 0.5) * monthSeconds) / times / 900) * 900
      const before = random.int(13, 48)
      const seconds = before + random.int(60, 800)
      stay(month, {
        ...{ vault: random.pick(vaults), wallet: walletOf('poser'), at: end - before },
        seconds,
        usdDays: usdDays / times,
      })
    }
  },
}

function ring(month: Month, { vaults, random, usdDays, wallets }: Parameters<Wash>[1] & { wallets: number }): void {
  const turns = wallets * random.int(2, 6)
  const turn = Math.floor(monthSeconds / (turns + 1))
  const vault = vaults[1] as TestVault
  for (let index = 0; index < turns; index++) {
    const at = index * turn + random.int(60, 900)
    const seconds = (index + 1) * turn - at
    const usd = (usdDays * day) / (turns * seconds)
    // The same capital goes on, whatever its turn came to.
    stay(month, { vault, wallet: walletOf(`member ${index % wallets}`), at, seconds, usdDays: (usd * seconds) / day })
  }
}

/** Honest months, by what is unusual in them. */
export const honest: Record<string, (month: Month, random: Random) => void> = {
  'nothing unusual': (month, random) => {
    drawBase(month, random)
  },
  'bots that rebalance': (month, random) => {
    const vaults = drawBase(month, random)
    for (let bot = 0; bot < 4; bot++) {
      const wallet = walletOf(`bot ${bot}`)
      let [at, place] = [random.int(0, day), 0]
      let usd = amount(random, 20_000, 0.5)
      while (at < monthSeconds) {
        const vault = vaults[place % 2] as TestVault
        const next = at + random.int(2 * 3_600, 40 * 3_600)
        month.deposit({ at, vault, wallet, usd })
        month.exit({ at: next, vault, wallet })
        ;[at, place, usd] = [next + random.int(0, 120), place + 1, usd * 1.0001]
      }
    }
  },
  'exits on the same day': (month, random) => {
    const vaults = drawBase(month, random)
    for (let index = 0; index < 40; index++) {
      const [vault, wallet, at] = [random.pick(vaults), walletOf(`brief ${index}`), random.int(0, monthSeconds - day)]
      month.deposit({ at, vault, wallet, usd: amount(random, 3_000, 1) })
      month.exit({ at: at + random.int(900, day - 1), vault, wallet })
    }
  },
  'the 10,000 wallets of an exchange': (month, random) => {
    const vaults = drawBase(month, random, 60)
    const isHot = random.chance(0.5)
    for (let index = 0; index < 10_000; index++) {
      const [vault, wallet] = [random.pick(vaults), walletOf(`customer ${index}`)]
      const at = random.int(0, monthSeconds - 1)
      const usd = random.chance(0.4) ? random.pick([50, 100, 200, 500, 1_000, 5_000]) : amount(random, 250, 1.4)
      month.deposit({ at, vault, wallet, usd, ...(isHot ? { sender: walletOf('hot') } : {}) })
      if (random.chance(0.3)) month.exit({ at: random.int(at + 3_600, monthSeconds + day), vault, wallet })
    }
  },
  'a vault that moves': (month, random) => {
    const [old, next] = drawBase(month, random) as [TestVault, TestVault]
    const at = random.int(5 * day, 20 * day)
    for (let index = 0; index < 120; index++) {
      const [wallet, usd] = [walletOf(`mover ${index}`), amount(random, 4_000, 1)]
      month.deposit({ at: -1, vault: old, wallet, usd })
      const own = at + random.int(0, 5 * day)
      month.exit({ at: own, vault: old, wallet })
      month.deposit({ at: own + random.int(0, 300), vault: next, wallet, usd: usd * 1.002 })
    }
  },
  // Found by the other set, where it looked like loops: whoever withdrew had a twin of the same worth.
  'a vault that an operator moves at once': (month, random) => {
    const [old, next] = drawBase(month, random) as [TestVault, TestVault]
    const at = random.int(5 * day, 20 * day)
    for (let index = 0; index < 120; index++) {
      const [wallet, usd] = [walletOf(`moved ${index}`), random.pick([100, 200, 500, amount(random, 4_000, 1)])]
      month.deposit({ at: -1, vault: old, wallet, usd })
      month.exit({ at, vault: old, wallet, sender: walletOf('operator') })
      month.deposit({ at, vault: next, wallet, usd: usd * 1.002, sender: walletOf('operator') })
    }
  },
  'a real loss': (month, random) => {
    const at = random.int(4 * day, 25 * day)
    const left = 0.6 + 0.35 * random.next()
    const vault = month.vault({ priceAt: (second) => (second < at ? 1.03 : 1.03 * left) })
    for (let index = 0; index < 150; index++) {
      const [wallet, own] = [walletOf(`loser ${index}`), random.chance(0.6) ? -1 : random.int(0, monthSeconds)]
      month.deposit({ at: own, vault, wallet, usd: amount(random, 2_000, 1.2) })
      if (random.chance(0.5)) month.exit({ at: at + random.int(0, 3 * day), vault, wallet })
    }
    // Some buy within the hour of it, at the lower price.
    for (let index = 0; index < 5; index++)
      month.deposit({
        at: at + random.int(60, 3_000),
        vault,
        wallet: walletOf(`bargain ${index}`),
        usd: amount(random, 2_000, 1),
      })
  },
}
