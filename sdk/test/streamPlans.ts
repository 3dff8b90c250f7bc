import { concat, encodeFunctionData, erc20Abi, type Hex, keccak256, numberToHex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { PlannedTransaction, StreamContext, StreamRequest } from '../src/verify/index.js'
import { attacker } from './mutations.js'
import type { Plan } from './plans.js'

/** Transactions of reward streams, written and signed apart from what checks them. */

/** Anvil's ninth and eighth public test accounts: the verifier of a factory, and somebody else. */
export const verifier = privateKeyToAccount('0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97')
export const nobody = privateKeyToAccount('0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356')

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
export const [admin, factory, token, stream, treasury] = ['1', '2', '3', '4', '5'].map(address) as [
  ...[Hex, Hex, Hex, Hex, Hex],
]
export const chainId = 31_337
export const streamId = '01890a5d-ac96-774b-bcce-b302099a8057'
export const idBytes: Hex = '0x01890a5dac96774bbcceb302099a8057'
export const deadline = 1_800_000_000
export const salt = keccak256('0x05')

const abi = parseAbi([
  'function createStream((bytes16,address,uint256,uint256), uint40, bytes)',
  'function addFunds((address,uint256,uint256), bytes32, uint40, bytes)',
  'function withdrawFunds((address,address,uint256), bytes32, uint40, bytes)',
  'function claim(uint256, uint40, bytes32[])',
])

const member = (type: string, name: string) => ({ type, name })
const types = {
  CreateStreamParams: [
    ...[member('bytes16', 'streamId'), member('address', 'rewardToken')],
    ...[member('uint256', 'netTotalAmount'), member('uint256', 'feeAmount')],
  ],
  AddFundsParams: [member('address', 'stream'), member('uint256', 'netAmount'), member('uint256', 'feeAmount')],
  WithdrawFundsParams: [member('address', 'stream'), member('address', 'to'), member('uint256', 'amount')],
  CreateStream: [member('address', 'creator'), member('CreateStreamParams', 'params'), member('uint40', 'deadline')],
  AddFunds: [
    ...[member('address', 'admin'), member('AddFundsParams', 'params')],
    ...[member('bytes32', 'salt'), member('uint40', 'deadline')],
  ],
  WithdrawFunds: [
    ...[member('address', 'admin'), member('WithdrawFundsParams', 'params')],
    ...[member('bytes32', 'salt'), member('uint40', 'deadline')],
  ],
}

export type Terms = {
  by: typeof verifier
  user: Hex
  chainId: number
  factory: Hex
  deadline: number
  streamId: Hex
  token: Hex
  stream: Hex
  to: Hex
  amount: bigint
  fee: bigint
}
export const terms: Terms = {
  ...{ by: verifier, user: admin, chainId, factory, deadline, streamId: idBytes, token, stream, to: treasury },
  ...{ amount: 1_000_001n, fee: 15_001n },
}

async function sign(primaryType: string, message: object, { by, chainId: on, factory: at }: Terms): Promise<Hex> {
  const domain = { name: 'OpenEarn Stream Factory', version: '1', chainId: on, verifyingContract: at }
  return by.signTypedData({ domain, types, primaryType, message } as never)
}

export async function createData(of: Terms): Promise<Hex> {
  const { user, streamId: id, token: rewardToken, amount, fee, deadline: until } = of
  const params = { streamId: id, rewardToken, netTotalAmount: amount, feeAmount: fee }
  const signature = await sign('CreateStream', { creator: user, params, deadline: until }, of)
  const args = [[id, rewardToken, amount, fee], until, signature] as const
  return encodeFunctionData({ abi, functionName: 'createStream', args })
}

export async function addData(of: Terms): Promise<Hex> {
  const { user, stream: at, amount, fee, deadline: until } = of
  const params = { stream: at, netAmount: amount, feeAmount: fee }
  const signature = await sign('AddFunds', { admin: user, params, salt, deadline: until }, of)
  return encodeFunctionData({ abi, functionName: 'addFunds', args: [[at, amount, fee], salt, until, signature] })
}

export async function withdrawData(of: Terms): Promise<Hex> {
  const { user, stream: at, to, amount, deadline: until } = of
  const signature = await sign(
    'WithdrawFunds',
    { admin: user, params: { stream: at, to, amount }, salt, deadline: until },
    of,
  )
  return encodeFunctionData({ abi, functionName: 'withdrawFunds', args: [[at, to, amount], salt, until, signature] })
}

/** A tree of three leaves: the wallet's next to another one, both next to a third. */
export const siblings: Hex[] = [keccak256('0x01'), keccak256('0x02')]
export const rootAt = 1_799_000_000
export const rootOf = (user: Hex, amount: bigint): Hex => {
  let node = keccak256(concat([user, numberToHex(amount, { size: 32 })]))
  for (const sibling of siblings) node = keccak256(concat([node, sibling].sort()))
  return node
}

export const claimData = (amount: bigint, at = rootAt, proof = siblings): Hex =>
  encodeFunctionData({ abi, functionName: 'claim', args: [amount, at, proof] })

export const approveData = (spender: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })

