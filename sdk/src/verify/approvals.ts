import { type Address, type Hex, isAddressEqual } from 'viem'
import type { Known } from './context.js'
import { approve } from './expected.js'
import { tellApproval } from './sentences.js'
import type { ParsedTransaction } from './transactions.js'

/** One transaction as it has to be, with what it does in words. */
export type Step = { type: string; to: Address; data: Hex; value: bigint; sentence: string }

/** Whether transactions are these steps and nothing else. */
export function isSame(steps: readonly ParsedTransaction[], expected: readonly Step[]): boolean {
  return (
    steps.length === expected.length &&
    expected.every((wanted, i) => {
      const step = steps[i]
      if (!step || step.type !== wanted.type || step.value !== wanted.value) return false
      return isAddressEqual(step.to, wanted.to) && step.data === wanted.data
    })
  )
}

/** Every sequence of approvals that fits: which of them depends on the allowance, where that is not known. */
export function listApprovals(
  { token, spender, amount }: { token: Address; spender: Address; amount: bigint },
  {
    allowance,
    approvalReset,
    ...known
  }: { allowance: bigint | undefined; approvalReset: boolean | undefined } & Pick<Known, 'names' | 'decimals'>,
): Step[][] {
  const step = (value: bigint): Step => ({
    type: 'approve',
    to: token,
    data: approve(spender, value),
    value: 0n,
    sentence: tellApproval(value, token, spender, known),
  })
  const once = [step(amount)]
  const reset = [step(0n), step(amount)]
  if (allowance === undefined) return [[], once, ...(approvalReset === false ? [] : [reset])]
  if (allowance >= amount) return [[]]
  // A token whose allowance is 0 needs no reset, whatever it wants of others.
  if (allowance === 0n || approvalReset === false) return [once]
  return approvalReset ? [reset] : [once, reset]
}
