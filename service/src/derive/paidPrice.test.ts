import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { times } from '../../test/seed.js'
import {
  computePaidPrice,
  computeSalePrice,
  listReadBlocks,
  type Mint,
  type MintReading,
  type PricedSnapshot,
} from './paidPrice.js'
import { computeUsdDays, type Level, type PaidLevel } from './usdDays.js'

const exponent = 18
const whole = 10n ** 18n
const second = 1_000

/** A deposit, or another mint where `assets` is undefined, in the block of its number; a block takes a second. */
const minted = (blockNumber: number, shares: bigint, assets?: bigint): Mint => ({
  ...{ atMs: blockNumber * second, blockNumber, logIndex: 0, shares, assets },
})
const snapshotAt = (blockNumber: number, numerator: bigint, totalSupply: bigint): PricedSnapshot => ({
  ...{ atMs: blockNumber * second, blockNumber, numerator, exponent, totalSupply },
})

describe('computePaidPrice', () => {
  it('falls to the price of a deposit, in the block of the deposit, where a vault began again at 1:1', () => {
    const snapshots = [snapshotAt(10, 10n ** 6n * whole, 1_000n), snapshotAt(900, whole, 10n ** 10n)]
    const steps = computePaidPrice({ snapshots, mints: [minted(12, 10n ** 10n, 10n ** 10n)], readings: [] })
    // (10^10 + 1) × 10^18 / (10^10 - 1), cut: two units in 10^10 above 1.
    expect(steps.map(({ blockNumber, numerator }) => [blockNumber, numerator])).toEqual([
      [10, 10n ** 24n],
      [12, 1_000_000_000_200_000_000n],
      [900, whole],
    ])
    expect(steps[1]?.by).toEqual({ sale: { blockNumber: 12, logIndex: 0 } })
  })

  it('takes no step for a deposit in the block of the snapshot, nor for one that is too small to name a price', () => {
    const snapshots = [snapshotAt(10, 2n * whole, 10n ** 9n)]
    const mints = [minted(10, 100n, 100n), minted(11, 1n, 1n), minted(12, 5n, 0n)]
    expect(computePaidPrice({ snapshots, mints, readings: [] })).toHaveLength(1)
    expect(computeSalePrice(0n, 5n, exponent)).toBeUndefined()
    expect(computeSalePrice(5n, 1n, exponent)).toBeUndefined()
    // The price of 2 with every rounding against the vault: 3 × 10^18 / 1.
    expect(computeSalePrice(2n, 2n, exponent)).toBe(3n * whole)
  })

  it('never sums deposits: a thousand of dust leave the price, and so does a large one above it', () => {
    const dust = Array.from({ length: 1_000 }, (_, index) => minted(11 + index, 2n, 4n))
    const mints = [...dust, minted(2_000, 10n ** 12n, 3n * 10n ** 12n)]
    const snapshots = [snapshotAt(10, 2n * whole, 10n ** 9n)]
    expect(computePaidPrice({ snapshots, mints, readings: [] })).toHaveLength(1)
  })

  it('reads a block where shares minted otherwise pass a thousandth of the supply, and at each that adds as much again', () => {
    const since = [
      ...[minted(11, 1_000n), minted(12, 1n), minted(13, 500n), minted(14, 10n ** 9n, 10n ** 9n)],
      ...[minted(15, 400n), minted(15, 101n)],
    ]
    expect(listReadBlocks({ totalSupply: 1_000_000n }, since)).toEqual([12, 15])
  })

  it('is at most what was read where shares were minted otherwise, and says where that could not be read', () => {
    const snapshots = [snapshotAt(10, 2n * whole, 1_000n), snapshotAt(20, 2n * whole, 1_000n)]
    const mints = [minted(11, 500n), minted(12, 500n), minted(21, 500n)]
    const readings: MintReading[] = [
      { blockNumber: 11, price: { numerator: 15n, exponent: 1 } },
      { blockNumber: 12, price: undefined },
    ]
    const steps = computePaidPrice({ snapshots, mints, readings })
    expect(steps.map(({ blockNumber, numerator, isGuarded }) => [blockNumber, numerator, isGuarded])).toEqual([
      [10, 2n * whole, true],
      [11, (3n * whole) / 2n, true],
      [12, (3n * whole) / 2n, false],
      [20, 2n * whole, true],
      [21, 2n * whole, false],
    ])
  })
})

/** A vault in integers, every rounding in its favour. `virtual` shares and assets hold the price when all others leave. */
class Vault {
  assets = 0n
  supply = 0n
  constructor(
    readonly virtual: bigint,
    readonly entryBps: bigint,
    readonly exitBps: bigint,
  ) {}

  toAssets(shares: bigint): bigint {
    return (shares * (this.assets + this.virtual)) / (this.supply + this.virtual)
  }

  /** The shares that an amount buys after the entry fee, which goes elsewhere. */
  deposit(assets: bigint): bigint {
    const net = assets - (assets * this.entryBps + 9_999n) / 10_000n
    const shares = (net * (this.supply + this.virtual)) / (this.assets + this.virtual)
    this.assets += net
    this.supply += shares
    return shares
  }

  redeem(shares: bigint): void {
    const assets = this.toAssets(shares)
    // The exit fee stays in the vault.
    this.assets -= assets - (assets * this.exitBps) / 10_000n
    this.supply -= shares
  }

