import type { Address } from 'viem'
import { type Complain, getMember, parseAddress, parseRaw, quote } from './shape.js'

/** What was asked, with its parts parsed. */
export type AskedDeposit = {
  type: 'deposit'
  user: Address
  /** The token given, or the native one. */
  token: Address | 'native'
  amount: bigint
  distributorId: string
  referralCode: string
}
export type AskedWithdrawal = {
  type: 'withdraw'
  user: Address
  token: Address | undefined
  amount: bigint
  distributorId: string
}
export type AskedOfRequest = {
  type: 'claimDeposit' | 'cancelDeposit'
  user: Address
  requestId: bigint | undefined
  distributorId: string | undefined
}
export type Asked = AskedDeposit | AskedWithdrawal | AskedOfRequest

const native = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** A request with its parts parsed; undefined, and a complaint, where it is none. What it says besides is not looked at. */
export function parseRequest(request: unknown, complain: Complain): Asked | undefined {
  const type = getMember(request, 'type')
  const user = readAddress(request, 'userAddress', complain)
  switch (type) {
    case 'deposit':
      return user && parseDeposit(request, user, complain)
    case 'withdraw':
      return user && parseWithdrawal(request, user, complain)
    case 'claimDeposit':
    case 'cancelDeposit':
      return user && parseOfRequest(request, type, user, complain)
    default:
      complain(`a request of the type ${quote(type)} cannot be verified`)
      return undefined
  }
}

function parseDeposit(request: unknown, user: Address, complain: Complain): AskedDeposit | undefined {
  const tokenIn = getMember(request, 'tokenIn')
  const isNative = tokenIn === 'native' || (typeof tokenIn === 'string' && tokenIn.toLowerCase() === native)
  const token = isNative ? 'native' : readAddress(request, 'tokenIn', complain)
  const amount = readAmount(request, complain)
  const distributorId = readDistributor(request, complain)
  const referralCode = getMember(request, 'referralCode') ?? ''
  if (typeof referralCode !== 'string') {
    complain('referralCode is no text')
    return undefined
  }
  if (!token || amount === undefined || distributorId === undefined) return undefined
  return { type: 'deposit', user, token, amount, distributorId, referralCode }
}

function parseWithdrawal(request: unknown, user: Address, complain: Complain): AskedWithdrawal | undefined {
  const asksForToken = (getMember(request, 'tokenOut') ?? undefined) !== undefined
  const token = asksForToken ? readAddress(request, 'tokenOut', complain) : undefined
  const amount = readAmount(request, complain)
  const distributorId = readDistributor(request, complain)
  if ((asksForToken && !token) || amount === undefined || distributorId === undefined) return undefined
  return { type: 'withdraw', user, token, amount, distributorId }
}

function parseOfRequest(
  request: unknown,
  type: AskedOfRequest['type'],
  user: Address,
  complain: Complain,
): AskedOfRequest | undefined {
  const given = getMember(request, 'requestId') ?? undefined
  const requestId = given === undefined ? undefined : parseRaw(given)
  const distributorId = getMember(request, 'distributorId') ?? undefined
  const isText = distributorId === undefined || typeof distributorId === 'string'
  const isAmount = given === undefined || requestId !== undefined
  if (!isAmount) complain('requestId is no amount')
  if (!isText) complain('distributorId is no text')
  return isAmount && isText ? { type, user, requestId, distributorId } : undefined
}

function readAddress(request: unknown, name: string, complain: Complain): Address | undefined {
  const value = getMember(request, name)
  const address = parseAddress(value)
  if (!address) complain(`${name}: ${quote(value)} is no address`)
  return address
}

function readAmount(request: unknown, complain: Complain): bigint | undefined {
  const amount = parseRaw(getMember(request, 'amount'))
  if (amount !== undefined && amount > 0n) return amount
  complain('amount is no amount above 0')
  return undefined
}

/** Who brings it: without one, a suffix of anybody would do. */
function readDistributor(request: unknown, complain: Complain): string | undefined {
  const distributorId = getMember(request, 'distributorId')
  if (typeof distributorId === 'string') return distributorId
  complain('distributorId is no text')
  return undefined
}
