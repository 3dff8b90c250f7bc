import {
  type PlanContext,
  type PlannedBatch,
  type PlannedTransaction,
  type PlanRequest,
  type SwapContext,
  type SwapRequest,
  verifyBatch,
  verifyPlan,
} from '@openearn/sdk/verify'
import { type Address, erc20Abi } from 'viem'
import type { Anvil } from '../../contracts/test/anvil.js'
import { listBatchChanges, listPlanChanges, pinCall } from '../../sdk/test/changes.js'
import { findOpportunity, findToken, type OpportunityRecord } from '../src/features/catalogue/index.js'
import { listActions } from '../src/features/plans/index.js'
import type { SwapSettings } from '../src/rpc/storeChains.js'
import { findVaultKind, toVault } from '../src/vaults/index.js'
import type { Answer, CallInput, Earn } from './harness.js'

const types: Readonly<Record<string, PlanRequest['type']>> = {
  CreateDepositInteraction: 'deposit',
  CreateWithdrawInteraction: 'withdraw',
  CreateClaimDepositInteraction: 'claimDeposit',
  CreateCancelDepositInteraction: 'cancelDeposit',
}

/** The routers and hubs of a chain as a wallet has them in a list of its own; what the swap leaves open is signed. */
export function toSwapContext(swap: SwapSettings | null | undefined, depositRouter?: string | null): SwapContext {
  const { uniswapV2, uniswapV3, hubTokens = [], wrappers = [] } = swap ?? {}
  return {
    routers: [
      ...(uniswapV2 ? [{ address: uniswapV2.router, kind: 'uniswap-v2' }] : []),
      ...(uniswapV3 ? [{ address: uniswapV3.router, kind: uniswapV3.routerKind ?? 'uniswap-v3' }] : []),
      ...(depositRouter ? [{ address: depositRouter, kind: 'deposit-router' }] : []),
    ],
    hubTokens,
    wrappers,
  }
}

export type VerifiedPlan = { request: PlanRequest; transactions: Answer['body']; context: PlanContext }

/**
 * Every plan the service returns in a world is verified as a wallet would: from what was asked, the registry and the
 * allowance alone, and so is every change of one field of it, which has to be refused. One that fails breaks the test it
 * was built in. Answers the plans verified so far.
 */
export function verifyEveryPlan(earn: Earn, anvil: Anvil, signers: readonly Address[]): VerifiedPlan[] {
  const verified: VerifiedPlan[] = []
  const { call } = earn
  const swaps = { changed: 0 }
  earn.call = async (operationId, input = {}) => {
    if (operationId === 'GetSwap') return verifySwap({ earn, swaps }, input, signers, await call(operationId, input))
    const type = types[operationId]
    const allowance = type === 'deposit' ? await readAllowance(earn, anvil, input) : undefined
    const answer = await call(operationId, input)
    if (type === undefined || answer.status !== 200) return answer
    const plan = toPlan(earn, type, input, answer, signers, allowance)
    const action = (await listActions(earn.db, [answer.body.actionId]))[0]
    plan.context.distributorId = action?.distributorId ?? null
    if (plan.context.swap) Object.assign(plan.context.swap, pinZap(plan))
    const verdict = await verifyPlan(plan.request, plan.transactions, plan.context)
    if (!verdict.ok) throw new Error(`the verifier refused a plan: ${verdict.problems.join('; ')}\n${answer.text}`)
    const batch = verifyBatch(answer.body.batch, plan.transactions, plan.request.userAddress)
    if (!batch.ok) throw new Error(`the verifier refused a batch: ${batch.problems.join('; ')}\n${answer.text}`)
    await refuseChanges(plan, answer.body.batch)
    verified.push(plan)
    return answer
  }
  return verified
}

/** What of a plan's swap an own look at the chain would tell: how many approvals it needs. */
function pinSwap(transactions: readonly PlannedTransaction[], asset?: string): Partial<SwapContext> {
  const at = transactions.findIndex(({ type, transaction }) => type === 'swap' && transaction.to !== asset)
  const before = transactions.slice(0, at).filter(({ type }) => type === 'approve')
  return before.length === 2
    ? { allowance: '1', approvalReset: true }
    : { allowance: before.length === 1 ? '0' : String(2n ** 256n - 1n) }
}

function pinZap({ request, transactions }: VerifiedPlan): Partial<SwapContext> {
  const list = transactions as PlannedTransaction[]
  return request.type === 'withdraw' ? pinSwap(list.slice(1)) : pinSwap(list)
}

/** Swaps of a world whose every change is tried: each change has a signature to recover. */
const swapsChanged = 3

