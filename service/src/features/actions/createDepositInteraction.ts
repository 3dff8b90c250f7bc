import { erc20Abi, getAddress } from 'viem'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { combine, multicall, readAccount, readContract } from '../../rpc/multicall.js'
import { type ActionContext, finishAction, type Interaction, parseAmount, refuse } from '../plans/index.js'
import { assertBalance, assertDepositEnabled, assertMinimumUsd, assertOffer } from './checks.js'
import { type Deposit, draftDeposit, type Entering, readDeposit } from './deposit.js'
import { buildWrap, getDepositToken } from './depositToken.js'
import type { DepositInput } from './schema.js'
import { findTarget, getChain, getDepositKind } from './target.js'
import { findValueUsd } from './value.js'
import { findZapChain } from './zap.js'
import { needsSwap, zapIn } from './zapIn.js'

/** Builds the transactions of a deposit, ready to sign; sends nothing. */
export async function createDepositInteraction(
  ctx: ActionContext,
  input: DepositInput,
  caller: Caller,
): Promise<Written<Interaction>> {
  const amount = parseAmount(input.amount, 'body.amount')
  const target = await findTarget(ctx, input, caller)
  assertDepositEnabled(target.opportunity, input.mode)
  const kind = getDepositKind(target, input.protect === true)
  const deposit = { target, input, kind, amount }
  if (input.mode !== 'swap') return depositAsGiven(ctx, deposit)
  const zap = findZapChain(ctx, target.opportunity)
  if (!zap) throw refuse('NO_ROUTE', 'there is no route from this token into the vault')
  return needsSwap(deposit) ? zapIn(ctx, deposit, zap) : depositAsGiven(ctx, deposit)
}

/** A deposit of what the wallet gives: as it is, or wrapped first. */
async function depositAsGiven(ctx: ActionContext, deposit: Deposit): Promise<Written<Interaction>> {
  const { target, input, kind, amount } = deposit
  const { opportunity, vault, wallet } = target
  const tokens = getDepositToken(target.snapshot, opportunity, input.tokenIn, kind.severalTokens === true)
  const { given, entering: token, wraps } = tokens
  const amountUsd = await findValueUsd(ctx, token, amount)
  assertMinimumUsd(opportunity.minDepositAmountUsd, amountUsd)

  const chain = getChain(ctx, opportunity)
  const tokenIn = getAddress(token.address)
  const [block, { answer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    multicall(
      chain,
      combine({
        ...readDeposit(deposit, { token, amount }),
        account: readAccount(wallet),
        balance: readContract(tokenIn, erc20Abi, 'balanceOf', [wallet]),
      }),
    ),
  ])
  const { offer, allowance, account, balance } = answer
  assertOffer(offer, 'DEPOSIT_DISABLED')
  assertBalance(wraps ? account.balance : balance, amount)

  const entering: Entering = {
    token,
    amount,
    amountUsd,
    given,
    before: wraps ? [buildWrap(tokens, amount)] : [],
    // What is wrapped in this very plan cannot be tried before.
    probe: wraps ? undefined : { token: tokenIn, to: kind.plans.spender(vault), amount },
  }
  return finishAction(ctx, target, draftDeposit(deposit, entering, { chain, block, offer, allowance }))
}
