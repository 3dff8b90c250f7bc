import type { Random } from './simulation/random.js'

/** Histories of vaults as plain values: written into a database, and counted second by second by `naiveUsdDays.ts`. */

export const start = Date.UTC(2026, 10, 20, 8) / 1_000

export type ToldSnapshot = {
  block: number
  numerator: bigint
  exponent: number
  supply: bigint
  priceUsd: string | null
  /** Of the vault that the asset is a share of: its snapshot that the price follows from. */
  basedOn?: ToldSnapshot
}
export type ToldMint = { block: number; logIndex: number; shares: bigint; assets: bigint | null }
export type ToldLot = { block: number; transaction: number; wallet: number; distributorId: string; after: bigint }
export type ToldVault = {
  name: string
  chainId: number
  assetDecimals: number
  receiptDecimals: number
  snapshots: ToldSnapshot[]
  mints: ToldMint[]
  /** Share prices at blocks of mints; null: the block could not be read. */
  readings: Map<number, { numerator: bigint; exponent: number } | null>
  lots: ToldLot[]
  /** What the vault was read to be: as configured, or another. */
  identities: { block: number; agrees: boolean }[]
}
export type ToldChain = { chainId: number; seconds: number; confirmed: number; head: number }
export type History = { chains: ToldChain[]; vaults: ToldVault[]; rulesAt: number }

/** Seconds since the start of a block of a chain: blocks of a chain are equally far apart. */
export const timeOf = ({ seconds }: Pick<ToldChain, 'seconds'>, block: number) => block * seconds

export const lengthSeconds = 3_600
const interval = 600
const distributors = ['acme', 'beta']

/** The blocks after each snapshot at which the price of a share has to be read, counted from the mints alone. */
export function listAskedBlocks({ snapshots, mints }: Pick<ToldVault, 'snapshots' | 'mints'>): number[] {
  const asked: number[] = []
  snapshots.forEach(({ block, supply }, index) => {
    const end = snapshots[index + 1]?.block ?? Number.POSITIVE_INFINITY
    let sum = 0n
    const own = mints.filter((mint) => mint.assets === null && mint.block > block && mint.block < end)
    for (const at of new Set(own.map((mint) => mint.block))) {
      for (const mint of own) if (mint.block === at) sum += mint.shares
      if (sum * 1_000n <= supply) continue
      asked.push(at)
      sum = 0n
    }
  })
  return asked
}

/** A history in which shares move at any block, prices fall, fail and are withheld, and chains are not equally far. */
export function drawHistory(random: Random): History {
  const chains = [
    { chainId: 31_337, seconds: 1 },
    { chainId: 1, seconds: 7 },
  ].map((chain) => {
    const head = Math.floor(lengthSeconds / chain.seconds)
    return { ...chain, head, confirmed: random.chance(0.5) ? head - 1 : head - random.int(2, Math.floor(head / 3)) }
  })
  const [first, second] = chains as [ToldChain, ToldChain]
  const inner = drawVault(random, { name: 'inner', chain: first, assetDecimals: 6, receiptDecimals: 6 })
  const outer = drawVault(random, { name: 'outer', chain: first, assetDecimals: 6, receiptDecimals: 18, inner })
  const wide = drawVault(random, { name: 'wide', chain: second, assetDecimals: 18, receiptDecimals: 24 })
  const moved = drawVault(random, { name: 'moved', chain: second, assetDecimals: 8, receiptDecimals: 18 })
  if (random.chance(0.6)) moved.identities = drawIdentities(random, second)
  const rulesAt = random.chance(0.6) ? -1 : random.int(0, lengthSeconds)
  return { chains, vaults: [inner, outer, wide, moved], rulesAt }
}

/** The same history, so many times as long. */
export function stretchHistory({ chains, vaults, rulesAt }: History, by: number): History {
  const longer = chains.map((chain) => ({ ...chain, seconds: chain.seconds * by }))
  return { chains: longer, vaults, rulesAt: rulesAt * by }
}

function drawBlocks(random: Random, { head }: ToldChain, count: number): number[] {
  return Array.from({ length: count }, () => random.int(1, head)).sort((a, b) => a - b)
}

