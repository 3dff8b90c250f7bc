import { getAddress } from 'viem'
import { ask, readHead } from '../../chain/question.js'
import { computeUsd } from '../../kernel/amount.js'
import type { Caller } from '../../kernel/operation.js'
import { findPrice } from '../../prices/index.js'
import type { WithdrawAsk } from '../../vaults/index.js'
import { assertBalance, assertMinimumShares, assertOffer, assertOutcome, assertWithdrawEnabled } from './checks.js'
import { describeCall } from './describe.js'
import { type Draft, finishAction } from './finishAction.js'
import { refuse } from './refusal.js'
import type { Interaction } from './schema.js'
import { type ActionContext, findTarget, getChain, getKind, parseAmount } from './target.js'

export type WithdrawInput = {
  opportunityId: string
  userAddress: string
  amount: string
  distributorId: string
  tokenOut?: string
  slippageBps?: number
  simulate?: boolean
}

/** Builds the transactions of a withdrawal, ready to sign; sends nothing. `amount` is in receipt-token units. */
export async function createWithdrawInteraction(
  ctx: ActionContext,
  input: WithdrawInput,
  caller: Caller,
): Promise<Interaction> {
  const shares = parseAmount(input.amount)
  const target = await findTarget(ctx, input, caller)
  const { opportunity, vault, wallet } = target
  const { receiptToken, baseToken } = opportunity
  assertWithdrawEnabled(opportunity)
  if (input.tokenOut !== undefined && input.tokenOut.toLowerCase() !== baseToken.address)
    throw refuse('TOKEN_NOT_ACCEPTED', `this vault pays out ${baseToken.symbol} only`)
  assertMinimumShares(opportunity.minWithdrawAmount, shares, receiptToken.decimals)

  const chain = getChain(ctx, opportunity)
  const kind = getKind(opportunity)
  const tokenOut = getAddress(baseToken.address)
  const withdrawAsk: WithdrawAsk = { vault, wallet, shares, tokenOut, slippageBps: input.slippageBps ?? 50 }
  const [head, { answer: offer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    ask(chain, kind.withdraw(withdrawAsk)),
  ])
  assertOffer(offer, 'WITHDRAW_DISABLED', shares, receiptToken.decimals)
  assertBalance(offer.available, shares)

  const { call, assets } = offer
  const price = await findPrice(ctx.db, baseToken, ctx.clock.now())
  const draft: Draft = {
    kind: 'withdraw',
    chain,
    steps: [
      {
        type: 'withdraw',
        description: describeCall(call.verb, {
          amount: shares,
          token: receiptToken,
          out: baseToken,
          vault: { name: opportunity.name, address: vault.address },
          receiver: wallet,
        }),
        call,
        gasConstant: call.gasConstant,
      },
    ],
    tokenIn: receiptToken,
    amount: shares,
    amountUsd: price && assets !== undefined ? computeUsd(assets, baseToken.decimals, price.priceUsd) : undefined,
    referralCode: '',
    tokens: [receiptToken, baseToken],
    probe: undefined,
    block: head,
    errors: kind.errors,
    assertOutcome: (changeOf) => assertOutcome(call, changeOf),
  }
  return finishAction(ctx, target, draft)
}
