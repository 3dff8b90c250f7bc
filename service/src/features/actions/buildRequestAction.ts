import { parseRaw } from '../../kernel/amount.js'
import { invalidInput } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { multicall } from '../../rpc/multicall.js'
import { type DistributorRecord, findDistributor } from '../catalogue/index.js'
import { type ActionContext, finishAction, type Interaction, refuse, type Target } from '../plans/index.js'
import type { OpenRequest } from '../positions/index.js'
import { draftOf } from './draft.js'
import { listIds, listOpen } from './requestIds.js'
import type { RequestInput } from './schema.js'
import { findTarget, getChain, getKind } from './target.js'
import { findValueUsd } from './value.js'

/**
 * Claims or cancels a pending deposit, or cancels a pending redemption where that is what a vault gives back. The chain decides what is pending; our own tables only tell which ids a wallet's
 * requests have and who brought them, so a claim works before the request has been watched.
 */
export async function buildRequestAction(
  ctx: ActionContext,
  input: RequestInput,
  caller: Caller,
  type: 'claimDeposit' | 'cancelDeposit',
): Promise<Written<Interaction>> {
  const requestId = parseRequestId(input.requestId)
  const target = await findTarget(ctx, { ...input, distributorId: input.distributorId }, caller)
  const { opportunity, vault, wallet } = target
  const kind = getKind(opportunity, 'NOTHING_PENDING')
  const build = kind.plans[type]
  if (!build) throw refuse('NOTHING_PENDING', 'this vault has nothing pending that could be claimed or cancelled')

  const chain = getChain(ctx, opportunity)
  const isOut = type === 'cancelDeposit' && kind.cancels === 'redeem'
  const open = await listOpen(ctx, target, isOut ? 'redeem' : 'deposit')
  const [head, { answer: offer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    multicall(chain, build({ vault, wallet, requestId, requestIds: listIds(open) })),
  ])
  if (offer.refusal !== undefined) throw refuse(offer.refusal, offer.why)

  const { call, amount } = offer
  const { baseToken, receiptToken: out } = opportunity
  const token = isOut ? out : baseToken
  const amountUsd = await findValueUsd(ctx, token, amount)
  const draft = draftOf(call, { type, target, chain, kind, block: head, token, amount, amountUsd, out })
  const distributor = target.distributor ?? findRequestDistributor(target, open, offer.requestId)
  return finishAction(ctx, { ...target, distributor }, draft)
}

function parseRequestId(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  const id = parseRaw(text)
  if (id === undefined) throw invalidInput([{ path: 'body.requestId', message: 'must be below 2^256' }])
  return id
}

/**
 * Who brought the pending deposit, if that is one of the organization the key belongs to. It depends on nothing else of
 * the key, so an answer kept for another key of the organization is what this one would get.
 */
function findRequestDistributor(
  { snapshot, organizationId }: Target,
  open: readonly OpenRequest[],
  requestId: bigint,
): DistributorRecord | undefined {
  const named = open.filter((request) => BigInt(request.requestId) === requestId)
  // Id 0 may stand for requests that have ids of their own.
  const about = named.length > 0 || requestId !== 0n ? named : open
  const id = about.find((request) => request.distributorId !== null)?.distributorId
  const distributor = id ? findDistributor(snapshot, id) : undefined
  return distributor?.organizationId === organizationId ? distributor : undefined
}
