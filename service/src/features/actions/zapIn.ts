import { erc20Abi, getAddress } from 'viem'
import { computeUsd } from '../../kernel/amount.js'
import type { Written } from '../../postgres/context.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, multicall, type Read, readContract } from '../../rpc/multicall.js'
import type { DepositAsk, Offer, PlannedKind } from '../../vaults/index.js'
import type { DistributorRecord } from '../catalogue/index.js'
import {
  type ActionContext,
  buildApprovals,
  type Draft,
  finishAction,
  getDeadline,
  type Interaction,
  refuse,
  type Target,
} from '../plans/index.js'
import {
  assertDecoded,
  assertSwapped,
  buildSwapSteps,
  findSwapPrices,
  listQuotes,
  parseToken,
  readFreshHead,
  readFunds,
  readSwapToken,
  type SwapAsk,
  useBestQuote,
} from '../swap/index.js'
import { assertBalance, assertMinimumUsd, assertOffer } from './checks.js'
import { draftOf, spenderOf } from './draft.js'
import type { DepositInput } from './schema.js'
import { findValueUsd } from './value.js'
import { findZapChain, getZapAsset, listSpenders, refuseZap, toSwapSetting } from './zap.js'

export type ZapIn = {
  target: Target & { distributor: DistributorRecord }
  input: DepositInput
  kind: PlannedKind
  amount: bigint
}

/**
 * A deposit of any token: it is swapped for the vault's asset, and exactly the minimum output of the swap is
 * deposited. Any output above it stays in the wallet.
 */
export async function zapIn(ctx: ActionContext, { target, input, kind, amount }: ZapIn): Promise<Written<Interaction>> {
  const { opportunity, vault, wallet, snapshot } = target
  const zap = findZapChain(ctx, opportunity)
  if (!zap) throw refuseZap(opportunity)
  const { chain, settings, providers } = zap
  const asset = getZapAsset(opportunity)
  const simulates = input.simulate !== false
  const slippageBps = input.slippageBps ?? 50
  const spender = kind.plans.spender(vault)
  const tokenAddress = getAddress(asset.address)
  // How much enters the vault is known once the swap is quoted: until then it is asked about one whole unit.
  const unit = 10n ** BigInt(asset.decimals)
  const depositOf = (amount: bigint): DepositAsk => ({ vault, wallet, tokenIn: tokenAddress, amount, slippageBps })
  const addressIn = parseToken(input.tokenIn)
  const [head, gasPrice, { answer }] = await Promise.all([
    readFreshHead(ctx, chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        tokenIn: readSwapToken(snapshot, opportunity.chainId, addressIn),
        funds: readFunds(wallet, addressIn, listSpenders(zap)),
        allowance: readContract(tokenAddress, erc20Abi, 'allowance', [wallet, spender]),
        offer: keepResults(kind.plans.deposit(depositOf(unit))),
      }),
    ),
  ])
  const { tokenIn, funds } = answer
  assertOffer(answer.offer.answer, 'DEPOSIT_DISABLED')
  if (simulates) assertBalance(funds.balance, amount)

  const at = { blockHash: head.hash }
  const ask: SwapAsk = {
    ...toSwapSetting(target, zap, slippageBps),
    ...{ tokenIn, tokenOut: asset, amountIn: amount, at, gasPrice, simulates },
  }
  const quotes = await listQuotes(providers, ask)
  const createdAt = ctx.clock.now()
  const priceUsd = (await findSwapPrices(ctx, settings, [tokenIn]))(tokenIn)
  return useBestQuote(quotes, async (quote, see) => {
    const terms = {
      deadline: getDeadline(createdAt, head, input.deadlineSeconds),
      allowance: funds.allowanceOf(quote.spender),
    }
    const steps = buildSwapSteps(ask, quote, { ...terms, ...(quote.even ? {} : { rest: asset }) })
    const enters = steps.minimumOut
    const valueUsd = await findValueUsd(ctx, asset, enters)
    assertMinimumUsd(opportunity.minDepositAmountUsd, valueUsd)
    const draftDeposit = (offer: Offer): Draft => {
      const approvals = buildApprovals({
        ...{ token: asset, tokenAddress, spender, amount: enters, allowance: answer.allowance ?? 0n },
        spenderParty: spenderOf(target, spender, offer.call),
      })
      const amountUsd = priceUsd === undefined ? valueUsd : computeUsd(amount, tokenIn.decimals, priceUsd)
      const facts = draftOf(offer.call, {
        ...{ type: 'deposit', target, chain, kind, block: simulates ? head : undefined },
        ...{ token: asset, amount: enters, amountUsd, out: opportunity.receiptToken, createdAt, swaps: true },
        before: [...steps.approvals, steps.swap, ...approvals],
        probe: steps.probe,
        referralCode: input.referralCode,
        validSeconds: input.deadlineSeconds,
        offered: { offer, capability: opportunity.capabilities.deposit, closed: 'DEPOSIT_DISABLED' },
      })
      return {
        ...facts,
        ...{ tokenIn, amount, tokens: [tokenIn, ...facts.tokens] },
        errors: [...facts.errors, ...(quote.errors ?? [])],
        assertUnsimulated: () => {
          assertDecoded(quote)
          facts.assertUnsimulated()
        },
        assertOutcome: (changeOf) => {
          const got = (changeOf(asset.address) ?? 0n) + enters
          assertSwapped({ given: changeOf(tokenIn.address), got }, ask, steps)
          see(got)
          const left = offer.call.gains && (changeOf(offer.call.gains) ?? 0n)
          if (left !== undefined && left <= 0n)
            throw refuse('BELOW_MINIMUM', 'the amount is too small: it would return nothing')
        },
      }
    }
    const exact = kind.plans.deposit(depositOf(enters))
    const early = simulates ? answerEarly(exact, answer.offer) : undefined
    return finishAction(ctx, target, draftDeposit(early ?? (await multicall(chain, exact)).answer))
  })
}

type Kept = { answer: Offer; results: Parameters<Read<Offer>['answer']>[0] }

/** An offer, with what was read for it. */
function keepResults(read: Read<Offer>): Read<Kept> {
  return { reads: read.reads, answer: (results) => ({ answer: read.answer(results), results }) }
}

/**
 * The offer for what enters the vault, by what was read of the vault before: a round trip less, where a simulation follows.
 * Undefined where the call names a least that has to come out: that follows from a quote of the whole amount alone.
 */
function answerEarly({ reads, answer }: Read<Offer>, { results }: Kept): Offer | undefined {
  if (reads.length !== results.length) return undefined
  const offer = answer(results)
  return offer.call.leastOut === undefined ? { ...offer, quoted: undefined } : undefined
}

/** Whether the input token needs a swap. A token that enters the vault directly, or once it is wrapped, does not. */
export function needsSwap(
  { opportunity, snapshot }: Target,
  input: Pick<DepositInput, 'tokenIn'>,
  severalTokens: boolean,
): boolean {
  const { chainId, vault, depositTokens } = opportunity
  const address = parseToken(input.tokenIn)
  const wrapped = snapshot.chains.get(chainId)?.wrappedNative
  const entering = address === parseToken('native') && wrapped ? wrapped : address
  return !depositTokens.some(
    (token) =>
      token.chainId === chainId && token.address === entering && (severalTokens || token.address === vault.asset),
  )
}
