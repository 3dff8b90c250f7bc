import { type Abi, encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, parseAbiParameters } from 'viem'
import { type Digits, digitsOf, wordOf } from '../bytes.js'
import { hashOld, hashPacked, hashTyped } from '../operations.js'

const abi = parseAbi([
  'function deposit(uint256, address)',
  'function mint(uint256, address)',
  'function withdraw(uint256, address, address)',
  'function redeem(uint256, address, address)',
  'function requestDeposit(uint256, address, address)',
  'function requestRedeem(uint256, address, address)',
  'function cancelDepositRequest(uint256, address)',
  'function claimCancelDepositRequest(uint256, address, address)',
  'function cancelRedeemRequest(uint256, address)',
  'function claimCancelRedeemRequest(uint256, address, address)',
  'function transfer(address, uint256)',
  'function approve(address, uint256)',
  'function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)',
  'function setOperator(address, bool)',
  'function transferFrom(address, address, uint256)',
  'function enter(address, address, uint256, address, uint256)',
  'function exit(address, address, uint256, address, uint256)',
  'function bulkWithdraw(address, uint256, uint256, address)',
  'function refundDeposit(uint256, address, address, uint256, uint256, uint256, uint256)',
  'function requestOnChainWithdraw(address, uint128, uint16, uint24)',
  'function cancelOnChainWithdrawUsingRequestId(bytes32)',
  'function replaceOnChainWithdrawUsingRequestId(bytes32, uint16, uint24)',
  'struct Order { uint96 nonce; address user; address assetOut; uint128 amountOfShares; uint128 amountOfAssets; uint40 creationTime; uint24 secondsToMaturity; uint24 secondsToDeadline; }',
  'function cancelUserWithdraws(Order[] requests)',
  'function solveOnChainWithdraws(Order[] requests, bytes solveData, address solver)',
  'function boringSolve(address initiator, address vault, address token, uint256 shares, uint256 assets, bytes solveData)',
  'function zap(uint256, address)',
  'function depositWithMinimum(address, uint256, address, uint256)',
  'function syncDeposit(uint256, address, address)',
  'function syncRedeem(uint256, address, uint256)',
  'function cancelRequestDeposit()',
  'function cancelRequestRedeem(address)',
  'function removeShares(uint256, address)',
  'function removeRequest(address)',
  'function addShares(uint256, address)',
  'function processRedeem(uint256, address)',
  'function processExit(uint256, address)',
  'function processRedemptions(uint256)',
  'function cooldownShares(uint256)',
  'function cooldown()',
  'function stake(address, uint256)',
  'function unstake(address)',
  'function multicall(bytes[])',
  'function multiSend(bytes)',
  'function execute(address, uint256, bytes)',
  'function execTransaction(address, uint256, bytes, uint8, uint256, uint256, uint256, address, address, bytes)',
])
const overloads = {
  claim: parseAbi(['function deposit(uint256, address, address)', 'function mint(uint256, address, address)']),
  stake: parseAbi(['function redeem(address, uint256)']),
  yieldIn: parseAbi(['function deposit(address, address, uint256, uint256)']),
  yieldOut: parseAbi(['function redeem(address, uint256, address, uint256, bool)']),
  lagoon: parseAbi(['function requestDeposit(uint256, address, address, address)']),
  teller: parseAbi(['function deposit(address, uint256, uint256)']),
  referring: parseAbi(['function deposit(address, uint256, uint256, address)']),
  tellerFor: parseAbi(['function deposit(address, uint256, uint256, address, address)']),
  refundReferred: parseAbi([
    'function refundDeposit(uint256, address, address, uint256, uint256, uint256, uint256, address)',
  ]),
  maple: parseAbi(['function requestRedeem(uint256, address)']),
  arrays: parseAbi(['function executeBatch(address[], bytes[])']),
  values: parseAbi(['function executeBatch(address[], uint256[], bytes[])']),
  structs: parseAbi(['struct Call { address to; uint256 value; bytes data; }', 'function executeBatch(Call[] calls)']),
  mode: parseAbi(['function execute(bytes32, bytes)']),
  old: parseAbi([
    'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }',
    'struct Some { Op[] userOps; address aggregator; bytes signature; }',
    'function handleOps(Op[] ops, address beneficiary)',
    'function handleAggregatedOps(Some[] some, address beneficiary)',
  ]),
  packed: parseAbi([
    'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
    'struct Some { Op[] userOps; address aggregator; bytes signature; }',
    'function handleOps(Op[] ops, address beneficiary)',
    'function handleAggregatedOps(Some[] some, address beneficiary)',
  ]),
}
const zero = `0x${'0'.repeat(40)}` as const
const hex = (digits: Digits): Hex => `0x${digits}`

