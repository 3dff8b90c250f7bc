import { type PlanContext, type PlannedBatch, type PlanRequest, verifyBatch, verifyPlan } from '@openearn/sdk'
import { type Address, erc20Abi } from 'viem'
import type { Anvil } from '../../contracts/test/anvil.js'
import { listBatchChanges, listPlanChanges, pinCall } from '../../sdk/test/changes.js'
import { findOpportunity, findToken, type OpportunityRecord } from '../src/features/catalogue/index.js'
import { findAction } from '../src/features/plans/index.js'
import { findVaultKind, toVault } from '../src/vaults/index.js'
import type { Answer, CallInput, Earn } from './harness.js'

const types: Readonly<Record<string, PlanRequest['type']>> = {
  CreateDepositInteraction: 'deposit',
  CreateWithdrawInteraction: 'withdraw',
  CreateClaimDepositInteraction: 'claimDeposit',
  CreateCancelDepositInteraction: 'cancelDeposit',
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
  earn.call = async (operationId, input = {}) => {
    const type = types[operationId]
    const allowance = type === 'deposit' ? await readAllowance(earn, anvil, input) : undefined
    const answer = await call(operationId, input)
    if (type === undefined || answer.status !== 200) return answer
    const plan = toPlan(earn, type, input, answer, signers, allowance)
    const action = await findAction(earn.db, answer.body.actionId)
    plan.context.distributorId = action?.distributorId ?? null
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

type Body = { userAddress: Address; tokenIn: string }

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
  const wrappedNative = snapshot.chains.get(chainId)?.wrappedNative
  const context: PlanContext = {
    chainId,
    vault,
    signers,
    ...(wrappedNative ? { wrappedNative } : {}),
    actionId: answer.body.actionId,
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
  const { userAddress, tokenIn } = input.body as Body
  const isToken = /^0x[0-9a-f]{40}$/i.test(tokenIn) && !/^0xe{40}$/i.test(tokenIn)
  if (!opportunity || !/^0[xX][0-9a-fA-F]{40}$/.test(userAddress)) return undefined
  return anvil.client
    .readContract({
      address: (isToken ? tokenIn.toLowerCase() : opportunity.vault.asset) as Address,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [userAddress.toLowerCase() as Address, spenderOf(opportunity)],
    })
    .catch(() => undefined)
}
