import { payoutBytecode, walletCheckAbi, walletCheckBytecode } from '@openearn/contracts'
import {
  type Address,
  concat,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  parseAbi,
  toHex,
} from 'viem'
import { nativeToken } from '../../rpc/native.js'
import type { Call } from '../../rpc/simulateBlock.js'
import type { Order } from '../orders/index.js'
import type { KnownWallet } from './wallets.js'

/** The call that fills one order through its settlement contract (GPv2). Pure. */

const settlementAbi = parseAbi([
  'struct Trade { uint256 sellTokenIndex; uint256 buyTokenIndex; address receiver; uint256 sellAmount; uint256 buyAmount; uint32 validTo; bytes32 appData; uint256 feeAmount; uint256 flags; uint256 executedAmount; bytes signature; }',
  'struct Interaction { address target; uint256 value; bytes callData; }',
  'function settle(address[] tokens, uint256[] clearingPrices, Trade[] trades, Interaction[][3] interactions)',
])
const wrappedAbi = parseAbi(['function withdraw(uint256 amount)'])
const payoutAbi = parseAbi(['constructor(address token, address settlement, uint256 amount, address receiver)'])

/** The contract that makes another at an address known before; it is on every chain at the same one. */
export const maker: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** Bits of a trade: sell is 0, and so are balances of ERC-20. */
const partial = 1n << 1n
const eip1271 = 0b10n << 5n

export type Fill = {
  /** Of the settlement, and of nothing else: the payout's address follows from it. */
  id: string
  order: Order
  amountIn: bigint
  /** The amount that the trade pays to the owner; the surplus of the routes is paid out separately. */
  amountOut: bigint
}

/** How a swap of the fill is made: its call, with what it gives going to an address, and who takes what it is given. */
export type FillRoute = {
  spender: Address
  /** The present allowance of the settlement contract for it. */
  allowance: bigint
  /** An allowance that is not 0 has to be 0 before it is another. */
  approvalReset: boolean
  build(receiver: Address): Call
}

/**
 * Without a route the token that is sold is unwrapped. `check`: the code of the wallet that owns the order, and who alone sends
 * the settlement.
 */
export type FillPath = {
  route: FillRoute | undefined
  check?: (KnownWallet & { sender: Address }) | undefined
  wrappedNative: Address
}

/** A settlement of one order, without a suffix. */
export function encodeSettlement(fill: Fill, { route, check, wrappedNative }: FillPath): Hex {
  const { order, amountIn, amountOut } = fill
  const bought = getBought(order, wrappedNative)
  const interactions = [
    ...(route ? listSwap(fill, route, bought) : []),
    ...(isNativeOut(order) ? [call(bought, encodeWithdraw(amountOut))] : []),
  ]
  return encodeFunctionData({
    abi: settlementAbi,
    functionName: 'settle',
    args: [
      [order.tokenIn as Address, order.tokenOut as Address],
      // For each unit that is sold so much is paid, exactly: nothing is rounded.
      [amountOut, amountIn],
      [toTrade(fill)],
      [check ? [call(maker, encodeCheck(fill, check))] : [], interactions, []],
    ],
  })
}

export const isNativeOut = ({ tokenOut }: Pick<Order, 'tokenOut'>): boolean => tokenOut === nativeToken.toLowerCase()

/** The token that exchanges return for an order. */
const getBought = (order: Order, wrappedNative: Address): Address =>
  isNativeOut(order) ? wrappedNative : (order.tokenOut as Address)

const call = (target: Address, callData: Hex, value = 0n) => ({ target, value, callData })
const encodeWithdraw = (amount: bigint) =>
  encodeFunctionData({ abi: wrappedAbi, functionName: 'withdraw', args: [amount] })
const encodeApprove = (spender: Address, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })

/** Exactly what is sold is approved and swapped, and all that comes of it is paid out. */
function listSwap(fill: Fill, { spender, allowance, approvalReset, build }: FillRoute, bought: Address) {
  const { order, amountIn } = fill
  const sold = order.tokenIn as Address
  const payout = encodePayout(fill, bought)
  const { to, value, data } = build(payout.address)
  return [
    ...(allowance >= amountIn || allowance === 0n || !approvalReset ? [] : [call(sold, encodeApprove(spender, 0n))]),
    ...(allowance >= amountIn ? [] : [call(sold, encodeApprove(spender, amountIn))]),
    call(to, data, value),
    call(maker, payout.data),
  ]
}

/** Where the payout of a fill will be made. */
export function findPayout(fill: Fill, wrappedNative: Address): Address {
  return encodePayout(fill, getBought(fill.order, wrappedNative)).address
}

/**
 * The contract that has the amount of the fill sent to the settlement contract, and the rest to the owner. Pools give what
 * they give when it is mined: more than was quoted belongs to the owner, and less makes the settlement fail.
 */
function encodePayout({ id, order, amountOut }: Fill, token: Address): { address: Address; data: Hex } {
  const args = [token, order.settlement as Address, amountOut, order.owner as Address] as const
  const bytecode = encodeDeployData({ abi: payoutAbi, bytecode: payoutBytecode, args })
  const salt = toSalt(id)
  const address = getContractAddress({ opcode: 'CREATE2', from: maker, salt, bytecode })
  return { address, data: concat([salt, bytecode]) }
}

/**
 * Makes a settlement revert if the code of a wallet was changed, before the settlement contract calls the wallet with all of
 * its gas to check the signature.
 */
function encodeCheck(
  { id, order }: Fill,
  { sender, codeHash, singleton, handler }: KnownWallet & { sender: Address },
): Hex {
  const args = [sender, order.owner as Address, codeHash, singleton, handler] as const
  return concat([toSalt(id), encodeDeployData({ abi: walletCheckAbi, bytecode: walletCheckBytecode, args })])
}

/** The id of a fill as the salt of the contracts that are made for it. */
const toSalt = (id: string): Hex => toHex(BigInt(`0x${id.replaceAll('-', '')}`), { size: 32 })

function toTrade({ order, amountIn }: Fill) {
  const { submission, owner, partiallyFillable } = order
  const signature = (submission?.signature ?? '0x') as Hex
  const isContract = submission?.scheme === 'eip1271'
  return {
    ...{ sellTokenIndex: 0n, buyTokenIndex: 1n, receiver: owner as Address },
    ...{ sellAmount: order.amountIn, buyAmount: order.minAmountOut, validTo: order.expiresAt.getTime() / 1_000 },
    ...{ appData: order.appDataHash as Hex, feeAmount: 0n },
    flags: (partiallyFillable ? partial : 0n) | (isContract ? eip1271 : 0n),
    // Of an order that is filled as a whole it is not looked at.
    executedAmount: amountIn,
    signature: isContract ? concat([owner as Address, signature]) : signature,
  }
}

/** The least a part of an order may be sold for: its part of the least for the whole, rounded up. */
export function computeLeast(
  { amountIn, minAmountOut }: Pick<Order, 'amountIn' | 'minAmountOut'>,
  part: bigint,
): bigint {
  return (part * minAmountOut + amountIn - 1n) / amountIn
}
