import { type Address, encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { type ExpectedCalls, readCall, type Wanted } from '../kindCalls.js'
import { isDepositNow, isRedeemNow, redeem } from './erc4626.js'

const abi = parseAbi([
  'function requestDeposit(uint256 assets, address controller, address owner)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
  'function deposit(uint256 assets, address receiver, address controller)',
  'function mint(uint256 shares, address receiver, address controller)',
])
const cancelAbi = parseAbi([
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
])

const requestDeposit = (amount: bigint, user: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'requestDeposit', args: [amount, user, user] })
const requestRedeem = (shares: bigint, user: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'requestRedeem', args: [shares, user, user] })

/** `deposit(assets, receiver, controller)` for the user, of some amount above 0, or exactly the one known. */
function isDepositClaim(call: Hex, { user, amount }: Wanted): boolean {
  const assets = readCall(call, abi, 'deposit')?.[0]
  if (typeof assets !== 'bigint' || assets === 0n || (amount !== undefined && assets !== amount)) return false
  return call === encodeFunctionData({ abi, functionName: 'deposit', args: [assets, user, user] })
}

/** The same in shares, `mint(shares, receiver, controller)`: all of them, where the shares are another token. */
function isMintClaim(call: Hex, { user, amount }: Wanted): boolean {
  const shares = readCall(call, abi, 'mint')?.[0]
  if (typeof shares !== 'bigint' || shares === 0n || (amount !== undefined && shares !== amount)) return false
  return call === encodeFunctionData({ abi, functionName: 'mint', args: [shares, user, user] })
}

function isStandardCancel(call: Hex, { user, requestId }: Wanted): boolean {
  const asked =
    readCall(call, cancelAbi, 'cancelDepositRequest') ?? readCall(call, cancelAbi, 'claimCancelDepositRequest')
  const id = asked?.[0]
  if (typeof id !== 'bigint' || (requestId !== undefined && id !== requestId)) return false
  return (
    call === encodeFunctionData({ abi: cancelAbi, functionName: 'cancelDepositRequest', args: [id, user] }) ||
    call === encodeFunctionData({ abi: cancelAbi, functionName: 'claimCancelDepositRequest', args: [id, user, user] })
  )
}

const isRequest: ExpectedCalls['isDeposit'] = (call, { amount, user }) => call === requestDeposit(amount, user)
const isRedeemOrRequest: ExpectedCalls['isWithdraw'] = (call, { shares, user }) =>
  call === redeem(shares, user) || call === requestRedeem(shares, user)

const redeemRequest = toFunctionSelector('requestRedeem(uint256,address,address)')
/** Only a request takes shares; a claim takes none. */
const isRedeemRequest = (data: Hex): boolean => data.toLowerCase().startsWith(redeemRequest)

/** Both sides are requested, then claimed; a deposit is not cancelled. */
export const requested: ExpectedCalls = {
  isDeposit: isRequest,
  isClaim: isDepositClaim,
  isWithdraw: isRedeemOrRequest,
  mayPull: isRedeemRequest,
}

export const erc7540: ExpectedCalls = {
  ...requested,
  isClaim: (call, wanted) => isDepositClaim(call, wanted) || isMintClaim(call, wanted),
  isCancel: isStandardCancel,
}
export const erc7540Deposit: ExpectedCalls = { ...erc7540, isWithdraw: isRedeemNow, mayPull: () => false }
export const erc7540Redeem: ExpectedCalls = {
  isDeposit: isDepositNow,
  isWithdraw: isRedeemOrRequest,
  mayPull: isRedeemRequest,
}
