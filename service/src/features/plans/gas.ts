import { type Hex, size } from 'viem'

const transactionGas = 21_000n
const zeroByteGas = 4n
const otherByteGas = 16n
/** EIP-7623: a transaction pays at least this much for each token of calldata; a byte that is not zero is four. */
const floorTokenGas = 10n

/**
 * What a call made after others of the same plan saves because they warmed the accounts and storage it uses (EIP-2929,
 * EIP-2200): a token's account, its allowance and balance, once each. Alone it pays for them.
 */
const warmthGas = 12_000n

/** What may have changed on the chain before it is mined: a tick, a market, a book that is written only then. */
const spareGas = 100_000n

const marginNumerator = 13n
const marginDenominator = 10n

/**
 * Gas limit of a transaction: what its call was measured to use, the intrinsic cost and the calldata floor of EIP-7623,
 * and 100,000 more, times 1.3, rounded up. `position` is the call's place in its plan, from 0.
 */
export function computeGasLimit(measured: bigint, data: Hex, position: number): bigint {
  const execution = measured + (position > 0 ? warmthGas : 0n)
  const standard = computeIntrinsicGas(data) + execution
  const floor = computeFloorGas(data)
  return withMargin((standard > floor ? standard : floor) + spareGas)
}

/** What a transaction with this calldata costs before its call begins. */
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
