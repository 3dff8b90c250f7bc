import type { Hex } from 'viem'
import type { PlannedTransaction } from '../src/verify/index.js'
import { resign, stranger } from './forgeries.js'
import { addressWord, attacker, toWord } from './mutations.js'
import { callOf, placeOfSwap, readSwapOf, type SwapPlan } from './swapPlans.js'

/** What a service may tell alike in every transaction of a plan that swaps. */
export const zapLies = [
  ...(['its own router', 'its own vault', 'its own receiver', 'a least amount of one unit'] as const),
  ...(['more than was asked for', 'another token'] as const),
]
export type ZapLie = (typeof zapLies)[number]

/** The words that a lie changes, in every call; addresses are targets as well. */
function listWords(plan: SwapPlan, name: ZapLie): [before: string, after: string][] {
  const { request, context, transactions } = plan
  const { minimumOut, amountIn } = readSwapOf(plan)
  const router = transactions[placeOfSwap(plan)]!.transaction.to
  const instead = (address: string): [string, string] => [addressWord(address), addressWord(attacker)]
  switch (name) {
    case 'its own router':
      return [instead(router)]
    case 'its own vault':
      return request.type === 'deposit' || request.type === 'withdraw' ? [instead(context.vault.address)] : []
    case 'its own receiver':
      return [instead(request.userAddress)]
    case 'a least amount of one unit':
      return [[toWord(minimumOut), toWord(1n)]]
    case 'more than was asked for':
      return [[toWord(amountIn), toWord(amountIn * 1_000n)]]
    case 'another token':
      return [instead(context.vault.asset)]
  }
}

/**
 * A plan that swaps with one lie in all its parts: calls, approvals and targets agree, and each suffix is signed for its call by the
 * key of the service, or by one of its own. Undefined where the plan has nothing to lie about.
 */
export async function lie(plan: SwapPlan, name: ZapLie, isOwnKey: boolean): Promise<PlannedTransaction[] | undefined> {
  const words = listWords(plan, name)
  const change = (data: string): Hex => {
    const changed = words.reduce((text, [before, after]) => text.replaceAll(before, after), data.toLowerCase())
    return changed as Hex
  }
  const transactions: PlannedTransaction[] = []
  for (const step of plan.transactions) {
    const to = `0x${change(addressWord(step.transaction.to)).slice(24)}`
    const moved = { ...step, transaction: { ...step.transaction, to } }
    const call = change(callOf(moved))
    const isBare = callOf(moved).length === moved.transaction.data.length
    if (isBare) transactions.push({ ...moved, transaction: { ...moved.transaction, data: call } })
    else {
      const by = isOwnKey ? stranger : undefined
      const signed = await resign({ ...plan, transactions: [moved] }, () => call, {}, by)
      transactions.push(...signed.transactions)
    }
  }
  const isSame = JSON.stringify(transactions).toLowerCase() === JSON.stringify(plan.transactions).toLowerCase()
  return isSame || words.length === 0 ? undefined : transactions
}
