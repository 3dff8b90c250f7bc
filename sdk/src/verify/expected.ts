import { type Address, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'

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

/** The calls of one kind of vault that do what was asked, and nothing else. */
export type ExpectedCalls = {
  deposit(amount: bigint, user: Address): Hex
  /** Redeeming, or claiming what was redeemed, or asking for it. */
  withdraw(shares: bigint, user: Address): Hex[]
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

function read(call: Hex, abi: typeof asyncAbi | typeof cancelAbi, name: string): readonly unknown[] | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data: call })
    return functionName === name ? args : undefined
  } catch {
    return undefined
  }
}

const requested = { deposit: requestDeposit, isClaim: isDepositClaim }
const redeemedLater = (shares: bigint, user: Address) => [requestRedeem(shares, user), redeem(shares, user)]
const redeemedNow = (shares: bigint, user: Address) => [redeem(shares, user)]

/** By the name of the vault's kind. */
export const expectedCalls: Readonly<Record<string, ExpectedCalls>> = {
  erc4626: { deposit, withdraw: redeemedNow },
  erc7540: { ...requested, withdraw: redeemedLater, isCancel: isStandardCancel },
  'erc7540-deposit': { ...requested, withdraw: redeemedNow, isCancel: isStandardCancel },
  'erc7540-redeem': { deposit, withdraw: redeemedLater },
  lagoon: {
    ...requested,
    withdraw: redeemedLater,
    isCancel: (call) => call === encodeFunctionData({ abi: lagoonAbi }),
  },
}
