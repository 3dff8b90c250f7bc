import { encodeFunctionData, parseAbi } from 'viem'
import type { ExpectedCalls } from '../kindCalls.js'

const abi = parseAbi(['function buy(uint256 paid, address holder)', 'function sell(uint256 shares, address receiver)'])

export const teller: ExpectedCalls = {
  contracts: { spender: 'teller', deposit: 'teller', withdraw: 'teller' },
  isDeposit: (call, { amount, user }) =>
    call === encodeFunctionData({ abi, functionName: 'buy', args: [amount, user] }),
  isWithdraw: (call, { shares, user }) =>
    call === encodeFunctionData({ abi, functionName: 'sell', args: [shares, user] }),
}