async function verifySwap(
  { earn, swaps }: { earn: Earn; swaps: { changed: number } },
  input: CallInput,
  signers: readonly Address[],
  answer: Answer,
): Promise<Answer> {
  if (answer.status !== 200) return answer
  const query = input.query as SwapRequest & { chainId: number }
  const settings = earn.ctx.catalogue.current().chains.get(query.chainId)
  const { transactions, batch, actionId, validUntil } = answer.body
  const deadline = String(Date.parse(validUntil) / 1_000)
  const context = {
    ...{ chainId: query.chainId, signers, actionId },
    swap: { ...toSwapContext(settings?.swap, settings?.depositRouter), ...pinSwap(transactions), deadline },
    ...(settings?.wrappedNative ? { wrappedNative: settings.wrappedNative } : {}),
  }
  const request: SwapRequest = { ...query, type: 'swap' }
  const verify = (changed: readonly PlannedTransaction[]) => verifyPlan(request, changed, context)
  const verdict = await verify(transactions)
  if (!verdict.ok) throw new Error(`the verifier refused a swap: ${verdict.problems.join('; ')}\n${answer.text}`)
  if (!verifyBatch(batch, transactions, request.user).ok)
    throw new Error(`the verifier refused a batch\n${answer.text}`)
  if (swaps.changed++ >= swapsChanged) return answer
  for (const { name, changed } of listPlanChanges(transactions, step))
    if ((await verify(changed)).ok) throw new Error(`the verifier accepted a change: ${name}`)
  return answer
}

/** Of calldata one byte of each word: what a change costs is a signature to check. */
const step = 32

async function refuseChanges(plan: VerifiedPlan, batch: PlannedBatch): Promise<void> {
  const { request, context, transactions } = pinCall(plan)
  for (const { name, changed } of listPlanChanges(transactions, step))
    if ((await verifyPlan(request, changed, context)).ok) throw new Error(`the verifier accepted a change: ${name}`)
  for (const { name, changed } of listBatchChanges(batch, step))
    if (verifyBatch(changed, transactions, request.userAddress).ok)
      throw new Error(`the verifier accepted a change of the batch: ${name}`)
}

type Body = { userAddress: Address; tokenIn: string; mode?: string; protect?: boolean }

function toPlan(
  earn: Earn,
  type: PlanRequest['type'],
  input: CallInput,
  answer: Answer,
  signers: readonly Address[],
  allowance: bigint | undefined,
): VerifiedPlan {
  const snapshot = earn.ctx.catalogue.current()
  const opportunity = findOpportunity(snapshot, String(input.params?.['opportunityId']))!
  const { chainId, vault } = opportunity
  const { wrappedNative, depositRouter } = snapshot.chains.get(chainId) ?? {}
  const context: PlanContext = {
    chainId,
    vault,
    signers,
    ...(wrappedNative ? { wrappedNative } : {}),
    ...(depositRouter ? { depositRouter } : {}),
    actionId: answer.body.actionId,
    swap: toSwapContext(snapshot.chains.get(chainId)?.swap, depositRouter),
    approvalReset: findToken(snapshot, chainId, vault.asset)?.approvalReset ?? false,
    ...(allowance === undefined ? {} : { allowance }),
    ...(type === 'withdraw' ? { pullsShares: answer.body.transactions.length > 1 } : {}),
  }
  return {
    request: { type, ...(input.body as object) } as PlanRequest,
    transactions: answer.body.transactions,
    context,
  }
}

function spenderOf({ vault }: OpportunityRecord): Address {
  return findVaultKind(vault.kind)?.plans?.spender(toVault(vault)) ?? (vault.address as Address)
}

/** What the vault may take of the token given; of the wrapped one where that is the native token. */
async function readAllowance(earn: Earn, anvil: Anvil, input: CallInput): Promise<bigint | undefined> {
  const opportunity = findOpportunity(earn.ctx.catalogue.current(), String(input.params?.['opportunityId']))
  const { userAddress, tokenIn, mode, protect } = input.body as Body
  const isToken = /^0x[0-9a-f]{40}$/i.test(tokenIn) && !/^0xe{40}$/i.test(tokenIn)
  const router = earn.ctx.catalogue.current().chains.get(opportunity?.chainId ?? 0)?.depositRouter
  if (!opportunity || !/^0[xX][0-9a-fA-F]{40}$/.test(userAddress)) return undefined
  return anvil.client
    .readContract({
      address: (isToken && mode !== 'swap' ? tokenIn.toLowerCase() : opportunity.vault.asset) as Address,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [userAddress.toLowerCase() as Address, (protect && router ? router : spenderOf(opportunity)) as Address],
    })
    .catch(() => undefined)
}
