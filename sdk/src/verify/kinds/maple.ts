import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type ExpectedCalls, readCall, type Wanted } from '../kindCalls.js'
import { isDepositNow, isRedeemNow } from './erc4626.js'

const abi = parseAbi([
  'function requestRedeem(uint256 shares, address owner)',
  'function removeShares(uint256 shares, address owner)',
])

const requestRedeem = (shares: bigint, user: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'requestRedeem', args: [shares, user] })

/** Shares of the user that wait are given back: some number of them, or exactly the one known. */
function isTakenBack(call: Hex, { user, amount }: Wanted): boolean {
  const shares = readCall(call, abi, 'removeShares')?.[0]
  if (typeof shares !== 'bigint' || shares === 0n || (amount !== undefined && shares !== amount)) return false
  return call === encodeFunctionData({ abi, functionName: 'removeShares', args: [shares, user] })
}

/** A withdrawal is requested from the queue, or redeems what the queue has processed; what waits there is taken back. */
export const maple: ExpectedCalls = {
  isDeposit: isDepositNow,
  isWithdraw: (call, asked) => isRedeemNow(call, asked) || call === requestRedeem(asked.shares, asked.user),
  isCancel: isTakenBack,
}
