import { type Address, encodeFunctionData, erc20Abi } from 'viem'
import type { TokenRecord } from '../catalogue/index.js'
import { describeApproval, describeApprovalReset, type Party } from './describe.js'
import type { Step } from './plan.js'

/** Gas limit of an approval when no estimate can be had. */
const approvalGas = 120_000n

/**
 * The approvals before a call that takes `amount` of `token`: none where the allowance suffices, else exactly the amount,
 * preceded by a reset to 0 where the token refuses to change an allowance that is not 0.
 */
export function buildApprovals(input: {
  token: TokenRecord
  tokenAddress: Address
  spender: Address
  spenderParty: Party
  amount: bigint
  allowance: bigint
}): Step[] {
  const { token, tokenAddress, spender, amount, allowance } = input
  if (allowance >= amount) return []
  const step = (value: bigint, description: string): Step => ({
    type: 'approve',
    description,
    call: {
      to: tokenAddress,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, value] }),
      value: 0n,
    },
    gasConstant: approvalGas,
  })
  const approve = step(amount, describeApproval(amount, token, input.spenderParty))
  if (allowance === 0n || !token.approvalReset) return [approve]
  return [step(0n, describeApprovalReset(token, input.spenderParty)), approve]
}