function drawVault(
  random: Random,
  of: { name: string; chain: ToldChain; assetDecimals: number; receiptDecimals: number; inner?: ToldVault },
): ToldVault {
  const { name, chain, assetDecimals, receiptDecimals } = of
  const whole = 10n ** BigInt(receiptDecimals)
  const snapshots = drawSnapshots(random, of)
  const mints = drawBlocks(random, chain, random.int(0, 14)).map((block, index): ToldMint => {
    const shares = (whole * BigInt(random.int(1, 4_000))) / 1_000n
    const p = snapshots.findLast((each) => each.block < block)
    const price = p ? (shares * p.numerator) / 10n ** BigInt(p.exponent) : shares
    const assets = random.chance(0.3) ? null : (price * BigInt(random.pick([1, 500, 990, 1_000, 1_200]))) / 1_000n
    return { block, logIndex: index, shares, assets: assets === 0n ? null : assets }
  })
  const readings: ToldVault['readings'] = new Map()
  for (const block of listAskedBlocks({ snapshots, mints })) {
    const exponent = receiptDecimals + random.pick([0, 12])
    const scale = 10n ** BigInt(exponent - receiptDecimals + assetDecimals)
    const numerator = (scale * BigInt(random.int(0, 1_300))) / 1_000n
    readings.set(block, random.chance(0.4) ? null : { numerator, exponent })
  }
  const identities: ToldVault['identities'] = []
  const lots = drawLots(random, chain, whole)
  return { name, chainId: chain.chainId, assetDecimals, receiptDecimals, snapshots, mints, readings, lots, identities }
}

function drawSnapshots(
  random: Random,
  { chain, assetDecimals, receiptDecimals, inner }: Parameters<typeof drawVault>[1],
): ToldSnapshot[] {
  const found: ToldSnapshot[] = []
  for (let at = 0; at < lengthSeconds; at += interval) {
    if (random.chance(0.15)) continue
    const block = Math.floor((at + (random.chance(0.3) ? random.int(0, 200) : 0)) / chain.seconds)
    const exponent = receiptDecimals + (random.chance(0.2) ? 0 : 12)
    const scale = 10n ** BigInt(exponent - receiptDecimals + assetDecimals)
    const numerator = (scale * BigInt(random.int(900, 1_300))) / 1_000n + BigInt(random.int(0, 9))
    const supply = 10n ** BigInt(receiptDecimals) * BigInt(random.int(1, 3_000))
    const basedOn = inner?.snapshots.findLast((each) => each.block <= block && each.priceUsd !== null)
    const own = random.chance(0.2) ? null : random.pick(['1', '0.999', '1.000000000000000001', '1830.25', '0.33'])
    const priceUsd = inner ? (basedOn ? priceShare(inner, basedOn, basedOn.numerator) : null) : own
    found.push({ block, numerator, exponent, supply, priceUsd, ...(basedOn ? { basedOn } : {}) })
  }
  return found
}

/** US dollars of a whole share at a price in its asset, cut after 18 digits. */
export function priceShare(
  { assetDecimals, receiptDecimals }: Pick<ToldVault, 'assetDecimals' | 'receiptDecimals'>,
  { exponent, priceUsd }: Pick<ToldSnapshot, 'exponent' | 'priceUsd'>,
  numerator: bigint,
): string {
  const digits =
    (numerator * unitsOf(priceUsd ?? '0') * 10n ** BigInt(receiptDecimals)) / 10n ** BigInt(exponent + assetDecimals)
  const text = digits.toString().padStart(19, '0')
  return `${text.slice(0, -18)}.${text.slice(-18)}`.replace(/\.?0+$/, '')
}

/** US dollars in units of 10^-18. */
export function unitsOf(text: string): bigint {
  const [before = '0', after = ''] = text.split('.')
  return BigInt(before + after.padEnd(18, '0'))
}

function drawLots(random: Random, chain: ToldChain, whole: bigint): ToldLot[] {
  return drawBlocks(random, chain, random.int(2, 24)).map((block, transaction) => ({
    ...{ block, transaction, wallet: random.int(0, 2), distributorId: random.pick(distributors) },
    after: random.chance(0.25) ? 0n : (whole * BigInt(random.int(1, 9_999))) / 7n,
  }))
}

function drawIdentities(random: Random, { head }: ToldChain): ToldVault['identities'] {
  const blocks = [...new Set(Array.from({ length: 5 }, () => random.int(1, head)))].sort((a, b) => a - b)
  return blocks.map((block) => ({ block, agrees: random.chance(0.5) }))
}
