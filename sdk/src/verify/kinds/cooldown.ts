import { encodeFunctionData, parseAbi } from 'viem'
import type { ExpectedCalls } from '../kindCalls.js'
import { isDepositNow, isRedeemNow } from './erc4626.js'

const abi = parseAbi(['function cooldownShares(uint256 shares)', 'function unstake(address receiver)'])

/** A redemption starts a cooldown; after it the whole amount is withdrawn. Without a cooldown it is paid at once. */
export const cooldown: ExpectedCalls = {
  isDeposit: isDepositNow,
  isWithdraw: (call, asked) =>
    isRedeemNow(call, asked) ||
    call === encodeFunctionData({ abi, functionName: 'cooldownShares', args: [asked.shares] }) ||
    call === encodeFunctionData({ abi, functionName: 'unstake', args: [asked.user] }),
}