/** Calldata of a function of one of the contracts of this world. */
export const callData = (functionName: string, ...args: unknown[]): Digits =>
  digitsOf(encodeFunctionData({ abi: abi as Abi, functionName, args }))
export const claimData = (assets: bigint, receiver: string, controller: string): Digits =>
  digitsOf(
    encodeFunctionData({
      abi: overloads.claim,
      functionName: 'deposit',
      args: [assets, receiver as Hex, controller as Hex],
    }),
  )
export const claimSharesData = (shares: bigint, receiver: string, controller: string): Digits =>
  digitsOf(
    encodeFunctionData({
      abi: overloads.claim,
      functionName: 'mint',
      args: [shares, receiver as Hex, controller as Hex],
    }),
  )
export const stakeRedeem = (receiver: string, shares: bigint): Digits =>
  digitsOf(encodeFunctionData({ abi: overloads.stake, args: [receiver as Hex, shares] }))
export const yieldDeposit = (receiver: string, token: string, assets: bigint): Digits =>
  digitsOf(encodeFunctionData({ abi: overloads.yieldIn, args: [receiver as Hex, token as Hex, assets, 0n] }))
export const yieldRedeem = (receiver: string, shares: bigint, token: string): Digits =>
  digitsOf(encodeFunctionData({ abi: overloads.yieldOut, args: [receiver as Hex, shares, token as Hex, 0n, false] }))
/** A teller's own: its older form, one with a referral, and one for somebody else. */
export const tellerDeposit = (form: 0 | 1 | 2, token: string, assets: bigint, to: string): Digits => {
  const args = [token as Hex, assets, 0n] as const
  if (form === 0) return digitsOf(encodeFunctionData({ abi: overloads.teller, args }))
  if (form === 1) return digitsOf(encodeFunctionData({ abi: overloads.referring, args: [...args, zero] }))
  return digitsOf(encodeFunctionData({ abi: overloads.tellerFor, args: [...args, to as Hex, zero] }))
}
export const refundReferred = (
  nonce: bigint,
  to: string,
  token: string,
  assets: bigint,
  shares: bigint,
  at: bigint,
  lock: bigint,
): Digits =>
  digitsOf(
    encodeFunctionData({
      abi: overloads.refundReferred,
      args: [nonce, to as Hex, token as Hex, assets, shares, at, lock, zero],
    }),
  )
/** Maple's own, of a queue. */
export const queueRequest = (shares: bigint, owner: string): Digits =>
  digitsOf(encodeFunctionData({ abi: overloads.maple, args: [shares, owner as Hex] }))
/** Lagoon's own, with who sent the wallet. */
export const lagoonRequest = (assets: bigint, wallet: string): Digits =>
  digitsOf(encodeFunctionData({ abi: overloads.lagoon, args: [assets, wallet as Hex, wallet as Hex, zero] }))

export type Part = { target: string; data: Digits }

/** Ways an account is told to make calls of its own. */
export const batchForms = ['execute', 'arrays', 'values', 'structs', 'mode', 'erc7821'] as const
export type BatchForm = (typeof batchForms)[number]

/**
 * An encoded list may end with the suffix of its last part, where that fills its words. Whose suffix that is can be read in
 * two ways, so a word is put behind it.
 */
const closed = (data: Digits): Digits => (data.endsWith('80218021') ? `${data}${wordOf(0n)}` : data)

export const writeBatch = (form: BatchForm, parts: readonly Part[], mayFail = false): Digits =>
  closed(encodeBatch(form, parts, mayFail))

