import { type EarnClient, getOpportunity, getVerificationContext } from '@openearn/sdk'
import { type PlannedTransaction, type PlanRequest, type SwapRequest, verifyPlan } from '@openearn/sdk/verify'
import { cleanText } from './text.js'

/** A verdict on a plan. `trusts`: whether its facts come from the file of the start, or from the service that built the plan. */
export type GivenVerdict = {
  ok: boolean
  sentences: readonly string[]
  /** They repeat parts of the plan. */
  untrustedProblems: readonly string[]
  trusts: 'file' | 'service'
}

type Given = {
  request: Record<string, unknown>
  transactions: readonly PlannedTransaction[]
  actionId?: string | undefined
}

/**
 * Compares a plan with its request without asking a node: allowances are not known, and least amounts stand in the sentences.
 * The facts come from the client's `trust`, and never from what a tool was given.
 */
export async function verifyGivenPlan(
  client: EarnClient,
  { request, transactions, actionId }: Given,
): Promise<GivenVerdict> {
  const trusts = client.trust ? 'file' : 'service'
  const no = (problem: string): GivenVerdict => ({ ok: false, sentences: [], untrustedProblems: [problem], trusts })
  const isSwap = request['type'] === 'swap'
  const opportunityId = String(request['opportunityId'])
  const chainId = isSwap ? Number(request['chainId']) : await findChain(client, opportunityId)
  const facts = chainId === undefined ? undefined : await findFacts(client, chainId)
  if (!facts) return no('the chain of this plan is not among the known facts')
  const vault = facts.vaults.find((each) => each.opportunityId === opportunityId)
  if (!isSwap && !vault) return no('the opportunity of this plan is not among the known facts')
  const none = { address: '', kind: '', asset: '' }
  const { wrappedNative, depositRouter, gasCap, signers, routers } = facts
  const known = transactions.map(withoutTexts)
  const { ok, sentences, problems } = await verifyPlan(request as unknown as PlanRequest | SwapRequest, known, {
    ...{ chainId: facts.chainId, signers, swap: { routers } },
    vault: vault ? { address: vault.address, kind: vault.kind, asset: vault.asset, receiptToken: vault.share } : none,
    ...(actionId === undefined ? {} : { actionId }),
    ...(wrappedNative === null ? {} : { wrappedNative }),
    ...(depositRouter === null ? {} : { depositRouter }),
    ...(gasCap === null ? {} : { gasCap }),
  })
  return { ok, sentences, untrustedProblems: problems.slice(0, 20).map(cleanText), trusts }
}

/** A transaction without the texts that an answer of these tools put apart: they bind nobody. */
function withoutTexts(given: PlannedTransaction): PlannedTransaction {
  const members = Object.entries(given).filter(([name]) => !name.startsWith('untrusted'))
  return Object.fromEntries(members) as unknown as PlannedTransaction
}

async function findChain(client: EarnClient, opportunityId: string): Promise<number | undefined> {
  if (client.trust)
    return client.trust.chains.find(({ vaults }) => vaults.some((each) => each.opportunityId === opportunityId))
      ?.chainId
  return (await getOpportunity(client, { id: opportunityId })).chainId
}

async function findFacts(client: EarnClient, chainId: number) {
  if (client.trust) return client.trust.chains.find((chain) => chain.chainId === chainId)
  const facts = await getVerificationContext(client, { chainId })
  return facts.chainId === chainId ? facts : undefined
}
