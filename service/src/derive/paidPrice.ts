/** A snapshot of a vault: assets per share as an integer, scaled by 10^exponent shares. Instants are unix milliseconds. */
export type PricedSnapshot = {
  atMs: number
  blockNumber: number
  numerator: bigint
  exponent: number
  totalSupply: bigint
  /** Shares were too few for its price to be a reading: the price before it goes on. */
  isDust?: boolean | undefined
}

/**
 * Shares that a vault minted. `assets` is the price of a deposit that completes at once in the asset of the vault; absent
 * where the shares were minted otherwise: for another token, by a claim, or without an event.
 */
export type Mint = { atMs: number; blockNumber: number; logIndex: number; shares: bigint; assets?: bigint | undefined }

/** The share price at a block in which shares were minted otherwise; `undefined` where the block could not be read. */
export type MintReading = { blockNumber: number; price: { numerator: bigint; exponent: number } | undefined }

/** The fact that set a paid price. */
export type PaidBy =
  | { snapshot: number }
  | { sale: { blockNumber: number; logIndex: number } }
  | { reading: { blockNumber: number } }

/** The paid price of a share from an instant on. */
export type PaidStep = {
  atMs: number
  blockNumber: number
  /** The paid price, scaled by 10^exponent shares. */
  numerator: bigint
  exponent: number
  /** The price of the snapshot it holds since. */
  full: bigint
  /** False up to the next snapshot where a block that had to be read was not: shares count by the least held since. */
  isGuarded: boolean
  by: PaidBy
}

/** Shares minted otherwise name no price until they are more than this part of the supply at the snapshot. */
const otherwisePart = 1_000n

/**
 * The lowest price at which a deposit can have bought: one unit of assets more and one share less include every rounding.
 * Undefined for a deposit too small to name a price.
 */
export function computeSalePrice(assets: bigint, shares: bigint, exponent: number): bigint | undefined {
  if (assets <= 0n || shares <= 1n) return undefined
  return ((assets + 1n) * 10n ** BigInt(exponent)) / (shares - 1n)
}

/**
 * The price that holders of a vault are paid by: that of the newest snapshot, but never above a price at which the vault has
 * sold shares since. It falls only, until the next snapshot sets it anew. Each deposit counts for itself, so dust and
 * somebody else's deposit prove nothing for it. Snapshots come in the order of blocks, mints in that of the chain. Pure.
 */
export function computePaidPrice(input: {
  snapshots: readonly PricedSnapshot[]
  mints: readonly Mint[]
  readings: readonly MintReading[]
}): PaidStep[] {
  const readings = new Map(input.readings.map(({ blockNumber, price }) => [blockNumber, price]))
  const steps: PaidStep[] = []
  for (const { snapshot, since } of splitStretches(input)) {
    const last = steps.at(-1)
    let step = snapshot.isDust ? last : openStep(snapshot)
    if (step && step !== last) steps.push(step)
    const awaited = new Set(listReadBlocks(snapshot, since))
    const lower = (to: bigint, at: Pick<Mint, 'atMs' | 'blockNumber'>, by: PaidBy) => {
      if (!step || to >= step.numerator) return
      step = { ...step, atMs: at.atMs, blockNumber: at.blockNumber, numerator: to, by }
      steps.push(step)
    }
    for (const mint of since) {
      if (!step) break
      const { logIndex, assets, shares } = mint
      const { exponent } = step
      const sold = assets === undefined ? undefined : computeSalePrice(assets, shares, exponent)
      if (sold !== undefined) lower(sold, mint, { sale: { blockNumber: mint.blockNumber, logIndex } })
      if (!awaited.delete(mint.blockNumber)) continue
      const by: PaidBy = { reading: { blockNumber: mint.blockNumber } }
      const read = readings.get(mint.blockNumber)
      if (read) lower((read.numerator * 10n ** BigInt(exponent)) / 10n ** BigInt(read.exponent), mint, by)
      else if (step.isGuarded) {
        step = { ...step, atMs: mint.atMs, blockNumber: mint.blockNumber, isGuarded: false, by }
        steps.push(step)
      }
    }
  }
  return steps
}

