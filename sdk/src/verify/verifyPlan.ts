import { type Address, type Hex, isAddressEqual } from 'viem'
import { type Asked, parseRequest } from './asked.js'
import { type Known, parseContext } from './context.js'
import { findContract } from './expected.js'
import { checkPreparations, getEnteringToken } from './preparations.js'
import { tellMain } from './sentences.js'
import { type Complain, parseAddress, quote } from './shape.js'
import { checkSuffix, splitSuffix } from './suffix.js'
import { type ParsedTransaction, parseTransactions } from './transactions.js'
import type { PlanContext, PlannedTransaction, PlanRequest, PlanVerdict } from './types.js'

/** What a transaction costs before it does anything. */
const gasMin = 21_000n

/**
 * Decides, from what is public and without any network, whether the transactions of a plan do exactly what was asked:
 * the right chain, targets, functions, receiver, spender and amounts, in order, nothing beside them, and a suffix that
 * carries the distributor asked for and is signed by a published signer for this very call. Answers a verdict whatever it
 * is given; with a yes, a sentence for each transaction, which a wallet shows in place of the plan's own description.
 */
export async function verifyPlan(
  request: PlanRequest,
  transactions: readonly PlannedTransaction[],
  context: PlanContext,
): Promise<PlanVerdict> {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (!problems.includes(problem)) problems.push(problem)
  }
  try {
    const asked = parseRequest(request, complain)
    const known = parseContext(context, complain)
    const steps = parseTransactions(transactions, complain)
    if (known && steps) checkLimits(steps, known, complain)
    if (problems.length > 0 || !asked || !known || !steps) return { ok: false, problems, sentences: [] }
    const sentences = await tellVerified(asked, steps, known, complain)
    return problems.length === 0 ? { ok: true, problems, sentences } : { ok: false, problems, sentences: [] }
  } catch {
    // A getter or a proxy threw: no plan that came as JSON has one.
    return { ok: false, problems: [...problems, 'something of what was given cannot be read'], sentences: [] }
  }
}

/** The chain and the gas of every transaction. */
function checkLimits(steps: readonly ParsedTransaction[], { chainId, gasCap }: Known, complain: Complain): void {
  steps.forEach((step, at) => {
    const { gasLimit = gasMin } = step
    if (step.chainId !== chainId) complain(`transaction ${at + 1}: is for chain ${step.chainId}, not ${chainId}`)
    if (gasLimit < gasMin) complain(`transaction ${at + 1}: has a gas limit of ${gasLimit}, below ${gasMin}`)
    if (step.gasLimit !== undefined && gasLimit > gasCap)
      complain(`transaction ${at + 1}: has a gas limit of ${gasLimit}, above ${gasCap}`)
  })
}

/** What each transaction does; of no use where something was complained of. */
async function tellVerified(
  asked: Asked,
  steps: readonly ParsedTransaction[],
  known: Known,
  complain: Complain,
): Promise<string[]> {
  const before = checkPreparations(asked, steps, known, complain)
  const main = await checkMain(asked, steps.at(-1), known, complain)
  return before && main !== undefined ? [...before, main] : []
}

/** The call that moves the money, with its suffix; answers what it does. */
async function checkMain(
  asked: Asked,
  step: ParsedTransaction | undefined,
  known: Known,
  complain: Complain,
): Promise<string | undefined> {
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
  await checkSuffix(asked, { to: step.to, call, own }, known, complain)
  return tellMain(asked, call, token, own, known)
}

/** The token that enters or leaves the vault; undefined where the vault takes or pays another one. */
function getMovedToken(asked: Asked, known: Known): Address | undefined {
  const { kind, asset } = known
  if (asked.type === 'deposit') return getEnteringToken(asked, known)
  const token = asked.type === 'withdraw' ? (asked.token ?? asset) : asset
  return kind.severalTokens || isAddressEqual(token, asset) ? token : undefined
}

function isExpectedCall(asked: Asked, call: Hex, token: Address, known: Known): boolean {
  const { user } = asked
  const { kind, minimumOut, requestAmount: amount } = known
  switch (asked.type) {
    case 'deposit':
      return kind.isDeposit(call, { amount: asked.amount, user, token, minimumOut })
    case 'withdraw':
      return kind.isWithdraw(call, { shares: asked.amount, user, token, minimumOut })
    case 'claimDeposit':
      return kind.isClaim?.(call, { user, requestId: asked.requestId, amount }) ?? false
    case 'cancelDeposit':
      return kind.isCancel?.(call, { user, requestId: asked.requestId, amount }) ?? false
  }
}
