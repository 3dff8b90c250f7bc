import type { OwnSuffix } from '../attribution/suffix.js'
import { listApprovals } from './approvals.js'
import type { Asked } from './asked.js'
import type { Common } from './context.js'
import { findSame } from './preparations.js'
import { tellSwap } from './sentences.js'
import type { Complain } from './shape.js'
import { checkSuffix, splitSuffix } from './suffix.js'
import { findWrapper, readSwapCall, readWrapCall, type SwapFound, type SwapWanted } from './swapCalls.js'
import type { ParsedTransaction } from './transactions.js'

/** A verified swap: its amounts, its suffix, and sentences about its transactions. */
export type VerifiedSwap = { found: SwapFound; own: OwnSuffix | undefined; sentences: string[] }

/**
 * A swap and the approvals before it: at a router that is known, of its kind's own call, for the wallet, of at least the
 * minimum, with a suffix signed for this very call. Undefined, and a complaint, where it is anything else.
 */
export async function checkSwap(
  asked: Asked,
  steps: readonly ParsedTransaction[],
  wanted: SwapWanted,
  known: Common,
  complain: Complain,
): Promise<VerifiedSwap | undefined> {
  const step = steps.at(-1)
  const { swap } = known
  if (!swap || step?.type !== 'swap') {
    complain(
      swap ? 'the plan does not swap where it has to' : 'no router of this chain is known, so no swap is verified',
    )
    return undefined
  }
  let good = true
  const refuse: Complain = (problem) => {
    good = false
    complain(problem)
  }
  const { call, own } = splitSuffix(step.data, refuse)
  const kind = swap.routers.get(step.to)
  const wraps = readWrapCall({ ...step, data: call }, wanted)
  const { tokenIn } = wanted
  const pair = { ...wanted, wrapper: findWrapper(swap.wrappers, wanted) }
  const found = wraps ?? (kind && readSwapCall(kind, { data: call, value: step.value }, pair))
  if (!found) {
    complain('the swap calls something else than was asked for, or a router that is not known')
    return undefined
  }
  const { minimumOut, deadline, hubs, fees } = found
  if (minimumOut < swap.minimumOut) refuse(`the swap may give as little as ${minimumOut}`)
  if (found.amountIn === 0n) refuse('the swap takes nothing')
  if (swap.deadline !== undefined && deadline !== undefined && deadline !== swap.deadline)
    refuse('the swap has another deadline')
  if (swap.deadlineMax !== undefined && deadline !== undefined && deadline > swap.deadlineMax)
    refuse(`the swap may happen as late as ${deadline}`)
  if (hubs.some((hub) => swap.hubTokens?.includes(hub) === false)) refuse('the swap passes through another token')
  if (fees.some((fee) => swap.fees?.includes(fee) === false)) refuse('the swap passes through a pool of another fee')
  const allowed =
    wraps || tokenIn === 'native'
      ? [[]]
      : listApprovals({ token: tokenIn, spender: step.to, amount: found.amountIn }, { ...known, ...swap })
  const sentences = findSame(steps.slice(0, -1), allowed, refuse)
  if (!good || !sentences) return undefined
  await checkSuffix(asked, { to: step.to, call, own, swaps: false }, known, complain)
  return { found, own, sentences: [...sentences, tellSwap(step.to, found, wanted, own, known)] }
}