/** Each snapshot with the mints in blocks above its own, below that of the next one. */
function splitStretches({ snapshots, mints }: { snapshots: readonly PricedSnapshot[]; mints: readonly Mint[] }) {
  let next = 0
  return snapshots.map((snapshot, index) => {
    const end = snapshots[index + 1]?.blockNumber ?? Number.POSITIVE_INFINITY
    while ((mints[next]?.blockNumber ?? Number.POSITIVE_INFINITY) <= snapshot.blockNumber) next += 1
    const since: Mint[] = []
    for (let mint = mints[next]; mint && mint.blockNumber < end; mint = mints[next]) {
      since.push(mint)
      next += 1
    }
    return { snapshot, since }
  })
}

/** The blocks after each of some snapshots at whose hash the share price is read. Pure. */
export function listAllReadBlocks(facts: { snapshots: readonly PricedSnapshot[]; mints: readonly Mint[] }): number[] {
  return splitStretches(facts).flatMap(({ snapshot, since }) => listReadBlocks(snapshot, since))
}

const openStep = ({ atMs, blockNumber, numerator, exponent }: PricedSnapshot): PaidStep => {
  const by = { snapshot: blockNumber }
  return { atMs, blockNumber, numerator, exponent, full: numerator, isGuarded: true, by }
}

/**
 * The steps of the paid price where it holds from an instant on: before that a share counts at the price of the newest
 * snapshot. Pure.
 */
export function holdFrom<Step extends PaidStep>(steps: readonly Step[], fromMs: number): Step[] {
  const earlier = steps.filter(({ atMs }) => atMs < fromMs)
  const last = earlier.at(-1)
  const isAhead = last !== undefined && !('snapshot' in last.by)
  return [
    ...earlier.filter(({ by }) => 'snapshot' in by),
    ...(isAhead ? [{ ...last, atMs: fromMs }] : []),
    ...steps.filter(({ atMs }) => atMs >= fromMs),
  ]
}

/** A snapshot with its price, and the lowest paid price since. */
export type Fall = { snapshot: number; full: bigint; low: bigint }

/** The snapshots in force from an instant on, and before another, after which the paid price fell before the end. Pure. */
export function listFalls(steps: readonly PaidStep[], { fromMs, toMs }: { fromMs: number; toMs: number }): Fall[] {
  const falls: Fall[] = []
  let snapshot = 0
  steps.forEach(({ atMs, by, numerator, full }, index) => {
    if ('snapshot' in by) snapshot = by.snapshot
    // A snapshot that another one followed by the beginning is not in force.
    if (atMs >= toMs || numerator >= full || !isInForce(steps, index, fromMs)) return
    falls.push({ snapshot, full, low: numerator })
  })
  return lowestFalls(falls)
}

/** Whether the snapshot of a step is the newest one at an instant, or a later one. */
function isInForce(steps: readonly PaidStep[], index: number, fromMs: number): boolean {
  for (let next = index + 1; next < steps.length; next++) {
    const step = steps[next]
    if (!step || step.atMs > fromMs) return true
    if ('snapshot' in step.by) return false
  }
  return true
}

/** One fall of each snapshot, to the lowest price. Pure. */
export function lowestFalls(falls: readonly Fall[]): Fall[] {
  const lowest = new Map<number, Fall>()
  for (const fall of falls) {
    const known = lowest.get(fall.snapshot)
    if (!known || fall.low < known.low) lowest.set(fall.snapshot, fall)
  }
  return [...lowest.values()]
}

/** Counts the snapshots after which the paid price fell by more than `stagedBps` hundredths of a percent. Pure. */
export function countStaged(falls: readonly Fall[], stagedBps: bigint): number {
  return lowestFalls(falls).filter(({ full, low }) => (full - low) * 10_000n > full * stagedBps).length
}

/**
 * The blocks after a snapshot at whose hash the share price is read: where shares minted otherwise come to more than a
 * thousandth of the supply at the snapshot, and wherever as much was added again. Pure.
 */
export function listReadBlocks(
  { totalSupply }: Pick<PricedSnapshot, 'totalSupply'>,
  since: readonly Mint[],
): readonly number[] {
  const blocks: number[] = []
  let minted = 0n
  since.forEach((mint, index) => {
    if (mint.assets === undefined) minted += mint.shares
    // A block is read as a whole, so all it minted counts before it is judged.
    if (since[index + 1]?.blockNumber === mint.blockNumber || minted * otherwisePart <= totalSupply) return
    if (minted > 0n) blocks.push(mint.blockNumber)
    minted = 0n
  })
  return blocks
}
