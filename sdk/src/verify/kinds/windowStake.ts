import { encodeFunctionData, parseAbi } from 'viem'
import type { ExpectedCalls } from '../kindCalls.js'

const abi = parseAbi([
  'function stake(address to, uint256 amount)',
  'function cooldown()',
  'function redeem(address to, uint256 amount)',
])

/** A withdrawal starts a cooldown, which names no amount and pays nothing, or redeems in the window after it. */
export const windowStake: ExpectedCalls = {
  isDeposit: (call, { amount, user }) =>
    call === encodeFunctionData({ abi, functionName: 'stake', args: [user, amount] }),
  isWithdraw: (call, { shares, user }) =>
    call === encodeFunctionData({ abi, functionName: 'redeem', args: [user, shares] }) ||
    call === encodeFunctionData({ abi, functionName: 'cooldown' }),
}
