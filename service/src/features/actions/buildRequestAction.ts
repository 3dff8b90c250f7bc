import { ask, readHead } from '../../chain/question.js'
import { computeUsd, parseRaw } from '../../kernel/amount.js'
import { invalidInput } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { findPrice } from '../../prices/index.js'
import { type DistributorRecord, findDistributor } from '../catalogue/index.js'
import type { OpenRequest } from '../positions/index.js'
import { assertOutcome } from './checks.js'
import { describeCall } from './describe.js'
import { type Draft, finishAction } from './finishAction.js'
import { refuse } from './refusal.js'
import { listIds, listOpen } from './requestIds.js'
import type { Interaction } from './schema.js'
import { type ActionContext, findTarget, getChain, getKind, type Target } from './target.js'

export type RequestInput = {
  opportunityId: string
  userAddress: string
  distributorId?: string
  requestId?: string
  simulate?: boolean
}

/**
 * Claims or cancels a pending deposit. The chain decides what is pending; our own tables only tell which ids a wallet's
 * requests have and who brought them, so a claim works before the request has been watched.
 */
export async function buildRequestAction(
  ctx: ActionContext,
  input: RequestInput,
  caller: Caller,
  type: 'claimDeposit' | 'cancelDeposit',
): Promise<Interaction> {
  const requestId = parseRequestId(input.requestId)
  const target = await findTarget(ctx, { ...input, distributorId: input.distributorId }, caller)
  const { opportunity, vault, wallet } = target
  const kind = getKind(opportunity)
  const build = kind[type]
  if (!build) throw refuse('NOTHING_PENDING', 'this vault has no pending deposits that could be claimed or cancelled')

  const chain = getChain(ctx, opportunity)
  const open = await listOpen(ctx, target, 'deposit')
  const [head, { answer: offer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    ask(chain, build({ vault, wallet, requestId, requestIds: listIds(open) })),
  ])
  if (offer.refusal !== undefined) throw refuse(offer.refusal, offer.why)

  const { call, assets } = offer
  const { baseToken, receiptToken } = opportunity
  const price = await findPrice(ctx.db, baseToken, ctx.clock.now())
  const party = { name: opportunity.name, address: vault.address }
  const facts = { amount: assets, token: baseToken, out: receiptToken, vault: party, receiver: wallet }
  const draft: Draft = {
    kind: type,
    chain,
    steps: [{ type, description: describeCall(call.verb, facts), call, gasConstant: call.gasConstant }],
    tokenIn: baseToken,
    amount: assets,
    amountUsd: price && computeUsd(assets, baseToken.decimals, price.priceUsd),
    referralCode: '',
    tokens: [baseToken, receiptToken],
    probe: undefined,
    block: head,
    errors: kind.errors,
    explainRevert: () => undefined,
    assertUnsimulated: () => undefined,
    assertOutcome: (changeOf) => assertOutcome(call, changeOf),
  }
  const distributor = target.distributor ?? findRequestDistributor(target, open, offer.requestId, caller)
  return finishAction(ctx, { ...target, distributor }, draft)
}

function parseRequestId(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  const id = parseRaw(text)
  if (id === undefined) throw invalidInput([{ path: 'body.requestId', message: 'must be below 2^256' }])
  return id
}

/** Who brought the pending deposit; else the only distributor of the key. */
function findRequestDistributor(
  { snapshot }: Target,
  open: readonly OpenRequest[],
  requestId: bigint,
  caller: Caller,
): DistributorRecord | undefined {
  const brought = open.filter((request) => request.distributorId !== null)
  const own = brought.find((request) => BigInt(request.requestId) === requestId) ?? brought[0]
  const id = own?.distributorId ?? caller.distributorId
  return id === null || id === undefined ? undefined : findDistributor(snapshot, id)
}
