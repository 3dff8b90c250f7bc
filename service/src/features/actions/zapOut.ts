import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, multicall } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import type { VaultCall } from '../../vaults/index.js'
import type { TokenRecord } from '../catalogue/index.js'
import {
  type ActionContext,
  type Draft,
  finishAction,
  getDeadline,
  type Interaction,
  refuse,
  simulatePlan,
  type Target,
} from '../plans/index.js'
import {
  assertDecoded,
  assertGot,
  buildSwapSteps,
  listQuotes,
  parseToken,
  readFunds,
  readSwapToken,
  type SwapAsk,
  type SwapChain,
  UnfitQuote,
  useBestQuote,
} from '../swap/index.js'
import { assertBalance, assertOffer } from './checks.js'
import { isAsExpected, keepBack } from './redeemed.js'
import { findValueUsd } from './value.js'
import { draftWithdrawal, toWithdrawAsk, tryWays, type Way, type Withdrawal } from './withdrawal.js'
import { listSpenders, toSwapSetting } from './zap.js'

/** How a withdrawal is swapped: the vault pays `asset`, and the wallet wants `tokenOut`. */
export type ZapOut = { zap: SwapChain; asset: TokenRecord; tokenOut: string }

/**
 * A withdrawal in any token: the vault pays its asset, and of that what the redemption is sure to give is swapped. The
 * rest stays in the wallet.
 */
export async function zapOut(
  ctx: ActionContext,
  withdrawal: Withdrawal,
  { zap, asset, tokenOut: named }: ZapOut,
): Promise<Written<Interaction>> {
  const { target, input, kind, shares } = withdrawal
  const { opportunity, vault, wallet, snapshot } = target
  const { chain, providers } = zap
  const simulates = input.simulate !== false
  const [head, gasPrice, { answer }] = await Promise.all([
    readHead(chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        offer: kind.plans.withdraw(toWithdrawAsk(withdrawal, vault.asset)),
        tokenOut: readSwapToken(snapshot, opportunity.chainId, parseToken(named)),
        funds: readFunds(wallet, asset.address, listSpenders(zap)),
      }),
    ),
  ])
  const { offer, tokenOut, funds } = answer
  assertOffer(offer, 'WITHDRAW_DISABLED')
  assertBalance(offer.available, shares, offer.awaited)
  assertPaysNow(offer.call)

  const ask = (amountIn: bigint): SwapAsk => ({
    ...toSwapSetting(target, zap, input.slippageBps ?? 50),
    tokenIn: asset,
    tokenOut,
    amountIn,
    at: { blockHash: head.hash },
    gasPrice,
    simulates,
  })
  const amountUsd = await findValueUsd(ctx, asset, offer.assets)
  const at = { chain, block: simulates ? head : undefined, offer, out: asset, amountUsd, swaps: true }
  const redeem = async (way: Way) => {
    assertPaysNow(way.call)
    const draft = draftWithdrawal(withdrawal, way, at)
    return { draft, way, received: simulates ? await simulateRedemption(draft, target, head, asset) : offer.assets }
  }
  const expected = keepBack(offer.assets ?? 0n)
  const [redeemed, early] = await Promise.allSettled([
    tryWays(offer, target, redeem),
    expected > 0n ? listQuotes(providers, ask(expected)) : undefined,
  ])
  if (redeemed.status === 'rejected') throw redeemed.reason
  const { draft: redemption, way, received } = redeemed.value
  const sure = keepBack(received ?? offer.assets ?? 0n)
  if (sure === 0n)
    throw refuse('BELOW_MINIMUM', 'what the redemption gives is so little, or not known, that it cannot be swapped')
  const isSame = isAsExpected(expected, sure)
  if (isSame && early.status === 'rejected') throw early.reason
  const amountIn = isSame ? expected : sure
  const quotes = (isSame && early.status === 'fulfilled' && early.value) || (await listQuotes(providers, ask(amountIn)))

  const createdAt = ctx.clock.now()
  return useBestQuote(quotes, (quote, see) => {
    const allowance = funds.allowanceOf(quote.spender)
    const swap = buildSwapSteps(ask(amountIn), quote, { deadline: getDeadline(createdAt), allowance, rest: asset })
    const draft: Draft = {
      ...redemption,
      createdAt,
      steps: [...redemption.steps, ...swap.approvals, swap.swap],
      tokens: [opportunity.receiptToken, asset, tokenOut],
      errors: [...redemption.errors, ...(quote.errors ?? [])],
      assertUnsimulated: () => {
        assertDecoded(quote)
        redemption.assertUnsimulated()
      },
      assertOutcome: (changeOf) => {
        const { spends } = way.call
        if (spends && changeOf(spends.token) !== -spends.amount)
          throw refuse('TOKEN_UNSUPPORTED', 'the vault would take another amount than was asked for')
        if ((changeOf(asset.address) ?? 0n) < 0n)
          throw new UnfitQuote(refuse('TOKEN_UNSUPPORTED', 'the swap would take more than the redemption gives'))
        const got = changeOf(tokenOut.address) ?? 0n
        assertGot(got, swap)
        see(got)
      },
    }
    return finishAction(ctx, target, draft)
  })
}

/** What only begins a redemption pays nothing that could be swapped. */
function assertPaysNow({ gains }: VaultCall): void {
  if (gains === undefined)
    throw refuse(
      'TOKEN_NOT_ACCEPTED',
      'what is requested now can be swapped once it is settled: claim it with tokenOut',
    )
}

/** What the redemption alone gives; undefined where the node can simulate nothing. */
async function simulateRedemption(
  redemption: Draft,
  { wallet }: Target,
  block: Header,
  asset: TokenRecord,
): Promise<bigint | undefined> {
  const simulation = await simulatePlan(redemption.chain, { ...redemption, wallet, tokens: [asset], block })
  return simulation.changeOf(asset.address)
}