  /** A harvest of which a tenth is paid in new shares: these are minted without an event. */
  harvest(assets: bigint): bigint {
    this.assets += assets
    const fee = assets / 10n
    const shares = (fee * (this.supply + this.virtual)) / (this.assets - fee + this.virtual)
    this.supply += shares
    return shares
  }
}

type Act = { kind: number; amount: bigint }
const acts = fc.array(fc.record({ kind: fc.nat(9), amount: fc.bigInt({ min: 1n, max: 10n ** 15n }) }), {
  ...{ minLength: 10, maxLength: 60 },
})

type History = {
  snapshots: PricedSnapshot[]
  mints: Mint[]
  readings: MintReading[]
  shares: Level<bigint>[]
  end: number
}

/** Plays acts, one a block, and keeps what a chain would say of them. `lose` may take assets before an act. */
function play(
  vault: Vault,
  all: readonly Act[],
  lose: (vault: Vault, block: number) => void = () => undefined,
): History {
  const history: History = { snapshots: [], mints: [], readings: [], shares: [], end: (all.length + 2) * second }
  const price = () => vault.toAssets(10n ** BigInt(exponent))
  vault.deposit(10n ** 9n)
  const snap = (block: number) => history.snapshots.push(snapshotAt(block, price(), vault.supply))
  snap(0)
  all.forEach(({ kind, amount }, index) => {
    const block = index + 1
    lose(vault, block)
    if (kind <= 2) {
      const shares = vault.deposit(amount)
      history.mints.push(minted(block, shares, amount))
    } else if (kind === 3) vault.redeem((vault.supply * (amount % 1_000n)) / 1_000n)
    else if (kind === 4) vault.redeem(vault.supply)
    else if (kind === 5) vault.assets += amount / 1_000n
    else if (kind === 6) {
      history.mints.push(minted(block, vault.harvest(amount / 100n)))
      history.readings.push({ blockNumber: block, price: { numerator: price(), exponent } })
    } else if (kind === 7) snap(block)
    else if (kind === 8) {
      // Profit is locked in shares of the vault itself, which it burns over time.
      const locked = (amount * (vault.supply + vault.virtual)) / (vault.assets + vault.virtual)
      vault.assets += amount
      vault.supply += locked
      history.mints.push(minted(block, locked))
      history.readings.push({ blockNumber: block, price: { numerator: price(), exponent } })
      vault.supply -= locked / 3n
    }
    history.shares.push({ atMs: block * second, value: vault.supply })
  })
  return history
}

const toLevels = (steps: ReturnType<typeof computePaidPrice>): Level<PaidLevel>[] =>
  steps.map(({ atMs, numerator, full, exponent: x, isGuarded }) => ({
    atMs,
    value: { numerator, full, exponent: x, isGuarded, priceUsd: '1.000123' },
  }))

const count = ({ shares, end }: History, prices: Level<PaidLevel>[]) =>
  computeUsdDays({ shares, least: [], prices, assetDecimals: 6, bounds: [0, end] }).total

describe('random histories', () => {
  it('gives the USD-days it gives without the paid price, to the last digit, where no price falls (500 histories)', () => {
    const bps = fc.constantFrom(0n, 1n, 30n, 500n)
    fc.assert(
      fc.property(fc.constantFrom(1n, 1_000n, 10n ** 6n), bps, bps, acts, (virtual, entryBps, exitBps, all) => {
        const history = play(new Vault(virtual, entryBps, exitBps), all)
        const paid = computePaidPrice(history)
        const plain = computePaidPrice({ ...history, mints: [], readings: [] })
        expect(paid).toEqual(plain)
        expect(count(history, toLevels(paid))).toEqual(count(history, toLevels(plain)))
      }),
      { numRuns: 500 * times, seed: 39 },
    )
  })

  it('is never above the snapshot nor below the lowest true price at a deposit since, in twenty shapes of loss', () => {
    for (let shape = 0; shape < 20; shape += 1)
      fc.assert(
        fc.property(acts, (all) => {
          const lowest = new Map<number, bigint>()
          const lose = (vault: Vault, block: number) => {
            // At once or little by little, of one part in a thousand to nearly all of it.
            const isDue = shape < 10 ? block === 5 : block % 5 === 0
            if (isDue) vault.assets -= (vault.assets * BigInt(1 + (shape % 10) * 111)) / 1_000n
            lowest.set(block, vault.toAssets(10n ** BigInt(exponent)))
          }
          const history = play(new Vault(1n, 0n, 0n), all, lose)
          for (const { blockNumber, numerator, full } of computePaidPrice(history)) {
            expect(numerator <= full).toBe(true)
            const snapshot = history.snapshots.filter((each) => each.blockNumber <= blockNumber).at(-1)
            const since = history.mints.filter(
              (mint) => mint.blockNumber > (snapshot?.blockNumber ?? 0) && mint.blockNumber <= blockNumber,
            )
            const trues = since.map((mint) => lowest.get(mint.blockNumber) ?? 0n)
            const reads = history.readings.flatMap(({ blockNumber: at, price }) =>
              price && since.some((mint) => mint.blockNumber === at) ? [price.numerator] : [],
            )
            const possible = [full, ...trues, ...reads]
            expect(possible.some((each) => numerator >= each)).toBe(true)
          }
        }),
        { numRuns: 25 * times, seed: shape },
      )
  })
})