function encodeBatch(form: BatchForm, parts: readonly Part[], mayFail: boolean): Digits {
  const targets = parts.map(({ target }) => target as Hex)
  const datas = parts.map(({ data }) => hex(data))
  const values = parts.map(() => 0n)
  const calls = parts.map(({ target, data }) => ({ to: target as Hex, value: 0n, data: hex(data) }))
  if (form === 'execute' && parts.length === 1) return callData('execute', targets[0], 0n, datas[0])
  if (form === 'arrays') return digitsOf(encodeFunctionData({ abi: overloads.arrays, args: [targets, datas] }))
  if (form === 'values') return digitsOf(encodeFunctionData({ abi: overloads.values, args: [targets, values, datas] }))
  if (form === 'structs') return digitsOf(encodeFunctionData({ abi: overloads.structs, args: [calls] }))
  const list = encodeAbiParameters(
    parseAbiParameters(['Call[] calls', 'struct Call { address to; uint256 value; bytes data; }']),
    [calls],
  )
  const [only] = parts
  const isSingle = parts.length === 1 && form === 'execute'
  const content = isSingle ? hex(`${digitsOf(only!.target)}${wordOf(0n)}${only!.data}`) : list
  const mode =
    `${isSingle ? '00' : '01'}${mayFail ? '01' : '00'}00000000${form === 'erc7821' ? '78210001' : '00000000'}`.padEnd(
      64,
      '0',
    )
  return digitsOf(encodeFunctionData({ abi: overloads.mode, args: [hex(mode), content] }))
}

export const writeSafe = (target: string, data: Digits, operation: 0 | 1): Digits =>
  callData('execTransaction', target, 0n, hex(data), operation, 0n, 0n, 0n, zero, zero, '0x01')
export const writeMultiSend = (parts: readonly Part[]): Digits =>
  closed(
    callData(
      'multiSend',
      hex(
        parts
          .map(({ target, data }) => `00${digitsOf(target)}${wordOf(0n)}${wordOf(BigInt(data.length / 2))}${data}`)
          .join(''),
      ),
    ),
  )
export const writeMulticall = (parts: readonly Digits[]): Digits => closed(callData('multicall', parts.map(hex)))

export type Version = '0.6' | '0.7' | '0.8'
export type UserOperation = { sender: string; nonce: bigint; callData: Digits }

function fill({ sender, nonce, callData: data }: UserOperation) {
  const common = {
    sender: sender as Hex,
    nonce,
    initCode: '0x' as Hex,
    callData: hex(data),
    paymasterAndData: '0x' as Hex,
    signature: '0xab' as Hex,
    preVerificationGas: 3n,
  }
  return {
    old: { ...common, callGasLimit: 1n, verificationGasLimit: 2n, maxFeePerGas: 4n, maxPriorityFeePerGas: 5n },
    packed: { ...common, accountGasLimits: hex(wordOf(7n)), gasFees: hex(wordOf(8n)) },
  }
}

const beneficiary = `0x${'be'.repeat(20)}` as const

export function writeBundle(version: Version, operations: readonly UserOperation[]): Digits {
  const functionName = 'handleOps'
  if (version === '0.6') {
    const ops = operations.map((each) => fill(each).old)
    return digitsOf(encodeFunctionData({ abi: overloads.old, functionName, args: [ops, beneficiary] }))
  }
  const ops = operations.map((each) => fill(each).packed)
  return digitsOf(encodeFunctionData({ abi: overloads.packed, functionName, args: [ops, beneficiary] }))
}

/** All of them in one list of one aggregator. */
export function writeAggregated(version: Version, operations: readonly UserOperation[]): Digits {
  const functionName = 'handleAggregatedOps'
  const by = { aggregator: beneficiary, signature: '0xcd' as Hex }
  if (version === '0.6') {
    const some = [{ ...by, userOps: operations.map((each) => fill(each).old) }]
    return digitsOf(encodeFunctionData({ abi: overloads.old, functionName, args: [some, beneficiary] }))
  }
  const some = [{ ...by, userOps: operations.map((each) => fill(each).packed) }]
  return digitsOf(encodeFunctionData({ abi: overloads.packed, functionName, args: [some, beneficiary] }))
}

export function hashOperation(version: Version, operation: UserOperation, entryPoint: string, chainId: number): string {
  const { old, packed } = fill(operation)
  if (version === '0.6') return hashOld(old, entryPoint, chainId)
  return version === '0.7' ? hashPacked(packed, entryPoint, chainId) : hashTyped(packed, entryPoint, chainId)
}