const transaction = (type: string, to: Hex, data: Hex): PlannedTransaction => ({
  type,
  transaction: { to, data, value: '0', chainId, gasLimit: '500000' },
})

export type StreamPlan = {
  name: string
  request: StreamRequest
  transactions: PlannedTransaction[]
  /** `vault` is not looked at: mutations take addresses from it. */
  context: StreamContext & Pick<Plan['context'], 'vault'>
}

/** One plan of each call, all of it pinned. */
export async function makeStreamPlans(): Promise<StreamPlan[]> {
  const { amount, fee } = terms
  const vault = { address: stream, kind: 'stream', asset: token }
  const context = {
    ...{ chainId, factory, stream, verifiers: [verifier.address], deadlineMax: deadline, feeMax: fee, allowance: '7' },
    ...{ roots: [{ root: rootOf(admin, amount), timestamp: rootAt }], vault },
  }
  const asked = { userAddress: admin, amount: String(amount) }
  const approvals = [0n, amount + fee].map((value) => transaction('approve', token, approveData(factory, value)))
  return [
    {
      name: 'a creation',
      request: { type: 'createStream', rewardToken: token, ...asked },
      transactions: [...approvals.slice(1), transaction('createStream', factory, await createData(terms))],
      context: { ...context, streamId, approvalReset: false },
    },
    {
      name: 'an increase after a reset',
      request: { type: 'addFunds', rewardToken: token, ...asked },
      transactions: [...approvals, transaction('addFunds', factory, await addData(terms))],
      context: { ...context, approvalReset: true },
    },
    {
      name: 'a withdrawal',
      request: { type: 'withdrawFunds', to: treasury, ...asked },
      transactions: [transaction('withdrawFunds', factory, await withdrawData(terms))],
      context,
    },
    {
      name: 'a claim',
      request: { type: 'claim', ...asked },
      transactions: [transaction('claim', stream, claimData(amount))],
      context,
    },
  ]
}

/** Calls that the verifier's own key signs and nobody asked for, and that somebody else signed. */
export async function forgeStreamCalls(): Promise<Record<string, { name: string; data: Hex }[]>> {
  const other = attacker as Hex
  const changes: [string, Partial<Terms>][] = [
    ...([['by somebody else', { by: nobody }]] as [string, Partial<Terms>][]),
    ...[{ user: other }, { chainId: 1 }, { factory: other }, { deadline: deadline + 1 }, { stream: other }].map(
      (each): [string, Partial<Terms>] => [Object.keys(each).join(), each],
    ),
    ...[{ to: other }, { amount: 1_000_002n }, { amount: 1n }, { fee: 15_002n }, { token: other }].map(
      (each): [string, Partial<Terms>] => [Object.keys(each).join(), each],
    ),
    ['id', { streamId: `${idBytes.slice(0, -1)}8` as Hex }],
  ]
  const forged = async (make: (of: Terms) => Promise<Hex>) => {
    const honest = await make(terms)
    const all = await Promise.all(
      changes.map(async ([name, change]) => ({ name, data: await make({ ...terms, ...change }) })),
    )
    return all.filter(({ data }) => data !== honest)
  }
  return {
    createStream: await forged(createData),
    addFunds: await forged(addData),
    withdrawFunds: await forged(withdrawData),
    claim: [
      { name: 'amount', data: claimData(1_000_002n) },
      { name: 'time', data: claimData(1_000_001n, rootAt - 1) },
      { name: 'proof', data: claimData(1_000_001n, rootAt, siblings.slice(1)) },
      { name: 'order of the proof', data: claimData(1_000_001n, rootAt, siblings.toReversed()) },
    ],
  }
}
