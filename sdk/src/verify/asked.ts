import type { Address } from 'viem'
import { type Complain, getMember, parseAddress, parseRaw, quote } from './shape.js'

/** A request for a deposit, parsed. */
export type AskedDeposit = {
  type: 'deposit'
  user: Address
  /** The token given, or the native one. */
  token: Address | 'native'
  amount: bigint
  distributorId: string
  referralCode: string
  /** It may be swapped for what the vault takes. */
  maySwap: boolean
  /** It goes through the deposit router. */
  protect: boolean
}
export type AskedWithdrawal = {
  type: 'withdraw'
  user: Address
  token: Address | 'native' | undefined
  amount: bigint
  distributorId: string
  slippageBps: number
}
export type AskedOfRequest = {
  type: 'claimDeposit' | 'cancelDeposit'
  user: Address
  requestId: bigint | undefined
  distributorId: string | undefined
}
export type AskedSwap = {
  type: 'swap'
  user: Address
  tokenIn: Address | 'native'
  tokenOut: Address | 'native'
  amount: bigint
  distributorId: string
}
/** A request to a vault. */
export type AskedOfVault = AskedDeposit | AskedWithdrawal | AskedOfRequest
export type Asked = AskedOfVault | AskedSwap

/** As the service takes it where the request says nothing. */
const usualSlippageBps = 50

const native = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** Parses a request; undefined, with a complaint, if malformed. Further members are ignored. */
export function parseRequest(request: unknown, complain: Complain): Asked | undefined {
  const type = getMember(request, 'type')
  const user = readAddress(request, type === 'swap' ? 'user' : 'userAddress', complain)
  switch (type) {
    case 'deposit':
      return user && parseDeposit(request, user, complain)
    case 'swap':
      return user && parseSwap(request, user, complain)
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
  const token = readToken(request, 'tokenIn', complain)
  const amount = readAmount(request, 'amount', complain)
  const distributorId = readDistributor(request, complain)
  const referralCode = getMember(request, 'referralCode') ?? ''
  if (typeof referralCode !== 'string') {
    complain('referralCode is no text')
    return undefined
  }
  if (!token || amount === undefined || distributorId === undefined) return undefined
  const protect = getMember(request, 'protect') ?? false
  if (typeof protect !== 'boolean') {
    complain('protect is neither true nor false')
    return undefined
  }
  const maySwap = getMember(request, 'mode') === 'swap'
  return { type: 'deposit', user, token, amount, distributorId, referralCode, maySwap, protect }
}

function parseSwap(request: unknown, user: Address, complain: Complain): AskedSwap | undefined {
  const tokenIn = readToken(request, 'tokenIn', complain)
  const tokenOut = readToken(request, 'tokenOut', complain)
  const amount = readAmount(request, 'amountIn', complain)
  const distributorId = readDistributor(request, complain)
  if (!tokenIn || !tokenOut || amount === undefined || distributorId === undefined) return undefined
  return { type: 'swap', user, tokenIn, tokenOut, amount, distributorId }
}

function parseWithdrawal(request: unknown, user: Address, complain: Complain): AskedWithdrawal | undefined {
  const asksForToken = (getMember(request, 'tokenOut') ?? undefined) !== undefined
  const token = asksForToken ? readToken(request, 'tokenOut', complain) : undefined
  const amount = readAmount(request, 'amount', complain)
  const distributorId = readDistributor(request, complain)
  const slippageBps = getMember(request, 'slippageBps') ?? usualSlippageBps
  // No discount is above what is no number.
  if (typeof slippageBps !== 'number' || !Number.isInteger(slippageBps)) {
    complain('slippageBps is no whole number')
    return undefined
  }
  if ((asksForToken && !token) || amount === undefined || distributorId === undefined) return undefined
  return { type: 'withdraw', user, token, amount, distributorId, slippageBps }
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

/** A token, or the native one. */
function readToken(request: unknown, name: string, complain: Complain): Address | 'native' | undefined {
  const value = getMember(request, name)
  const isNative = value === 'native' || (typeof value === 'string' && value.toLowerCase() === native)
  return isNative ? 'native' : readAddress(request, name, complain)
}

function readAddress(request: unknown, name: string, complain: Complain): Address | undefined {
  const value = getMember(request, name)
  const address = parseAddress(value)
  if (!address) complain(`${name}: ${quote(value)} is no address`)
  return address
}

function readAmount(request: unknown, name: string, complain: Complain): bigint | undefined {
  const amount = parseRaw(getMember(request, name))
  if (amount !== undefined && amount > 0n) return amount
  complain(`${name} is no amount above 0`)
  return undefined
}

/** Who brings it: without one, a suffix of anybody would do. */
function readDistributor(request: unknown, complain: Complain): string | undefined {
  const distributorId = getMember(request, 'distributorId')
  if (typeof distributorId === 'string') return distributorId
  complain('distributorId is no text')
  return undefined
}
