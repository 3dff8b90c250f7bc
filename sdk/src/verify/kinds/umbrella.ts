import { encodeFunctionData, parseAbi } from 'viem'
import type { ExpectedCalls } from '../kindCalls.js'
import { isDepositNow, isRedeemNow } from './erc4626.js'

const abi = parseAbi(['function cooldown()'])

/** A withdrawal starts a cooldown, which names no amount and pays nothing, or redeems in the window after it. */
export const umbrella: ExpectedCalls = {
  isDeposit: isDepositNow,
  isWithdraw: (call, asked) => isRedeemNow(call, asked) || call === encodeFunctionData({ abi }),
}
