import { getAddress } from 'viem'
import { type EarnError, invalidInput } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { multicall } from '../../rpc/multicall.js'
import type { PlannedKind, VaultCall, WithdrawAsk } from '../../vaults/index.js'
import type { OpportunityRecord, TokenRecord } from '../catalogue/index.js'
import { type ActionContext, finishAction, type Interaction, parseAmount, refuse, type Step } from '../plans/index.js'
import { parseToken } from '../swap/index.js'
import { buildPull, wouldRevert } from './alternative.js'
import { assertBalance, assertMinimumShares, assertOffer, assertWithdrawEnabled } from './checks.js'
import { draftOf } from './draft.js'
import { listIds, listOpen } from './requestIds.js'
import type { WithdrawInput } from './schema.js'
import { findTarget, getChain, getKind } from './target.js'
import { findValueUsd } from './value.js'
import { findZapChain, getZapAsset } from './zap.js'
import { zapOut } from './zapOut.js'

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
  const named = input.tokenOut
  const out = findTokenOut(opportunity, named, kind.severalTokens === true)
  const zap = out || named === undefined ? undefined : findZapChain(ctx, opportunity)
  if (!out && (!zap || parseToken(named ?? '') === receiptToken.address)) throw refuseToken(opportunity, kind)
  assertMinimumShares(opportunity.minWithdrawAmount, shares, receiptToken.decimals)

  const chain = getChain(ctx, opportunity)
  const requestIds = kind.asyncRedeem ? listIds(await listOpen(ctx, target, 'redeem')) : []
  if (!out) {
    if (!zap || named === undefined) throw refuseToken(opportunity, kind)
    const asset = getZapAsset(opportunity)
    return zapOut(ctx, { target, input, kind, shares, zap, asset, tokenOut: named, requestIds })
  }
  const tokenOut = getAddress(out.address)
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
  const { instead, pulls } = offer
  const before = pulls ? buildPull({ call: offer.call, pulls }, target) : []
  if (!instead) return finish(offer.call, before)
  try {
    return await finish(offer.call, before)
  } catch (error) {
    if (!wouldRevert(error)) throw error
    return finish(instead.call, buildPull(instead, target))
  }
}

/** The tokens a vault pays itself. */
function listPayable({ baseToken, depositTokens, chainId }: OpportunityRecord, severalTokens: boolean): TokenRecord[] {
  return [baseToken, ...(severalTokens ? depositTokens.filter((token) => token.chainId === chainId) : [])]
}

/** The token to be paid in: the vault's asset, or the one named where a vault pays several; undefined: it pays another. */
function findTokenOut(
  opportunity: OpportunityRecord,
  text: string | undefined,
  severalTokens: boolean,
): TokenRecord | undefined {
  if (severalTokens && text === undefined)
    throw invalidInput([{ path: 'body.tokenOut', message: 'is required: this vault pays in several tokens' }])
  const address = (text ?? opportunity.baseToken.address).toLowerCase()
  return listPayable(opportunity, severalTokens).find((token) => token.address === address)
}

function refuseToken(opportunity: OpportunityRecord, { severalTokens }: PlannedKind): EarnError {
  const symbols = [...new Set(listPayable(opportunity, severalTokens === true).map(({ symbol }) => symbol))].join(', ')
  return refuse('TOKEN_NOT_ACCEPTED', `this vault pays ${symbols} only`)
}
