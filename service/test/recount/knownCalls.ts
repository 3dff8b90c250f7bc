import { type AbiParameter, decodeAbiParameters, type Hex, parseAbiParameters, toFunctionSelector } from 'viem'
import { addressOf, type Digits, digitsOf, sizeOf, slice } from './bytes.js'
import type { Creditable } from './types.js'

const selectorOf = (signature: string): Digits => digitsOf(toFunctionSelector(signature))
const argument = (data: Digits, index: number): Digits => slice(data, 4 + 32 * index, 36 + 32 * index)

type Match = (data: Digits, event: Creditable) => boolean
const number = (data: Digits, index: number): bigint => BigInt(`0x0${argument(data, index)}`)
const address = (data: Digits, index: number): string => addressOf(argument(data, index))

function isRefund(data: Digits, event: Creditable): boolean {
  if (event.kind !== 'withdraw' || address(data, 1) !== event.owner) return false
  return number(data, 3) === event.assets && number(data, 4) === event.shares
}

/** Calls to a vault that make events: of which kind, and whether owner and amount are those of an event (STANDARDS §3). */
const makers: [string, Creditable['kind'], number, Match][] = [
  [
    'deposit(uint256,address)',
    'deposit',
    2,
    (d, e) => e.kind === 'deposit' && number(d, 0) === e.assets && address(d, 1) === e.owner,
  ],
  [
    'mint(uint256,address)',
    'deposit',
    2,
    (d, e) => e.kind === 'deposit' && number(d, 0) === e.shares && address(d, 1) === e.owner,
  ],
  [
    'deposit(uint256,address,address)',
    'deposit',
    3,
    (d, e) =>
      e.kind === 'deposit' && number(d, 0) === e.assets && address(d, 1) === e.owner && address(d, 2) === e.sender,
  ],
  [
    'mint(uint256,address,address)',
    'deposit',
    3,
    (d, e) =>
      e.kind === 'deposit' && number(d, 0) === e.shares && address(d, 1) === e.owner && address(d, 2) === e.sender,
  ],
  [
    'withdraw(uint256,address,address)',
    'withdraw',
    3,
    (d, e) => e.kind === 'withdraw' && number(d, 0) === e.assets && address(d, 2) === e.owner,
  ],
  [
    'redeem(uint256,address,address)',
    'withdraw',
    3,
    (d, e) => e.kind === 'withdraw' && number(d, 0) === e.shares && address(d, 2) === e.owner,
  ],
  [
    'requestDeposit(uint256,address,address)',
    'depositRequest',
    3,
    (d, e) =>
      e.kind === 'depositRequest' &&
      number(d, 0) === e.amount &&
      address(d, 1) === e.controller &&
      address(d, 2) === e.owner,
  ],
  [
    'requestRedeem(uint256,address,address)',
    'redeemRequest',
    3,
    (d, e) =>
      e.kind === 'redeemRequest' &&
      number(d, 0) === e.amount &&
      address(d, 1) === e.controller &&
      address(d, 2) === e.owner,
  ],
  [
    'requestRedeem(uint256,address)',
    'redeemRequest',
    2,
    (d, e) => e.kind === 'redeemRequest' && number(d, 0) === e.amount && address(d, 1) === e.controller,
  ],
  [
    'requestDeposit(uint256,address,address,address)',
    'depositRequest',
    4,
    (d, e) =>
      e.kind === 'depositRequest' &&
      number(d, 0) === e.amount &&
      address(d, 1) === e.controller &&
      address(d, 2) === e.owner,
  ],
  [
    'syncDeposit(uint256,address,address)',
    'deposit',
    3,
    (d, e) => e.kind === 'deposit' && number(d, 0) === e.assets && address(d, 1) === e.owner,
  ],
  [
    'syncRedeem(uint256,address,uint256)',
    'withdraw',
    3,
    (d, e) => e.kind === 'withdraw' && number(d, 0) === e.shares && e.owner === e.sender,
  ],
  [
    'stake(address,uint256)',
    'deposit',
    2,
    (d, e) => e.kind === 'deposit' && address(d, 0) === e.owner && number(d, 1) === e.assets,
  ],
  [
    'redeem(address,uint256)',
    'withdraw',
    2,
    (d, e) => e.kind === 'withdraw' && number(d, 1) === e.shares && e.owner === e.sender,
  ],
  [
    'deposit(address,address,uint256,uint256)',
    'deposit',
    4,
    (d, e) => e.kind === 'deposit' && address(d, 0) === e.owner && number(d, 2) === e.assets,
  ],
  [
    'redeem(address,uint256,address,uint256,bool)',
    'withdraw',
    5,
    (d, e) => e.kind === 'withdraw' && number(d, 1) === e.shares && e.owner === e.sender,
  ],
  [
    'cooldownShares(uint256)',
    'withdraw',
    1,
    (d, e) => e.kind === 'withdraw' && number(d, 0) === e.shares && e.owner === e.sender,
  ],
  ['deposit(address,uint256,uint256)', 'deposit', 3, (d, e) => e.kind === 'deposit' && number(d, 1) === e.assets],
  [
    'deposit(address,uint256,uint256,address)',
    'deposit',
    4,
    (d, e) => e.kind === 'deposit' && number(d, 1) === e.assets,
  ],
  [
    'deposit(address,uint256,uint256,address,address)',
    'deposit',
    5,
    (d, e) => e.kind === 'deposit' && number(d, 1) === e.assets && address(d, 3) === e.owner,
  ],
  ['refundDeposit(uint256,address,address,uint256,uint256,uint256,uint256)', 'withdraw', 7, isRefund],
  ['refundDeposit(uint256,address,address,uint256,uint256,uint256,uint256,address)', 'withdraw', 8, isRefund],
  [
    'requestOnChainWithdraw(address,uint128,uint16,uint24)',
    'redeemRequest',
    4,
    (d, e) => e.kind === 'redeemRequest' && number(d, 1) === e.amount,
  ],
  [
    'replaceOnChainWithdrawUsingRequestId(bytes32,uint16,uint24)',
    'redeemRequest',
    3,
    (d, e) => e.kind === 'redeemRequest' && number(d, 0) === e.replaces,
  ],
]
const bySelector = new Map(
  makers.map(([signature, kind, count, match]) => [selectorOf(signature), { kind, count, match }]),
)

