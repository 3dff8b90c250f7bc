import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { ExpectedCalls } from '../kindCalls.js'

const abi = parseAbi([
  'function deposit(uint256 assets, address receiver)',
  'function redeem(uint256 shares, address receiver, address owner)',
])

const deposit = (amount: bigint, user: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'deposit', args: [amount, user] })
export const redeem = (shares: bigint, user: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'redeem', args: [shares, user, user] })

export const isDepositNow: ExpectedCalls['isDeposit'] = (call, { amount, user }) => call === deposit(amount, user)
export const isRedeemNow: ExpectedCalls['isWithdraw'] = (call, { shares, user }) => call === redeem(shares, user)

export const erc4626: ExpectedCalls = { isDeposit: isDepositNow, isWithdraw: isRedeemNow }
