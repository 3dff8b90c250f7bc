import { getAddress } from 'viem'
import { EarnError, invalidInput } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { multicall } from '../../rpc/multicall.js'
import type { Alternative, VaultCall, WithdrawAsk } from '../../vaults/index.js'
import type { OpportunityRecord, TokenRecord } from '../catalogue/index.js'
import {
  type ActionContext,
  buildApprovals,
  finishAction,
  type Interaction,
  parseAmount,
  refuse,
  type Step,
  type Target,
} from '../plans/index.js'
import { assertBalance, assertMinimumShares, assertOffer, assertWithdrawEnabled } from './checks.js'
import { draftOf, partyOf } from './draft.js'
import { listIds, listOpen } from './requestIds.js'
import type { WithdrawInput } from './schema.js'
import { findTarget, getChain, getKind } from './target.js'
import { findValueUsd } from './value.js'

/** Builds the transactions of a withdrawal, ready to sign; sends nothing. `amount` is in receipt-token units. */
export async function createWithdrawInteraction(
  ctx: ActionContext,
  input: WithdrawInput,
  caller: Caller,
): Promise<Written<Interaction>> {
  const shares = parseAmount(input.amount, 'body.amount')
  const target = await findTarget(ctx, input, caller)
  const { opportunity, vault, wallet } = target
  const { receiptToken } = opportunity
  assertWithdrawEnabled(opportunity)
  const kind = getKind(opportunity, 'WITHDRAW_DISABLED')
  const out = getTokenOut(opportunity, input.tokenOut, kind.severalTokens === true)
  assertMinimumShares(opportunity.minWithdrawAmount, shares, receiptToken.decimals)

  const chain = getChain(ctx, opportunity)
  const tokenOut = getAddress(out.address)
  const requestIds = kind.asyncRedeem ? listIds(await listOpen(ctx, target, 'redeem')) : []
  const withdrawAsk: WithdrawAsk = { vault, wallet, shares, tokenOut, slippageBps: input.slippageBps ?? 50, requestIds }
  const [head, { answer: offer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    multicall(chain, kind.plans.withdraw(withdrawAsk)),
  ])
  assertOffer(offer, 'WITHDRAW_DISABLED')
  assertBalance(offer.available, shares, offer.awaited)

  const amountUsd = await findValueUsd(ctx, out, offer.assets)
  const finish = (call: VaultCall, before: readonly Step[] = []) =>
    finishAction(
      ctx,
      target,
      draftOf(call, {
        ...{ type: 'withdraw', target, chain, kind, block: head, before },
        ...{ token: receiptToken, amount: shares, amountUsd, out },
        offered: { offer, capability: opportunity.capabilities.withdraw, closed: 'WITHDRAW_DISABLED' },
      }),
    )
  const { instead } = offer
  if (!instead) return finish(offer.call)
  try {
    return await finish(offer.call)
  } catch (error) {
    if (!wouldRevert(error)) throw error
    return finish(instead.call, buildPull(instead, target))
  }
}

/** Whether a plan was refused because its simulation reverted. */
function wouldRevert(error: unknown): boolean {
  return error instanceof EarnError && 'transactionIndex' in error.context
}

/** The approval of exactly the shares, where the vault takes them by allowance. */
function buildPull({ pulls }: Alternative, target: Target): Step[] {
  if (!pulls) return []
  const { token, spender, amount, allowance } = pulls
  const spenderParty = { ...partyOf(target), address: spender }
  const { receiptToken } = target.opportunity
  return buildApprovals({ token: receiptToken, tokenAddress: token, spender, spenderParty, amount, allowance })
}

/** The token to be paid in: the vault's asset, or the one named where a vault pays several. */
function getTokenOut(opportunity: OpportunityRecord, text: string | undefined, severalTokens: boolean): TokenRecord {
  const { baseToken, depositTokens, chainId } = opportunity
  if (severalTokens && text === undefined)
    throw invalidInput([{ path: 'body.tokenOut', message: 'is required: this vault pays in several tokens' }])
  const payable = [baseToken, ...(severalTokens ? depositTokens.filter((token) => token.chainId === chainId) : [])]
  const out = payable.find((token) => token.address === (text ?? baseToken.address).toLowerCase())
  if (out) return out
  const symbols = [...new Set(payable.map(({ symbol }) => symbol))].join(', ')
  throw refuse('TOKEN_NOT_ACCEPTED', `this vault pays ${symbols} only`)
}