/** ERC-20, permit and operator calls, and those that ask about a cancel: they make no event that is credited. */
const silent = new Set(
  [
    'transfer(address,uint256)',
    'transferFrom(address,address,uint256)',
    'approve(address,uint256)',
    'increaseAllowance(address,uint256)',
    'decreaseAllowance(address,uint256)',
    'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
    'setOperator(address,bool)',
    'cancelDepositRequest(uint256,address)',
    'cancelRedeemRequest(uint256,address)',
    'claimCancelDepositRequest(uint256,address,address)',
    'claimCancelRedeemRequest(uint256,address,address)',
    'cancelRequestDeposit()',
    'cancelRequestRedeem(address)',
    'removeShares(uint256,address)',
    'cancelOnChainWithdrawUsingRequestId(bytes32)',
  ].map(selectorOf),
)

export const makes = (data: Digits): Creditable['kind'] | undefined => bySelector.get(slice(data, 0, 4))?.kind
export const isSilent = (data: Digits): boolean => silent.has(slice(data, 0, 4))
export function matches(data: Digits, event: Creditable): boolean {
  const maker = bySelector.get(slice(data, 0, 4))
  return maker !== undefined && sizeOf(data) >= 4 + 32 * maker.count && maker.match(data, event)
}

/** A call that a wrapper makes, or a part that it runs as itself. */
export type Inner = { target: string | 'itself'; data: Digits }

/** The calls one known wrapper makes from its own account (SEMANTICS §2, `calldata`): one hop. */
export function unwrap(data: Digits): Inner[] {
  const shape = wrappers.get(slice(data, 0, 4))
  if (!shape) return []
  const values = decode(shape.inputs, slice(data, 4))
  return values === undefined ? [] : (shape.inner(values) ?? [])
}

