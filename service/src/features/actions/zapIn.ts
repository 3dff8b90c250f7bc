import { computeUsd } from '../../kernel/amount.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, multicall, type Read } from '../../rpc/multicall.js'
import type { Offer } from '../../vaults/index.js'
import { type ActionContext, finishAction, getDeadline, type Interaction, refuse } from '../plans/index.js'
import {
  assertDecoded,
  assertSwapped,
  buildSwapSteps,
  findSwapPrices,
  listQuotes,
  parseToken,
  readFunds,
  readSwapToken,
  type SwapAsk,
  type SwapChain,
  useBestQuote,
} from '../swap/index.js'
import { assertBalance, assertMinimumUsd, assertOffer } from './checks.js'
import { type Deposit, draftDeposit, type Entering, readDeposit } from './deposit.js'
import { findValueUsd } from './value.js'
import { getZapAsset, listSpenders, toSwapSetting } from './zap.js'

/**
 * A deposit of any token: it is swapped for the vault's asset, and exactly the least the swap may give is deposited. What
 * the swap gives beyond that stays in the wallet.
 */
export async function zapIn(ctx: ActionContext, deposit: Deposit, zap: SwapChain): Promise<Written<Interaction>> {
  const { target, input, amount } = deposit
  const { opportunity, wallet, snapshot } = target
  const { chain, settings, providers } = zap
  const token = getZapAsset(opportunity)
  const simulates = input.simulate !== false
  const addressIn = parseToken(input.tokenIn)
  // How much enters the vault is known once the swap is quoted: until then it is asked about one whole unit.
  const unit = readDeposit(deposit, { token, amount: 10n ** BigInt(token.decimals) })
  const [head, gasPrice, { answer }] = await Promise.all([
    readHead(chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        tokenIn: readSwapToken(snapshot, opportunity.chainId, addressIn),
        funds: readFunds(wallet, addressIn, listSpenders(zap)),
        allowance: unit.allowance,
        offer: keepResults(unit.offer),
      }),
    ),
  ])
  const { tokenIn, funds, allowance } = answer
  assertOffer(answer.offer.answer, 'DEPOSIT_DISABLED')
  if (simulates) assertBalance(funds.balance, amount)

  const ask: SwapAsk = {
    ...toSwapSetting(target, zap, input.slippageBps ?? 50),
    tokenIn,
    tokenOut: token,
    amountIn: amount,
    at: { blockHash: head.hash },
    gasPrice,
    simulates,
  }
  const quotes = await listQuotes(providers, ask)
  const createdAt = ctx.clock.now()
  const priceUsd = (await findSwapPrices(ctx, settings, [tokenIn]))(tokenIn)
  return useBestQuote(quotes, async (quote, see) => {
    const deadline = getDeadline(createdAt, input.deadlineSeconds)
    const terms = { deadline, allowance: funds.allowanceOf(quote.spender), ...(quote.even ? {} : { rest: token }) }
    const steps = buildSwapSteps(ask, quote, terms)
    const enters = steps.minimumOut
    const valueUsd = await findValueUsd(ctx, token, enters)
    assertMinimumUsd(opportunity.minDepositAmountUsd, valueUsd)
    const exact = readDeposit(deposit, { token, amount: enters }).offer
    const early = simulates ? answerEarly(exact, answer.offer) : undefined
    const offer = early ?? (await multicall(chain, exact)).answer
    const entering: Entering = {
      token,
      amount: enters,
      amountUsd: priceUsd === undefined ? valueUsd : computeUsd(amount, tokenIn.decimals, priceUsd),
      before: [...steps.approvals, steps.swap],
      swaps: true,
      createdAt,
      probe: steps.probe,
    }
    const draft = draftDeposit(deposit, entering, { chain, block: simulates ? head : undefined, offer, allowance })
    return finishAction(ctx, target, {
      ...draft,
      tokenIn,
      amount,
      tokens: [tokenIn, ...draft.tokens],
      errors: [...draft.errors, ...(quote.errors ?? [])],
      assertUnsimulated: () => {
        assertDecoded(quote)
        draft.assertUnsimulated()
      },
      assertOutcome: (changeOf) => {
        const got = (changeOf(token.address) ?? 0n) + enters
        assertSwapped({ given: changeOf(tokenIn.address), got }, ask, steps)
        see(got)
        const left = offer.call.gains && (changeOf(offer.call.gains) ?? 0n)
        if (left !== undefined && left <= 0n)
          throw refuse('BELOW_MINIMUM', 'the amount is so small that nothing would be given for it')
      },
    })
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

/** Whether the token a caller gives needs a swap; what enters the vault as it is, or once it is wrapped, needs none. */
export function needsSwap({ target, input, kind }: Deposit): boolean {
  const { opportunity, snapshot } = target
  const { chainId, vault, depositTokens } = opportunity
  const address = parseToken(input.tokenIn)
  const wrapped = snapshot.chains.get(chainId)?.wrappedNative
  const entering = address === parseToken('native') && wrapped ? wrapped : address
  return !depositTokens.some(
    (token) =>
      token.chainId === chainId &&
      token.address === entering &&
      (kind.severalTokens === true || token.address === vault.asset),
  )
}
