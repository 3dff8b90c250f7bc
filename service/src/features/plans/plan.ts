import { prepareSuffix } from '@openearn/attribution'
import { type Address, concat, getAddress, numberToHex } from 'viem'
import type { ErrorMeaning } from '../../rpc/revert.js'
import type { Call } from '../../rpc/simulateBlock.js'
import type { Interaction, Prepared, PreparedType } from './schema.js'

/** One transaction of a plan before its gas limit is known. */
export type Step = {
  type: PreparedType
  description: string
  call: Call
  gasConstant: bigint
  /** Which way a swap takes, as it is answered. */
  metadata?: NonNullable<Prepared['metadata']>
  /** Carries the suffix of the distributor, if any. `beside a swap`: the suffix says that the plan swaps. */
  suffix?: 'plain' | 'beside a swap'
  /** Throws why the call would revert, where more is known than that it would. */
  explainRevert?(why: string, context: { transactionIndex: number }, means: ErrorMeaning | undefined): void
}

export type Attribution = {
  distributorId: string
  actionId: string
  chainId: number
  wallet: Address
  referralCode: string
}

/**
 * The step with our suffix at the end of its calldata, signed by `sign`, or unsigned if that returns no signature. Only calls
 * that move money carry a suffix: the vault's, and that of a swap.
 */
export async function appendSuffix(
  step: Step,
  attribution: Attribution,
  sign: (digest: Uint8Array) => Promise<Uint8Array | undefined>,
): Promise<Step> {
  const { distributorId, actionId, chainId, wallet, referralCode } = attribution
  const { to, data } = step.call
  const { digest, suffix } = prepareSuffix({
    ...{ code: distributorId, actionId, chainId, wallet, target: to, data, referralCode },
    swaps: step.suffix === 'beside a swap',
  })
  return { ...step, call: { ...step.call, data: concat([data, suffix(await sign(digest))]) } }
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
