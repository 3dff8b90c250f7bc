import { erc20Abi, getAddress } from 'viem'
import { ask, readHead, together, view } from '../../chain/question.js'
import { computeUsd } from '../../kernel/amount.js'
import type { Caller } from '../../kernel/operation.js'
import { findPrice } from '../../prices/index.js'
import type { WithdrawAsk } from '../../vaults/index.js'
import { assertBalance, assertMinimumShares, assertTerms, assertWithdrawEnabled } from './checks.js'
import { describeWithdraw } from './describe.js'
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
  const [head, { answer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    ask(
      chain,
      together({
        terms: kind.readWithdraw(withdrawAsk),
        balance: view(vault.receiptToken, erc20Abi, 'balanceOf', [wallet]),
      }),
    ),
  ])
  assertTerms(answer.terms, 'WITHDRAW_DISABLED', shares, receiptToken.decimals)
  assertBalance(answer.balance, shares)

  const call = kind.buildWithdraw(withdrawAsk, answer.terms)
  const price = await findPrice(ctx.db, baseToken, ctx.clock.now())
  const { quoted } = answer.terms
  const draft: Draft = {
    kind: 'withdraw',
    chain,
    steps: [
      {
        type: 'withdraw',
        description: describeWithdraw(
          shares,
          receiptToken,
          baseToken,
          { name: opportunity.name, address: vault.address },
          wallet,
        ),
        call,
        gasConstant: call.gasConstant,
      },
    ],
    tokenIn: receiptToken,
    amount: shares,
    amountUsd: price && quoted !== undefined ? computeUsd(quoted, baseToken.decimals, price.priceUsd) : undefined,
    referralCode: '',
    tokens: [receiptToken, baseToken],
    probe: undefined,
    block: head,
    errors: kind.errors,
    assertOutcome: (changeOf) => {
      if (changeOf(receiptToken.address) !== -shares)
        throw refuse('TOKEN_UNSUPPORTED', 'the vault would take another amount of shares than was asked for')
    },
  }
  return finishAction(ctx, target, draft)
}
