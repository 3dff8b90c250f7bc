import { type Abi, type Address, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'

const tokenAbi = parseAbi(['function approve(address spender, uint256 amount)'])
const wrappedAbi = parseAbi(['function deposit()'])
const syncAbi = parseAbi([
  'function deposit(uint256 assets, address receiver)',
  'function redeem(uint256 shares, address receiver, address owner)',
])
const asyncAbi = parseAbi([
  'function requestDeposit(uint256 assets, address controller, address owner)',
  'function requestRedeem(uint256 shares, address controller, address owner)',
  'function deposit(uint256 assets, address receiver, address controller)',
])
const cancelAbi = parseAbi([
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
])
const severalAbi = parseAbi([
  'function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)',
  'function redeem(address receiver, uint256 amountSharesToRedeem, address tokenOut, uint256 minTokenOut, bool burnFromInternalBalance)',
])
const lagoonAbi = parseAbi(['function cancelRequestDeposit()'])

export const approve = (spender: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: tokenAbi, args: [spender, amount] })

export const wrap = (): Hex => encodeFunctionData({ abi: wrappedAbi })

const deposit = (amount: bigint, user: Address): Hex =>
  encodeFunctionData({ abi: syncAbi, functionName: 'deposit', args: [amount, user] })
const redeem = (shares: bigint, user: Address): Hex =>
  encodeFunctionData({ abi: syncAbi, functionName: 'redeem', args: [shares, user, user] })
const requestDeposit = (amount: bigint, user: Address): Hex =>
  encodeFunctionData({ abi: asyncAbi, functionName: 'requestDeposit', args: [amount, user, user] })
const requestRedeem = (shares: bigint, user: Address): Hex =>
  encodeFunctionData({ abi: asyncAbi, functionName: 'requestRedeem', args: [shares, user, user] })

export type Wanted = { user: Address; requestId: bigint | undefined; amount: bigint | undefined }

/** `minimumOut`: the least that must come out, for vaults whose calls say it. */
type Asked = { user: Address; token: Address; minimumOut: bigint }
export type DepositAsked = Asked & { amount: bigint }
export type WithdrawAsked = Asked & { shares: bigint }

/** The calls of one kind of vault that do what was asked, and nothing else. */
export type ExpectedCalls = {
  /** The vault takes and pays several tokens. */
  severalTokens?: boolean
  isDeposit(call: Hex, asked: DepositAsked): boolean
  /** Redeeming, or claiming what was redeemed, or asking for it. */
  isWithdraw(call: Hex, asked: WithdrawAsked): boolean
  isClaim?(call: Hex, wanted: Wanted): boolean
  isCancel?(call: Hex, wanted: Wanted): boolean
}

/** `deposit(assets, receiver, controller)` for the user, of some amount above 0, or exactly the one known. */
function isDepositClaim(call: Hex, { user, amount }: Wanted): boolean {
  const assets = read(call, asyncAbi, 'deposit')?.[0]
  if (typeof assets !== 'bigint' || assets === 0n || (amount !== undefined && assets !== amount)) return false
  return call === encodeFunctionData({ abi: asyncAbi, functionName: 'deposit', args: [assets, user, user] })
}

function isStandardCancel(call: Hex, { user, requestId }: Wanted): boolean {
  const asked = read(call, cancelAbi, 'cancelDepositRequest') ?? read(call, cancelAbi, 'claimCancelDepositRequest')
  const id = asked?.[0]
  if (typeof id !== 'bigint' || (requestId !== undefined && id !== requestId)) return false
  return (
    call === encodeFunctionData({ abi: cancelAbi, functionName: 'cancelDepositRequest', args: [id, user] }) ||
    call === encodeFunctionData({ abi: cancelAbi, functionName: 'claimCancelDepositRequest', args: [id, user, user] })
  )
}

function read(call: Hex, abi: Abi, name: string): readonly unknown[] | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data: call })
    return functionName === name ? args : undefined
  } catch {
    return undefined
  }
}

/** ERC-5115: exact but for the least that must come out: at least what was asked for, and pinned by the signature. */
function isTokenDeposit(call: Hex, { amount, user, token, minimumOut }: DepositAsked): boolean {
  const minimum = read(call, severalAbi, 'deposit')?.[3]
  if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
  const args = [user, token, amount, minimum] as const
  return call === encodeFunctionData({ abi: severalAbi, functionName: 'deposit', args })
}

function isTokenRedeem(call: Hex, { shares, user, token, minimumOut }: WithdrawAsked): boolean {
  const minimum = read(call, severalAbi, 'redeem')?.[3]
  if (typeof minimum !== 'bigint' || minimum < minimumOut) return false
  const args = [user, shares, token, minimum, false] as const
  return call === encodeFunctionData({ abi: severalAbi, functionName: 'redeem', args })
}

type IsDeposit = ExpectedCalls['isDeposit']
type IsWithdraw = ExpectedCalls['isWithdraw']
const isDepositNow: IsDeposit = (call, { amount, user }) => call === deposit(amount, user)
const isRequest: IsDeposit = (call, { amount, user }) => call === requestDeposit(amount, user)
const isRedeemNow: IsWithdraw = (call, { shares, user }) => call === redeem(shares, user)
const isRedeemOrRequest: IsWithdraw = (call, { shares, user }) =>
  call === redeem(shares, user) || call === requestRedeem(shares, user)

const requested = { isDeposit: isRequest, isClaim: isDepositClaim }

/** By the name of the vault's kind. */
export const expectedCalls: Readonly<Record<string, ExpectedCalls>> = {
  erc4626: { isDeposit: isDepositNow, isWithdraw: isRedeemNow },
  erc5115: { severalTokens: true, isDeposit: isTokenDeposit, isWithdraw: isTokenRedeem },
  erc7540: { ...requested, isWithdraw: isRedeemOrRequest, isCancel: isStandardCancel },
  'erc7540-deposit': { ...requested, isWithdraw: isRedeemNow, isCancel: isStandardCancel },
  'erc7540-redeem': { isDeposit: isDepositNow, isWithdraw: isRedeemOrRequest },
  lagoon: {
    ...requested,
    isWithdraw: isRedeemOrRequest,
    isCancel: (call) => call === encodeFunctionData({ abi: lagoonAbi }),
  },
}
