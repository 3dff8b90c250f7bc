import { streamFactoryAbi } from '@openearn/contracts'
import { type Address, encodeFunctionData, getAddress, type Hex, hashTypedData, hexToBytes } from 'viem'

/** The types that a verifier of a stream factory signs. The factory contains the same strings. */
const types = {
  CreateStreamParams: [
    { name: 'streamId', type: 'bytes16' },
    { name: 'rewardToken', type: 'address' },
    { name: 'netTotalAmount', type: 'uint256' },
    { name: 'feeAmount', type: 'uint256' },
  ],
  AddFundsParams: [
    { name: 'stream', type: 'address' },
    { name: 'netAmount', type: 'uint256' },
    { name: 'feeAmount', type: 'uint256' },
  ],
  WithdrawFundsParams: [
    { name: 'stream', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  CreateStream: [
    { name: 'creator', type: 'address' },
    { name: 'params', type: 'CreateStreamParams' },
    { name: 'deadline', type: 'uint40' },
  ],
  AddFunds: [
    { name: 'admin', type: 'address' },
    { name: 'params', type: 'AddFundsParams' },
    { name: 'salt', type: 'bytes32' },
    { name: 'deadline', type: 'uint40' },
  ],
  WithdrawFunds: [
    { name: 'admin', type: 'address' },
    { name: 'params', type: 'WithdrawFundsParams' },
    { name: 'salt', type: 'bytes32' },
    { name: 'deadline', type: 'uint40' },
  ],
} as const

/** Something an admin sends to its factory with a signature of ours. Addresses in any case, `deadline` in unix seconds. */
export type Signable = { chainId: number; factory: string; admin: string; deadline: number } & (
  | { call: 'createStream'; streamId: Hex; rewardToken: string; netAmount: bigint; feeAmount: bigint }
  | { call: 'addFunds'; stream: string; netAmount: bigint; feeAmount: bigint; salt: Hex }
  | { call: 'withdrawFunds'; stream: string; to: string; amount: bigint; salt: Hex }
)

/** The digest to sign: 32 bytes. */
export function hashSignable(signable: Signable): Uint8Array {
  const { chainId, factory, admin, deadline } = signable
  const domain = {
    ...{ name: 'OpenEarn Stream Factory', version: '1', chainId },
    verifyingContract: lower(factory),
  } as const
  const who = lower(admin)
  if (signable.call === 'createStream') {
    const message = { creator: who, params: paramsOfCreation(signable), deadline }
    return hexToBytes(hashTypedData({ domain, types, primaryType: 'CreateStream', message }))
  }
  const { salt } = signable
  if (signable.call === 'addFunds') {
    const message = { admin: who, params: paramsOfIncrease(signable), salt, deadline }
    return hexToBytes(hashTypedData({ domain, types, primaryType: 'AddFunds', message }))
  }
  const message = { admin: who, params: paramsOfWithdrawal(signable), salt, deadline }
  return hexToBytes(hashTypedData({ domain, types, primaryType: 'WithdrawFunds', message }))
}

/** The call of the factory that the signature is for. */
export function encodeSignable(signable: Signable, signature: Hex): Hex {
  const { deadline } = signable
  const abi = streamFactoryAbi
  if (signable.call === 'createStream')
    return encodeFunctionData({
      ...{ abi, functionName: 'createStream' },
      args: [paramsOfCreation(signable), deadline, signature],
    })
  const { salt } = signable
  if (signable.call === 'addFunds')
    return encodeFunctionData({
      ...{ abi, functionName: 'addFunds' },
      args: [paramsOfIncrease(signable), salt, deadline, signature],
    })
  return encodeFunctionData({
    ...{ abi, functionName: 'withdrawFunds' },
    args: [paramsOfWithdrawal(signable), salt, deadline, signature],
  })
}

export type TxParams = {
  chainId: number
  sender: string
  to: string
  function: Signable['call']
  params: { params: Record<string, string>; salt: Hex | null; deadline: string; signature: string }
  data: Hex
}

/** The signed parameters as the wire has them, and the ready call. */
export function formatTxParams(signable: Signable, signature: Hex): TxParams {
  const { chainId, factory, admin, call, deadline } = signable
  return {
    chainId,
    sender: getAddress(lower(admin)),
    to: getAddress(lower(factory)),
    function: call,
    params: {
      params: formatParams(signable),
      salt: call === 'createStream' ? null : signable.salt,
      deadline: String(deadline),
      signature: Buffer.from(hexToBytes(signature)).toString('base64'),
    },
    data: encodeSignable(signable, signature),
  }
}

function formatParams(signable: Signable): Record<string, string> {
  if (signable.call === 'createStream') {
    const { streamId, rewardToken, netTotalAmount, feeAmount } = paramsOfCreation(signable)
    return {
      ...{ StreamId: streamId, RewardToken: getAddress(rewardToken) },
      ...{ NetTotalAmount: String(netTotalAmount), FeeAmount: String(feeAmount) },
    }
  }
  if (signable.call === 'addFunds') {
    const { stream, netAmount, feeAmount } = paramsOfIncrease(signable)
    return { Stream: getAddress(stream), NetAmount: String(netAmount), FeeAmount: String(feeAmount) }
  }
  const { stream, to, amount } = paramsOfWithdrawal(signable)
  return { Stream: getAddress(stream), To: getAddress(to), Amount: String(amount) }
}

type Of<C extends Signable['call']> = Extract<Signable, { call: C }>

const paramsOfCreation = ({ streamId, rewardToken, netAmount, feeAmount }: Of<'createStream'>) => ({
  ...{ streamId, rewardToken: lower(rewardToken), netTotalAmount: netAmount, feeAmount },
})
const paramsOfIncrease = ({ stream, netAmount, feeAmount }: Of<'addFunds'>) => ({
  ...{ stream: lower(stream), netAmount, feeAmount },
})
const paramsOfWithdrawal = ({ stream, to, amount }: Of<'withdrawFunds'>) => ({
  ...{ stream: lower(stream), to: lower(to), amount },
})

const lower = (address: string): Address => address.toLowerCase() as Address
