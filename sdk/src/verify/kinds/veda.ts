import { encodeFunctionData, type Hex, parseAbi, slice, toFunctionSelector, zeroAddress } from 'viem'
import { type DepositAsked, type ExpectedCalls, readCall, type Wanted, type WithdrawAsked } from '../kindCalls.js'

const deposits = [
  parseAbi(['function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint)']),
  parseAbi([
    'function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint, address referralAddress)',
  ]),
] as const
const abi = parseAbi([
  'function requestOnChainWithdraw(address assetOut, uint128 amountOfShares, uint16 discount, uint24 secondsToDeadline)',
  'function cancelOnChainWithdrawUsingRequestId(bytes32 requestId)',
])

/** Exact but for the least number of shares: at least what was asked for. Nobody is named as the one who referred it. */
function isDeposit(call: Hex, { amount, token, minimumOut }: DepositAsked): boolean {
  const [plain, referred] = deposits
  const minimum = readCall(call, plain, 'deposit')?.[2] ?? readCall(call, referred, 'deposit')?.[2]
  if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
  const args = [token, amount, minimum] as const
  return (
    call === encodeFunctionData({ abi: plain, args }) ||
    call === encodeFunctionData({ abi: referred, args: [...args, zeroAddress] })
  )
}

/** The two deadlines of a request: of 7 days, or of 30 where its queue wants more. */
const deadlines = [7, 30].map((days) => days * 86_400)

/** A request in the queue, for the token asked for, at a discount of no more than the request allows. */
function isRequest(call: Hex, { shares, token, slippageBps }: WithdrawAsked): boolean {
  const [, , discount, seconds] = readCall(call, abi, 'requestOnChainWithdraw') ?? []
  if (typeof discount !== 'number' || typeof seconds !== 'number' || shares >= 1n << 128n) return false
  if (discount > slippageBps || !deadlines.includes(seconds)) return false
  const args = [token, shares, discount, seconds] as const
  return call === encodeFunctionData({ abi, functionName: 'requestOnChainWithdraw', args })
}

/** One request is taken back: the one named, or some one of the wallet, whom alone the queue lets do so. */
function isTakenBack(call: Hex, { requestId }: Wanted): boolean {
  const id = readCall(call, abi, 'cancelOnChainWithdrawUsingRequestId')?.[0]
  if (typeof id !== 'string' || (requestId !== undefined && BigInt(id) !== requestId)) return false
  return call === encodeFunctionData({ abi, functionName: 'cancelOnChainWithdrawUsingRequestId', args: [id as Hex] })
}

const request = toFunctionSelector('requestOnChainWithdraw(address,uint128,uint16,uint24)')

/** Tokens go to the vault by allowance while the teller is called; shares go to the queue by allowance as well. */
export const veda: ExpectedCalls = {
  contracts: { deposit: 'teller', withdraw: 'queue', cancelDeposit: 'queue', puller: 'queue' },
  names: [
    ['accountant', 'teller'],
    ['accountant', 'queue', 'teller'],
  ],
  isDeposit,
  isWithdraw: isRequest,
  mayPull: (data) => slice(data, 0, 4) === request,
  isCancel: isTakenBack,
}
