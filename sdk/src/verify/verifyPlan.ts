import { type Address, type Hex, isAddressEqual } from 'viem'
import type { OwnSuffix } from '../attribution/suffix.js'
import { type AskedDeposit, type AskedOfVault, type AskedSwap, type AskedWithdrawal, parseRequest } from './asked.js'
import { type Common, type Known, parseCommon, parseContext } from './context.js'
import { findContract } from './expected.js'
import { checkLimits } from './limits.js'
import { checkPreparations, findSame, getEnteringToken, listVaultApprovals } from './preparations.js'
import { asProtected } from './protected.js'
import { tellMain } from './sentences.js'
import { type Complain, parseAddress, quote } from './shape.js'
import { checkSuffix, splitSuffix } from './suffix.js'
import { checkSwap } from './swapPlans.js'
import { type ParsedTransaction, parseTransactions } from './transactions.js'
import type {
  PlanContext,
  PlannedTransaction,
  PlanRequest,
  PlanVerdict,
  SwapPlanContext,
  SwapRequest,
} from './types.js'

/**
 * Decides, from public facts and without any network, whether the transactions of a plan do exactly what was requested: the
 * right chain, targets, functions, receiver, spender and amounts, in order, without further transactions, and a suffix that
 * carries the requested distributor and is signed by a published signer for this very call. Returns a verdict for every input;
 * with a yes, a sentence for each transaction, which a wallet shows in place of the plan's own description.
 */
export async function verifyPlan(
  request: PlanRequest | SwapRequest,
  transactions: readonly PlannedTransaction[],
  context: PlanContext | SwapPlanContext,
): Promise<PlanVerdict> {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (!problems.includes(problem)) problems.push(problem)
  }
  try {
    const asked = parseRequest(request, complain)
    const steps = parseTransactions(transactions, complain)
    const sentences =
      asked?.type === 'swap'
        ? await tellSwapPlan(asked, steps, parseCommon(context, complain), complain)
        : await tellVaultPlan(asked, steps, parseContext(context, complain), complain)
    return problems.length === 0 ? { ok: true, problems, sentences } : { ok: false, problems, sentences: [] }
  } catch {
    // A getter or a proxy threw: no plan that came as JSON has one.
    return { ok: false, problems: [...problems, 'something of what was given cannot be read'], sentences: [] }
  }
}

/** Sentences about the transactions; of no use after a complaint. */
async function tellSwapPlan(
  asked: AskedSwap,
  steps: readonly ParsedTransaction[] | undefined,
  known: Common | undefined,
  complain: Complain,
): Promise<string[]> {
  if (!steps || !known) return []
  checkLimits(steps, known, complain)
  const { user, tokenIn, tokenOut, amount: amountIn } = asked
  const wanted = { user, tokenIn, tokenOut, amountIn, wrappedNative: known.wrappedNative }
  return (await checkSwap(asked, steps, wanted, known, complain))?.sentences ?? []
}

async function tellVaultPlan(
  asked: AskedOfVault | undefined,
  steps: readonly ParsedTransaction[] | undefined,
  known: Known | undefined,
  complain: Complain,
): Promise<string[]> {
  let good = asked !== undefined && steps !== undefined && known !== undefined
  const refuse: Complain = (problem) => {
    good = false
    complain(problem)
  }
  if (known && steps) checkLimits(steps, known, refuse)
  if (!good || !asked || !known || !steps) return []
  const protects = asked.type === 'deposit' && asked.protect
  const used = protects ? asProtected(known, complain) : known
  return used ? tellParsedPlan(asked, steps, used, complain) : []
}

async function tellParsedPlan(
  asked: AskedOfVault,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): Promise<string[]> {
  const way = findZap(asked, steps, known)
  if (way === 'in' && asked.type === 'deposit') return tellZapIn(asked, steps, known, complain)
  if (way === 'out' && asked.type === 'withdraw') return tellZapOut(asked, steps, known, complain)
  const before = checkPreparations(asked, steps, known, complain)
  const main = await checkMain(asked, steps.at(-1), { known, swaps: false }, complain)
  return before && main ? [...before, main.sentence] : []
}

/** Whether what was asked for needs a swap before or after the vault's call. */
function findZap(asked: AskedOfVault, steps: readonly ParsedTransaction[], known: Known): 'in' | 'out' | undefined {
  const { asset, kind, swap } = known
  // Without a known router every swap is refused.
  if (!swap) return undefined
  if (asked.type === 'withdraw') {
    if (asked.token === undefined || asked.token === asset) return undefined
    return asked.token === 'native' || !kind.severalTokens || steps.at(-1)?.type === 'swap' ? 'out' : undefined
  }
  if (asked.type !== 'deposit' || !asked.maySwap) return undefined
  const entering = getEnteringToken(asked, known)
  // For a vault with several tokens its list decides: a token that goes to a router is not in it.
  const isRouted = steps.some(({ type, to }) => type === 'swap' && swap.routers.has(to))
  return entering === undefined || (entering !== asset && isRouted) ? 'in' : undefined
}

