import { erc20Abi, getAddress } from 'viem'
import { computeUsd } from '../../kernel/amount.js'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { findPrice } from '../../prices/index.js'
import { combine, multicall, readAccount, readContract, readHead } from '../../rpc/multicall.js'
import type { DepositAsk } from '../../vaults/index.js'
import type { TokenRecord } from '../catalogue/index.js'
import type { Interaction } from '../plans/index.js'
import { type ActionContext, buildApprovals, type Draft, describeCall, finishAction, refuse } from '../plans/index.js'
import {
  type Asked,
  assertBalance,
  assertDepositEnabled,
  assertMinimumUsd,
  assertOffer,
  assertOutcome,
  assertUnsimulated,
  explainRevert,
} from './checks.js'
import { buildWrap, getDepositToken } from './depositToken.js'
import { findTarget, getChain, getKind, parseAmount } from './target.js'

export type DepositInput = {
  opportunityId: string
  userAddress: string
  tokenIn: string
  amount: string
  distributorId: string
  mode?: 'direct' | 'swap'
  slippageBps?: number
  referralCode?: string
  simulate?: boolean
}

/** Builds the transactions of a deposit, ready to sign; sends nothing. */
export async function createDepositInteraction(
  ctx: ActionContext,
  input: DepositInput,
  caller: Caller,
): Promise<Written<Interaction>> {
  const amount = parseAmount(input.amount)
  const target = await findTarget(ctx, input, caller)
  const { opportunity, vault, wallet } = target
  assertDepositEnabled(opportunity)
  if (input.mode === 'swap') throw refuse('NO_ROUTE', 'there is no route from this token into the vault')
  const kind = getKind(opportunity)
  const tokens = getDepositToken(target.snapshot, opportunity, input.tokenIn, kind.severalTokens === true)
  const { given, entering } = tokens
  const amountUsd = await findValueUsd(ctx, entering, amount)
  assertMinimumUsd(opportunity.minDepositAmountUsd, amountUsd)

  const chain = getChain(ctx, opportunity)
  const tokenIn = getAddress(entering.address)
  const depositAsk: DepositAsk = { vault, wallet, tokenIn, amount, slippageBps: input.slippageBps ?? 50 }
  const spender = kind.spender(vault)
  const [head, { answer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    multicall(
      chain,
      combine({
        offer: kind.deposit(depositAsk),
        account: readAccount(wallet),
        balance: readContract(tokenIn, erc20Abi, 'balanceOf', [wallet]),
        allowance: readContract(tokenIn, erc20Abi, 'allowance', [wallet, spender]),
      }),
    ),
  ])
  assertOffer(answer.offer, 'DEPOSIT_DISABLED')
  assertBalance(tokens.wraps ? answer.account.balance : answer.balance, amount)

  const { call } = answer.offer
  const asked: Asked = {
    offer: answer.offer,
    capability: opportunity.capabilities.deposit,
    closed: 'DEPOSIT_DISABLED',
    amount,
    decimals: entering.decimals,
  }
  const party = { name: opportunity.name, address: vault.address }
  const approvals = buildApprovals({
    token: entering,
    tokenAddress: tokenIn,
    spender,
    spenderParty: party,
    amount,
    allowance: answer.allowance ?? 0n,
  })
  const out = opportunity.receiptToken
  const facts = { amount, token: entering, out, vault: party, receiver: wallet, least: call.leastOut }
  const draft: Draft = {
    kind: 'deposit',
    chain,
    steps: [
      ...(tokens.wraps ? [buildWrap(tokens, amount)] : []),
      ...approvals,
      { type: 'deposit', description: describeCall(call.verb, facts), call, gasConstant: call.gasConstant },
    ],
    tokenIn: given,
    amount,
    amountUsd,
    referralCode: input.referralCode ?? '',
    tokens: [given, ...(tokens.wraps ? [entering] : []), opportunity.receiptToken],
    // What is wrapped in this very plan cannot be tried before.
    probe: tokens.wraps ? undefined : { token: tokenIn, to: spender, amount },
    block: head,
    errors: kind.errors,
    explainRevert: explainRevert(asked),
    assertUnsimulated: assertUnsimulated(asked),
    assertOutcome: (changeOf) => assertOutcome({ ...call, spends: { token: given.address, amount } }, changeOf),
  }
  return finishAction(ctx, target, draft)
}

/** What an amount is worth now; undefined without a price. */
async function findValueUsd(ctx: ActionContext, token: TokenRecord, amount: bigint): Promise<string | undefined> {
  const price = await findPrice(ctx.db, token, ctx.clock.now())
  return price && computeUsd(amount, token.decimals, price.priceUsd)
}
