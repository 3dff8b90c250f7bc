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

const marginNumerator = 5n
const marginDenominator = 4n

/**
 * Gas limit of a transaction: what its call was measured to use, the intrinsic cost and the calldata floor of EIP-7623,
 * times 1.25, rounded up. `position` is the call's place in its plan, from 0.
 */
export function computeGasLimit(measured: bigint, data: Hex, position: number): bigint {
  const { zeros, others } = countBytes(data)
  const execution = measured + (position > 0 ? warmthGas : 0n)
  const standard = transactionGas + zeros * zeroByteGas + others * otherByteGas + execution
  const floor = transactionGas + floorTokenGas * (zeros + others * 4n)
  return withMargin(standard > floor ? standard : floor)
}

function withMargin(gas: bigint): bigint {
  return (gas * marginNumerator + marginDenominator - 1n) / marginDenominator
}

function countBytes(data: Hex): { zeros: bigint; others: bigint } {
  let zeros = 0
  for (let at = 2; at < data.length; at += 2) if (data.charCodeAt(at) === 48 && data.charCodeAt(at + 1) === 48) zeros++
  return { zeros: BigInt(zeros), others: BigInt(size(data) - zeros) }
}