/** The token is swapped for the vault's asset, and exactly the least the swap gives is deposited. */
async function tellZapIn(
  asked: AskedDeposit,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): Promise<string[]> {
  const { user, token, amount: amountIn } = asked
  const { asset, wrappedNative } = known
  const at = steps.findIndex(({ type }) => type === 'swap') + 1
  const wanted = { user, tokenIn: token, tokenOut: asset, amountIn, wrappedNative }
  const swap = await checkSwap(asked, steps.slice(0, at), wanted, known, complain)
  if (!swap) return []
  const amount = swap.found.minimumOut
  const before = findSame(steps.slice(at, -1), listVaultApprovals(asset, amount, known, complain), complain)
  const deposit: AskedDeposit = { ...asked, token: asset, amount }
  const main = await checkMain(deposit, steps.length > at ? steps.at(-1) : undefined, { known, swaps: true }, complain)
  if (!main) complain('the plan has no deposit')
  if (main && main.own?.actionId !== swap.own?.actionId) complain('the suffixes carry two actions')
  return before && main ? [...swap.sentences, ...before, main.sentence] : []
}

/** The vault pays its asset, and what the redemption is sure to give is swapped. */
async function tellZapOut(
  asked: AskedWithdrawal,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): Promise<string[]> {
  const { user, token } = asked
  const { asset, wrappedNative, swap: swaps } = known
  const redemption: AskedWithdrawal = { ...asked, token: asset }
  const main = await checkMain(redemption, steps[0], { known, swaps: true }, complain)
  const wanted = { user, tokenIn: asset, tokenOut: token ?? asset, amountIn: swaps?.amountIn, wrappedNative }
  const swap = await checkSwap(asked, steps.slice(1), wanted, known, complain)
  if (swap && swaps?.amountInMax !== undefined && swap.found.amountIn > swaps.amountInMax)
    complain(`the swap takes ${swap.found.amountIn}, more than the redemption pays`)
  if (main && swap && main.own?.actionId !== swap.own?.actionId) complain('the suffixes carry two actions')
  return main && swap ? [main.sentence, ...swap.sentences] : []
}

/** Checks the call that moves the money, and its suffix; returns a sentence. `swaps`: the plan also swaps. */
async function checkMain(
  asked: AskedOfVault,
  step: ParsedTransaction | undefined,
  { known, swaps }: { known: Known; swaps: boolean },
  complain: Complain,
): Promise<{ sentence: string; own: OwnSuffix | undefined } | undefined> {
  if (!step) return undefined
  let good = true
  const refuse: Complain = (problem) => {
    good = false
    complain(problem)
  }
  if (step.type !== asked.type) refuse(`the last transaction is called ${quote(step.type)}, not ${asked.type}`)
  const target = parseAddress(
    findContract(known.kind, asked.type, { address: known.vault, contracts: known.contracts }),
  )
  if (!target || !isAddressEqual(step.to, target)) refuse('the last transaction calls another contract')
  if (step.value !== 0n) refuse('the last transaction sends native value')
  const { call, own } = splitSuffix(step.data, refuse)
  const token = getMovedToken(asked, known)
  if (!token || !isExpectedCall(asked, call, token, known))
    refuse('the last transaction calls something else than was asked for')
  if (!good || !token) return undefined
  await checkSuffix(asked, { to: step.to, call, own, swaps }, known, complain)
  return { sentence: tellMain(asked, call, token, own, known), own }
}

/** The token that enters or leaves the vault; undefined where the vault takes or pays another one. */
function getMovedToken(asked: AskedOfVault, known: Known): Address | undefined {
  const { kind, asset } = known
  if (asked.type === 'deposit') return getEnteringToken(asked, known)
  const token = asked.type === 'withdraw' ? (asked.token ?? asset) : asset
  if (token === 'native') return undefined
  return kind.severalTokens || isAddressEqual(token, asset) ? token : undefined
}

function isExpectedCall(asked: AskedOfVault, call: Hex, token: Address, known: Known): boolean {
  const { user } = asked
  const { kind, minimumOut, requestAmount: amount } = known
  switch (asked.type) {
    case 'deposit':
      return kind.isDeposit(call, { amount: asked.amount, user, token, minimumOut })
    case 'withdraw':
      return kind.isWithdraw(call, { shares: asked.amount, user, token, minimumOut, slippageBps: asked.slippageBps })
    case 'claimDeposit':
      return kind.isClaim?.(call, { user, requestId: asked.requestId, amount }) ?? false
    case 'cancelDeposit':
      return kind.isCancel?.(call, { user, requestId: asked.requestId, amount }) ?? false
  }
}
