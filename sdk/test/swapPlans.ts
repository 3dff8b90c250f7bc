import { readFileSync } from 'node:fs'
import { type Address, getAddress as checksum, type Hex } from 'viem'
import { attribution, type PlannedTransaction } from '../src/verify/index.js'
import { findWrapper, readSwapCall, type SwapFound, type Token } from '../src/verify/swapCalls.js'
import { parseSwapContext, type RouterKind } from '../src/verify/swapContext.js'
import { verifyPlan } from '../src/verify/verifyPlan.js'
import type { Plan } from './plans.js'

/** A plan that swaps. Of a swap alone the vault is only there for mutations to take addresses from. */
export type SwapPlan = Plan

/** Plans that swap, as the service returned them: swaps, deposits and withdrawals, through V2 and V3. */
export function readSwapPlans(): SwapPlan[] {
  const file = new URL('./vectors/swapPlans.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')).plans as SwapPlan[]).map(pinRoute)
}

export const verifySwapPlan = ({ request, transactions, context }: SwapPlan) =>
  verifyPlan(request, transactions, context)

/** Where the swap stands in a plan. */
export const placeOfSwap = ({ transactions }: SwapPlan): number => transactions.findIndex(({ type }) => type === 'swap')

/** A transaction's call, without its suffix. */
export function callOf({ transaction }: PlannedTransaction): Hex {
  const { data } = transaction
  const start = attribution.decode(data as Hex).at(-1)?.start ?? data.length
  return data.slice(0, 2 + 2 * start) as Hex
}

/** What the swap of a plan says of itself. */
export function readSwapOf(plan: SwapPlan): SwapFound {
  const { request, context, transactions } = plan
  const step = transactions[placeOfSwap(plan)]!
  const { to, value } = step.transaction
  const named = request as { tokenIn?: string; tokenOut?: string }
  const isWithdrawal = request.type === 'withdraw'
  const wanted = {
    user: request.userAddress as Address,
    tokenIn: (isWithdrawal ? context.vault.asset : named.tokenIn) as Token,
    tokenOut: (request.type === 'deposit' ? context.vault.asset : named.tokenOut) as Token,
    amountIn: undefined,
    wrappedNative: context.wrappedNative as Address,
  }
  const same = (token: Token): Token => (token === 'native' ? token : checksum(token))
  const kind = context.swap!.routers.find(({ address }) => address.toLowerCase() === to.toLowerCase())!.kind
  const pair = { tokenIn: same(wanted.tokenIn), tokenOut: same(wanted.tokenOut) }
  const { wrappers } = parseSwapContext(context.swap, () => undefined)
  const found = readSwapCall(
    kind as RouterKind,
    { data: callOf(step), value: BigInt(value) },
    {
      ...wanted,
      user: checksum(wanted.user),
      ...pair,
      wrapper: findWrapper(wrappers, pair),
      wrappedNative: checksum(wanted.wrappedNative),
    },
  )
  if (!found) throw new Error(`the swap of "${plan.name}" cannot be read`)
  return found
}

/** Pins what the call of a router leaves open, from the plan itself. */
function pinRoute(plan: SwapPlan): SwapPlan {
  const found = readSwapOf(plan)
  const { minimumOut, amountIn, deadline, fees, hubs } = found
  Object.assign(plan.context.swap!, {
    ...{ minimumOut: String(minimumOut), hubTokens: hubs, fees },
    ...(deadline === undefined ? {} : { deadline: String(deadline) }),
    ...(plan.request.type === 'withdraw' ? { amountIn: String(amountIn) } : {}),
  })
  return plan
}
