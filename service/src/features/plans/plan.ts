import { buildSuffix } from '@openearn/attribution'
import { type Address, concat, getAddress, type Hex, numberToHex } from 'viem'
import type { Call } from '../../rpc/simulateBlock.js'
import { openFastSign } from './fastSign.js'
import type { Interaction, Prepared, PreparedType } from './schema.js'

/** One transaction of a plan before its gas limit is known. */
export type Step = {
  type: PreparedType
  description: string
  call: Call
  gasConstant: bigint
  /** Which way a swap takes, as it is answered. */
  metadata?: NonNullable<Prepared['metadata']>
}

export type Attribution = {
  distributorId: string
  actionId: string
  chainId: number
  wallet: Address
  referralCode: string
  privateKey: Hex
}

const sign = openFastSign()

/** The step with our signed suffix at the end of its calldata. Only the call that moves the money carries one. */
export function appendSuffix(step: Step, attribution: Attribution): Step {
  const { distributorId, actionId, chainId, wallet, referralCode, privateKey } = attribution
  const { to, data } = step.call
  const suffix = buildSuffix({
    code: distributorId,
    actionId,
    chainId,
    wallet,
    target: to,
    data,
    referralCode,
    privateKey,
    sign,
  })
  return { ...step, call: { ...step.call, data: concat([data, suffix]) } }
}

/** The transactions to sign, in order, each with its gas limit. */
export function toPrepared(steps: readonly Step[], chainId: number, gasLimits: readonly bigint[]): Prepared[] {
  return steps.map(({ type, description, call, gasConstant, metadata }, position) => {
    const { data, value } = call
    const gasLimit = String(gasLimits[position] ?? gasConstant)
    const transaction = { to: getAddress(call.to), data, value: String(value), gasLimit, chainId }
    return { type, description, transaction, ...(metadata ? { metadata } : {}) }
  })
}

/** The same transactions as one ERC-5792 `wallet_sendCalls` request. */
export function toBatch(steps: readonly Step[], chainId: number, wallet: Address): Interaction['batch'] {
  return {
    version: '2.0.0',
    chainId: numberToHex(chainId),
    from: getAddress(wallet),
    atomicRequired: true,
    calls: steps.map(({ call }) => ({ to: getAddress(call.to), data: call.data, value: numberToHex(call.value) })),
  }
}
