/** A snapshot of a vault: assets per share as an integer, scaled by 10^exponent shares. Instants are unix milliseconds. */
export type PricedSnapshot = {
  atMs: number
  blockNumber: number
  numerator: bigint
  exponent: number
  totalSupply: bigint
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
  const { snapshots, mints } = input
  const readings = new Map(input.readings.map(({ blockNumber, price }) => [blockNumber, price]))
  const steps: PaidStep[] = []
  let next = 0
  snapshots.forEach((snapshot, index) => {
    const { atMs, blockNumber, numerator, exponent } = snapshot
    let step: PaidStep = {
      ...{ atMs, blockNumber, numerator, exponent, full: numerator, isGuarded: true },
      by: { snapshot: blockNumber },
    }
    steps.push(step)
    const end = snapshots[index + 1]?.blockNumber ?? Number.POSITIVE_INFINITY
    while ((mints[next]?.blockNumber ?? Number.POSITIVE_INFINITY) <= blockNumber) next += 1
    const since: Mint[] = []
    for (let mint = mints[next]; mint && mint.blockNumber < end; mint = mints[next]) {
      since.push(mint)
      next += 1
    }
    const awaited = new Set(listReadBlocks(snapshot, since))
    const lower = (to: bigint, at: Pick<Mint, 'atMs' | 'blockNumber'>, by: PaidBy) => {
      if (to >= step.numerator) return
      step = { ...step, atMs: at.atMs, blockNumber: at.blockNumber, numerator: to, by }
      steps.push(step)
    }
    for (const mint of since) {
      const { logIndex, assets, shares } = mint
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
  })
  return steps
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
