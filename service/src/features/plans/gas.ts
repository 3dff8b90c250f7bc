import { type Hex, size } from 'viem'

const transactionGas = 21_000n
const zeroByteGas = 4n
const otherByteGas = 16n
/** EIP-7623: a transaction pays at least this much for each token of calldata; a byte that is not zero is four. */
const floorTokenGas = 10n

/**
 * Gas that a call saves after others of the same plan, because they warmed its accounts and storage (EIP-2929, EIP-2200): a
 * token's account, its allowance and balance, once each. A call alone in its transaction pays for them.
 */
const warmthGas = 12_000n

/** Spare gas for changes on the chain before it is mined: a crossed tick, a first write to a market or an order book. */
const spareGas = 100_000n

const marginNumerator = 13n
const marginDenominator = 10n

/**
 * Gas limit of a transaction: the measured gas of its call, the intrinsic cost and the calldata floor of EIP-7623, and
 * 100,000 more, times 1.3, rounded up. `position` is the call's place in its plan, from 0.
 */
export function computeGasLimit(measured: bigint, data: Hex, position: number): bigint {
  const execution = measured + (position > 0 ? warmthGas : 0n)
  const standard = computeIntrinsicGas(data) + execution
  const floor = computeFloorGas(data)
  return withMargin((standard > floor ? standard : floor) + spareGas)
}

/** The gas of a transaction with this calldata before its call begins. */
export function computeIntrinsicGas(data: Hex): bigint {
  const { zeros, others } = countBytes(data)
  return transactionGas + zeros * zeroByteGas + others * otherByteGas
}

function computeFloorGas(data: Hex): bigint {
  const { zeros, others } = countBytes(data)
  return transactionGas + floorTokenGas * (zeros + others * 4n)
}

function withMargin(gas: bigint): bigint {
  return (gas * marginNumerator + marginDenominator - 1n) / marginDenominator
}

function countBytes(data: Hex): { zeros: bigint; others: bigint } {
  let zeros = 0
  for (let at = 2; at < data.length; at += 2) if (data.charCodeAt(at) === 48 && data.charCodeAt(at + 1) === 48) zeros++
  return { zeros: BigInt(zeros), others: BigInt(size(data) - zeros) }
}
