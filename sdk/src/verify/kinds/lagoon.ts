import { encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import { type DepositAsked, type ExpectedCalls, readCall, type WithdrawAsked } from '../kindCalls.js'
import { requested } from './erc7540.js'

const abi = parseAbi([
  'function cancelRequestDeposit()',
  'function syncDeposit(uint256 assets, address receiver, address referral)',
  'function syncRedeem(uint256 shares, address receiver, uint256 minimumAssets)',
])

/** At once, while the vault's valuation is valid; the referral is nobody's. */
const isSyncDeposit = (call: Hex, { amount, user }: DepositAsked): boolean =>
  call === encodeFunctionData({ abi, functionName: 'syncDeposit', args: [amount, user, zeroAddress] })

/** Exact but for the least that must come out: at least what was asked for, and pinned by the signature. */
function isSyncRedeem(call: Hex, { shares, user, minimumOut }: WithdrawAsked): boolean {
  const minimum = readCall(call, abi, 'syncRedeem')?.[2]
  if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
  return call === encodeFunctionData({ abi, functionName: 'syncRedeem', args: [shares, user, minimum] })
}

export const lagoon: ExpectedCalls = {
  ...requested,
  isDeposit: (call, asked) => requested.isDeposit(call, asked) || isSyncDeposit(call, asked),
  isWithdraw: (call, asked) => requested.isWithdraw(call, asked) || isSyncRedeem(call, asked),
  isCancel: (call) => call === encodeFunctionData({ abi, functionName: 'cancelRequestDeposit' }),
}
