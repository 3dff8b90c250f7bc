import type { Random } from '../simulation/random.js'
import type { Drawn } from './fifthDrawing.js'
import { between, count, day, drawName, drawNames, fortune, hour, minute, skewed, times } from './fifthDrawing.js'
import { monthSeconds, openMonth, type TestVault } from './month.js'

/** The market of an honest distributor: what many people do with their own money in several vaults. */

const chains = [
  { chainId: 1, blockSeconds: 12 },
  { chainId: 10, blockSeconds: 2 },
  { chainId: 56, blockSeconds: 3 },
  { chainId: 100, blockSeconds: 5 },
  { chainId: 137, blockSeconds: 2 },
  { chainId: 8_453, blockSeconds: 2 },
  { chainId: 42_161, blockSeconds: 1 },
] as const

const entryPoint = '0x0000000071727de22e5e9d8baf0edac6f37da032'
const year = 365 * day

/** A price that earns through the year, with a wobble of at most two hundredths of a percent. */
export function drawPrice(random: Random): (second: number) => number {
  const [first, rate] = [between(random, 1, 1.35), between(random, 0.01, 0.16)]
  const [wobble, period] = [between(random, 0, 0.0002), between(random, 0.5, 9) * day]
  return (second) => first * (1 + (rate * second) / year) * (1 + wobble * Math.sin(second / period))
}

export function drawVault(random: Random): Partial<TestVault> {
  // No more decimals: month.ts takes a whole holding out by a float, and one above 2 ** 53 would end below nothing.
  const assetDecimals = 6
  const snapshotSeconds = random.pick([900, 1_800, 3_600, 3_600, 3_600, 7_200, 14_400])
  return { ...random.pick(chains), assetDecimals, snapshotSeconds, priceAt: drawPrice(random) }
}

export type Customs = { routers: string[]; bundlers: string[]; unsigned: number; routed: number; smart: number }

export function drawCustoms(random: Random): Customs {
  return {
    routers: drawNames(random, random.int(1, 3)),
    bundlers: drawNames(random, random.int(25, 60)),
    unsigned: between(random, 0, 0.25),
    routed: between(random, 0, 0.3),
    smart: between(random, 0, 0.08),
  }
}

/** How a wallet's deposit comes in: itself, through a router, or from a smart account that a bundler sends for. */
export function drawHow(random: Random, wallet: string, customs: Customs) {
  const attribution = random.chance(customs.unsigned) ? ('unsigned' as const) : ('signed' as const)
  if (random.chance(customs.smart)) return { attribution, sender: random.pick(customs.bundlers), target: entryPoint }
  const target = random.chance(customs.routed) ? random.pick(customs.routers) : '0xvault'
  return { attribution, sender: wallet, target }
}

/** Most is done in the day's busy hours. */
export function drawMoment(random: Random, from: number, to: number): number {
  const at = between(random, from, to)
  const isNight = (at % day) / hour < 6
  return Math.floor(isNight && random.chance(0.6) ? between(random, from, to) : at)
}

type Living = { drawn: Drawn; wallet: string; customs: Customs }
type When = { at: number; usd: number }

function moveOn({ drawn, wallet, customs }: Living, from: TestVault, { at, usd }: When): TestVault {
  const { month, random, vaults } = drawn
  const vault = random.pick(vaults)
  month.exit({ at, vault: from, wallet })
  const next = at + Math.round(skewed(random, minute, 8 * hour))
  month.deposit({ at: next, vault, wallet, usd, ...drawHow(random, wallet, customs) })
  return vault
}

/** One thing that a person does with a holding: adds, takes, sends away, is given something, leaves or moves. */
function actOnce(living: Living, vault: TestVault, { at, usd }: When): TestVault | undefined {
  const { drawn, wallet, customs } = living
  const { month, random, wallets } = drawn
  const luck = random.next()
  if (luck < 0.34) {
    month.deposit({ at, vault, wallet, usd: usd * skewed(random, 0.05, 2), ...drawHow(random, wallet, customs) })
  } else if (luck < 0.6) {
    month.exit({ at, vault, wallet, part: between(random, 0.04, 0.9) })
  } else if (luck < 0.66) {
    month.exit({ at, vault, wallet, part: random.chance(0.4) ? 1 : between(random, 0.05, 0.8), isBare: true })
  } else if (luck < 0.72) {
    month.deposit({ at, vault, wallet, usd: usd * skewed(random, 0.02, 0.4), sender: random.pick(wallets) })
  } else if (luck < 0.8) {
    return moveOn(living, vault, { at, usd })
  } else if (luck < 0.88) {
    month.exit({ at, vault, wallet })
    const back = at + Math.round(skewed(random, 5 * hour, 15 * day))
    month.deposit({ at: back, vault, wallet, usd: usd * between(random, 0.3, 1.4) })
  } else {
    month.exit({ at, vault, wallet })
    return undefined
  }
  return vault
}

function live(living: Living): void {
  const { drawn, wallet, customs } = living
  const { month, random, vaults } = drawn
  const usd = Math.max(5, fortune(random, 1_500, 1.7))
  const isOld = random.chance(0.45)
  let at = isOld ? -Math.round(skewed(random, hour, 200 * day)) : drawMoment(random, 0, monthSeconds * 0.97)
  let vault: TestVault | undefined = random.pick(vaults)
  month.deposit({ at, vault, wallet, usd, ...drawHow(random, wallet, customs) })
  const pace = skewed(random, 3 * day, 60 * day)
  at = Math.max(0, at)
  while (vault !== undefined) {
    at += Math.round(skewed(random, pace / 12, pace * 1.5))
    if (at >= monthSeconds) break
    vault = actOnce(living, vault, { at, usd })
    // What was moved or brought back is left alone for a while.
    at += 8 * hour
  }
}

/** Vaults without anyone in them, and the wallets that there will be. */
export function openMarket(random: Random, sizes: { vaults: [number, number]; wallets: [number, number] }): Drawn {
  const month = openMonth()
  const vaults = times(random.int(...sizes.vaults), () => month.vault(drawVault(random)))
  return { month, random, vaults, wallets: drawNames(random, count(random, ...sizes.wallets)) }
}

export function drawMarket(random: Random): Drawn {
  const drawn = openMarket(random, { vaults: [3, 7], wallets: [80, 700] })
  const customs = drawCustoms(random)
  for (const wallet of drawn.wallets) live({ drawn, wallet, customs })
  return drawn
}

/** People with a holding from before the month or its first days, and what each holds. */
export function drawCrowd({ month, random }: Drawn, vault: TestVault, size: number) {
  const customs = drawCustoms(random)
  const [middle, share] = [skewed(random, 200, 8_000), between(random, 0.4, 1)]
  return times(size, () => {
    const wallet = drawName(random)
    const usd = Math.max(10, fortune(random, middle, 1.5))
    const at = random.chance(share) ? -Math.round(skewed(random, hour, 300 * day)) : drawMoment(random, 0, 5 * day)
    month.deposit({ at, vault, wallet, usd, ...drawHow(random, wallet, customs) })
    return { wallet, usd, at: Math.max(0, at) }
  })
}