function decode(inputs: readonly AbiParameter[], data: Digits): readonly unknown[] | undefined {
  try {
    return decodeAbiParameters(inputs, `0x${data}`)
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

type Shape = { inputs: readonly AbiParameter[]; inner(values: readonly unknown[]): Inner[] | undefined }
const call = (target: unknown, data: unknown): Inner => ({
  target: String(target).toLowerCase(),
  data: digitsOf(String(data)),
})
const zip = (targets: unknown, datas: unknown): Inner[] => {
  const [a, b] = [targets as string[], datas as string[]]
  return a.length === b.length ? a.map((target, i) => call(target, b[i])) : []
}
type Execution = { target: string; value: bigint; data: Hex }
const executions = parseAbiParameters([
  'Execution[] calls',
  'struct Execution { address target; uint256 value; bytes data; }',
])

const wrappers = new Map<Digits, Shape>(
  (
    [
      ['execute(address,uint256,bytes)', 'address, uint256, bytes', (v) => [call(v[0], v[2])]],
      ['executeBatch(address[],bytes[])', 'address[], bytes[]', (v) => zip(v[0], v[1])],
      ['executeBatch(address[],uint256[],bytes[])', 'address[], uint256[], bytes[]', (v) => zip(v[0], v[2])],
      ['execute(bytes32,bytes)', 'bytes32, bytes', (v) => readMode(String(v[0]), digitsOf(String(v[1])))],
      [
        'multicall(bytes[])',
        'bytes[]',
        (v) => (v[0] as Hex[]).map((data) => ({ ...call('', data), target: 'itself' })),
      ],
      [
        'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
        'address, uint256, bytes, uint8, uint256, uint256, uint256, address, address, bytes',
        (v) => (v[3] === 0 ? [call(v[0], v[2])] : v[3] === 1 ? readMultiSend(digitsOf(String(v[2]))) : []),
      ],
    ] as [string, string, Shape['inner']][]
  ).map(([signature, inputs, inner]) => [selectorOf(signature), { inputs: parseAbiParameters(inputs), inner }]),
)
wrappers.set(selectorOf('executeBatch((address,uint256,bytes)[])'), {
  inputs: executions,
  inner: ([list]) => (list as Execution[]).map(({ target, data }) => call(target, data)),
})

/** ERC-7579: the first byte of the mode is 0 for a single call and 1 for a batch. ERC-7821: a zero target is the account. */
function readMode(mode: string, content: Digits): Inner[] {
  const callType = mode.slice(2, 4)
  const isErc7821 = mode.slice(14, 22) === '78210001'
  if (callType === '00')
    return sizeOf(content) < 52 ? [] : [{ target: `0x${slice(content, 0, 20)}`, data: slice(content, 52) }]
  if (callType !== '01') return []
  const values = decode(executions, content)
  const list = (values?.[0] ?? []) as Execution[]
  return list.map(({ target, data }) =>
    isErc7821 && /^0x0+$/.test(target) ? { ...call('', data), target: 'itself' } : call(target, data),
  )
}

/** `multiSend(bytes)`: operation, target, value, length, data, one after another; delegatecalls are left out. */
function readMultiSend(data: Digits): Inner[] {
  if (slice(data, 0, 4) !== selectorOf('multiSend(bytes)')) return []
  const packed = digitsOf(String(decode(parseAbiParameters('bytes'), slice(data, 4))?.[0] ?? ''))
  const list: Inner[] = []
  for (let at = 0; at + 85 <= sizeOf(packed); ) {
    const length = Number(BigInt(`0x${slice(packed, at + 53, at + 85)}`))
    if (at + 85 + length > sizeOf(packed)) break
    if (slice(packed, at, at + 1) === '00')
      list.push({ target: `0x${slice(packed, at + 1, at + 21)}`, data: slice(packed, at + 85, at + 85 + length) })
    at += 85 + length
  }
  return list
}
