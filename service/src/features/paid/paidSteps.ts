import { computePaidPrice, listAllReadBlocks, type PaidStep } from '../../derive/paidPrice.js'
import type { Queryable } from '../../postgres/pool.js'
import {
  listMints,
  listReadings,
  listSnapshots,
  type MintRow,
  type ReadingRow,
  type SnapshotRow,
  type VaultRange,
} from './storePaid.js'

/** The fact that set a step of a paid price, as a chain can be asked for it. */
export type PaidOrigin =
  | { kind: 'snapshot' | 'reading'; blockNumber: number; blockHash: string }
  | { kind: 'sale'; blockNumber: number; blockHash: string; transactionHash: string; logIndex: number }

export type TracedStep = PaidStep & { origin: PaidOrigin }

/** The paid price of a vault in a range, with what it follows from. */
export type PaidPrices = {
  snapshots: readonly SnapshotRow[]
  /** As if the rule always held. */
  steps: readonly TracedStep[]
  /** Blocks that have to be read and were not tried yet. */
  awaited: readonly number[]
}

/** The facts of a vault that its paid price follows from: snapshots in the order of time, mints in that of the chain. */
export type PaidFacts = {
  snapshots: readonly SnapshotRow[]
  mints: readonly MintRow[]
  readings: readonly ReadingRow[]
}

/** The paid price by facts of a vault. `skipsDust`: a snapshot with too few shares is no reading. Pure. */
export function tracePaidPrices(told: PaidFacts, { skipsDust }: { skipsDust: boolean }): PaidPrices {
  const { snapshots, mints, readings } = told
  const facts = {
    snapshots: snapshots.map((row) => toSnapshot(row, skipsDust)),
    mints: mints.map(toMint),
    readings: readings.map(toReading),
  }
  const tried = new Set(readings.map(({ blockNumber }) => blockNumber))
  const origins = findOrigins(told)
  return {
    snapshots,
    steps: computePaidPrice(facts).map((step) => Object.assign(step, { origin: origins(step) })),
    awaited: listAllReadBlocks(facts).filter((block) => !tried.has(block)),
  }
}

/** The paid price of a share from what it was at `from`, up to `to` (included). */
export async function readPaidPrices(
  db: Queryable,
  { skipsDust, ...range }: VaultRange & { skipsDust: boolean },
): Promise<PaidPrices> {
  const [found] = await listPaidPrices(db, [range], { skipsDust })
  return found ?? { snapshots: [], steps: [], awaited: [] }
}

/** The same of many shares, in their order, by three statements. */
export async function listPaidPrices(
  db: Queryable,
  ranges: readonly VaultRange[],
  { skipsDust }: { skipsDust: boolean },
): Promise<PaidPrices[]> {
  const snapshots = await listSnapshots(db, ranges)
  const stretches = ranges.map(({ vaultId, to }, place) => {
    // Without a snapshot there is no price that a mint could lower.
    const above = snapshots[place]?.[0]?.blockNumber ?? Number.MAX_SAFE_INTEGER
    return { vaultId, above, to }
  })
  const [mints, readings] = await Promise.all([listMints(db, stretches), listReadings(db, stretches)])
  return ranges.map((_, place) =>
    tracePaidPrices(
      { snapshots: snapshots[place] ?? [], mints: mints[place] ?? [], readings: readings[place] ?? [] },
      { skipsDust },
    ),
  )
}

const toSnapshot = ({ at, blockNumber, numerator, exponent, totalSupply, isDust }: SnapshotRow, skipsDust: boolean) => {
  const price = BigInt(numerator)
  const supply = BigInt(totalSupply)
  return {
    atMs: at.getTime(),
    blockNumber,
    numerator: price,
    exponent,
    totalSupply: supply,
    isDust: skipsDust && isDust,
  }
}

const toMint = ({ at, blockNumber, logIndex, shares, assets }: MintRow) => ({
  ...{ atMs: at.getTime(), blockNumber, logIndex, shares: BigInt(shares) },
  assets: assets === null ? undefined : BigInt(assets),
})

const toReading = ({ blockNumber, numerator, exponent }: ReadingRow) => ({
  blockNumber,
  price: numerator === null ? undefined : { numerator: BigInt(numerator), exponent },
})

/** Names the fact behind a step by the hash of its block. */
function findOrigins({ snapshots, mints }: PaidFacts) {
  const blocks = new Map([...snapshots, ...mints].map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  const sales = new Map(mints.map((mint) => [`${mint.blockNumber} ${mint.logIndex}`, mint.transactionHash]))
  const hashOf = (blockNumber: number) => blocks.get(blockNumber) ?? ''
  return ({ by }: PaidStep): PaidOrigin => {
    if ('snapshot' in by) return { kind: 'snapshot', blockNumber: by.snapshot, blockHash: hashOf(by.snapshot) }
    if ('reading' in by) {
      const { blockNumber } = by.reading
      return { kind: 'reading', blockNumber, blockHash: hashOf(blockNumber) }
    }
    const { blockNumber, logIndex } = by.sale
    const transactionHash = sales.get(`${blockNumber} ${logIndex}`) ?? ''
    return { kind: 'sale', blockNumber, blockHash: hashOf(blockNumber), transactionHash, logIndex }
  }
}
