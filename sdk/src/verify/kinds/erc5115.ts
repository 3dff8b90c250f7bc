import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type DepositAsked, type ExpectedCalls, readCall, type WithdrawAsked } from '../kindCalls.js'

const abi = parseAbi([
  'function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)',
  'function redeem(address receiver, uint256 amountSharesToRedeem, address tokenOut, uint256 minTokenOut, bool burnFromInternalBalance)',
])

/** Exact but for the least that must come out: at least what was asked for, and pinned by the signature. */
function isTokenDeposit(call: Hex, { amount, user, token, minimumOut }: DepositAsked): boolean {
  const minimum = readCall(call, abi, 'deposit')?.[3]
  if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
  return call === encodeFunctionData({ abi, functionName: 'deposit', args: [user, token, amount, minimum] })
}

function isTokenRedeem(call: Hex, { shares, user, token, minimumOut }: WithdrawAsked): boolean {
  const minimum = readCall(call, abi, 'redeem')?.[3]
  if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
  return call === encodeFunctionData({ abi, functionName: 'redeem', args: [user, shares, token, minimum, false] })
}

export const erc5115: ExpectedCalls = {
  severalTokens: true,
  isDeposit: isTokenDeposit,
  isWithdraw: isTokenRedeem,
}
