import { erc20Abi, getAddress } from 'viem'
import { nativeToken } from '../../chain/native.js'
import { ask, readHead, together, view } from '../../chain/question.js'
import { computeUsd } from '../../kernel/amount.js'
import type { Caller } from '../../kernel/operation.js'
import { findPrice } from '../../prices/index.js'
import type { DepositAsk } from '../../vaults/index.js'
import type { OpportunityRecord, TokenRecord } from '../catalogue/index.js'
import { buildApprovals } from './approvals.js'
import { assertBalance, assertDepositEnabled, assertMinimumUsd, assertOffer, assertOutcome } from './checks.js'
import { describeCall } from './describe.js'
import { type Draft, finishAction } from './finishAction.js'
import { refuse } from './refusal.js'
import type { Interaction } from './schema.js'
import { type ActionContext, findTarget, getChain, getKind, parseAmount } from './target.js'

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
): Promise<Interaction> {
  const amount = parseAmount(input.amount)
  const target = await findTarget(ctx, input, caller)
  const { opportunity, vault, wallet } = target
  assertDepositEnabled(opportunity)
  if (input.mode === 'swap') throw refuse('NO_ROUTE', 'there is no route from this token into the vault')
  const token = getDepositToken(opportunity, input.tokenIn)
  const amountUsd = await findValueUsd(ctx, token, amount)
  assertMinimumUsd(opportunity.minDepositAmountUsd, amountUsd)

  const chain = getChain(ctx, opportunity)
  const kind = getKind(opportunity)
  const tokenIn = getAddress(token.address)
  const depositAsk: DepositAsk = { vault, wallet, tokenIn, amount, slippageBps: input.slippageBps ?? 50 }
  const spender = kind.spender(vault)
  const [head, { answer }] = await Promise.all([
    input.simulate === false ? undefined : readHead(chain),
    ask(
      chain,
      together({
        offer: kind.deposit(depositAsk),
        balance: view(tokenIn, erc20Abi, 'balanceOf', [wallet]),
        allowance: view(tokenIn, erc20Abi, 'allowance', [wallet, spender]),
      }),
    ),
  ])
  assertOffer(answer.offer, 'DEPOSIT_DISABLED', amount, token.decimals)
  assertBalance(answer.balance, amount)

  const { call } = answer.offer
  const party = { name: opportunity.name, address: vault.address }
  const approvals = buildApprovals({
    token,
    tokenAddress: tokenIn,
    spender,
    spenderParty: party,
    amount,
    allowance: answer.allowance ?? 0n,
  })
  const draft: Draft = {
    kind: 'deposit',
    chain,
    steps: [
      ...approvals,
      {
        type: 'deposit',
        description: describeCall(call.verb, {
          amount,
          token,
          out: opportunity.receiptToken,
          vault: party,
          receiver: wallet,
        }),
        call,
        gasConstant: call.gasConstant,
      },
    ],
    tokenIn: token,
    amount,
    amountUsd,
    referralCode: input.referralCode ?? '',
    tokens: [token, opportunity.receiptToken],
    probe: { token: tokenIn, to: spender, amount },
    block: head,
    errors: kind.errors,
    assertOutcome: (changeOf) => assertOutcome(call, changeOf),
  }
  return finishAction(ctx, target, draft)
}

/** The token if a direct deposit takes it. */
function getDepositToken(opportunity: OpportunityRecord, text: string): TokenRecord {
  const address = text === 'native' ? nativeToken.toLowerCase() : text.toLowerCase()
  const token = opportunity.depositTokens.find(
    (candidate) => candidate.address === address && candidate.chainId === opportunity.chainId,
  )
  if (token && token.address === opportunity.vault.asset) return token
  const accepted = opportunity.depositTokens.map(({ symbol }) => symbol).join(', ')
  throw refuse('TOKEN_NOT_ACCEPTED', `this opportunity does not take that token; it takes ${accepted || 'none'}`)
}

/** What an amount is worth now; undefined without a price. */
async function findValueUsd(ctx: ActionContext, token: TokenRecord, amount: bigint): Promise<string | undefined> {
  const price = await findPrice(ctx.db, token, ctx.clock.now())
  return price && computeUsd(amount, token.decimals, price.priceUsd)
}
