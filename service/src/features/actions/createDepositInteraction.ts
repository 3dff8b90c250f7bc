import { erc20Abi, getAddress } from 'viem'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { combine, multicall, readAccount, readContract } from '../../rpc/multicall.js'
import type { DepositAsk } from '../../vaults/index.js'
import { type ActionContext, buildApprovals, finishAction, type Interaction, parseAmount } from '../plans/index.js'
import { assertBalance, assertDepositEnabled, assertMinimumUsd, assertOffer } from './checks.js'
import { buildWrap, getDepositToken } from './depositToken.js'
import { draftOf, spenderOf } from './draft.js'
import type { DepositInput } from './schema.js'
import { findTarget, getChain, getDepositKind } from './target.js'
import { findValueUsd } from './value.js'
import { needsSwap, zapIn } from './zapIn.js'

/** Builds the transactions of a deposit, ready to sign; sends nothing. */
export async function createDepositInteraction(
  ctx: ActionContext,
  input: DepositInput,
  caller: Caller,
): Promise<Written<Interaction>> {
  const amount = parseAmount(input.amount, 'body.amount')
  const target = await findTarget(ctx, input, caller)
  const { opportunity, vault, wallet } = target
  assertDepositEnabled(opportunity, input.mode)
  const kind = getDepositKind(target, input.protect === true)
  if (input.mode === 'swap') {
    if (needsSwap(target, input, kind.severalTokens === true)) return zapIn(ctx, { target, input, kind, amount })
    // A token that the vault takes is not swapped: this is a plain deposit.
    assertDepositEnabled(opportunity)
  }
  const tokens = getDepositToken(target.snapshot, opportunity, input.tokenIn, kind.severalTokens === true)
  const { given, entering } = tokens
  const amountUsd = await findValueUsd(ctx, entering, amount)
  assertMinimumUsd(opportunity.minDepositAmountUsd, amountUsd)

  const chain = getChain(ctx, opportunity)
  const tokenIn = getAddress(entering.address)
  const depositAsk: DepositAsk = { vault, wallet, tokenIn, amount, slippageBps: input.slippageBps ?? 50 }
  const spender = kind.plans.spender(vault)
  const [head, { answer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    multicall(
      chain,
      combine({
        offer: kind.plans.deposit(depositAsk),
        account: readAccount(wallet),
        balance: readContract(tokenIn, erc20Abi, 'balanceOf', [wallet]),
        allowance: readContract(tokenIn, erc20Abi, 'allowance', [wallet, spender]),
      }),
    ),
  ])
  assertOffer(answer.offer, 'DEPOSIT_DISABLED')
  assertBalance(tokens.wraps ? answer.account.balance : answer.balance, amount)

  const approvals = buildApprovals({
    token: entering,
    tokenAddress: tokenIn,
    spender,
    spenderParty: spenderOf(target, spender, answer.offer.call),
    amount,
    allowance: answer.allowance ?? 0n,
  })
  const draft = draftOf(answer.offer.call, {
    ...{ type: 'deposit', target, chain, kind, block: head },
    ...{ token: entering, amount, amountUsd, out: opportunity.receiptToken, given },
    before: [...(tokens.wraps ? [buildWrap(tokens, amount)] : []), ...approvals],
    // A token that this plan wraps first cannot be probed before.
    probe: tokens.wraps ? undefined : { token: tokenIn, to: spender, amount },
    referralCode: input.referralCode,
    validSeconds: input.deadlineSeconds,
    offered: { offer: answer.offer, capability: opportunity.capabilities.deposit, closed: 'DEPOSIT_DISABLED' },
  })
  return finishAction(ctx, target, draft)
}
