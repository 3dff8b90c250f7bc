import type { Written } from '../../postgres/context.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, multicall } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import type { PlannedKind, VaultCall, WithdrawAsk } from '../../vaults/index.js'
import type { DistributorRecord, TokenRecord } from '../catalogue/index.js'
import {
  type ActionContext,
  type Draft,
  finishAction,
  getDeadline,
  type Interaction,
  refuse,
  type Step,
  simulatePlan,
  type Target,
} from '../plans/index.js'
import {
  assertDecoded,
  assertGot,
  buildSwapSteps,
  listQuotes,
  parseToken,
  readFreshHead,
  readFunds,
  readSwapToken,
  type SwapAsk,
  type SwapChain,
  UnfitQuote,
  useBestQuote,
} from '../swap/index.js'
import { buildPull, wouldRevert } from './alternative.js'
import { assertBalance, assertOffer } from './checks.js'
import { draftOf } from './draft.js'
import { isAsExpected, keepBack } from './redeemed.js'
import type { WithdrawInput } from './schema.js'
import { findValueUsd } from './value.js'
import { listSpenders, toSwapSetting } from './zap.js'

export type ZapOut = {
  target: Target & { distributor: DistributorRecord }
  input: WithdrawInput
  kind: PlannedKind
  shares: bigint
  zap: SwapChain
  asset: TokenRecord
  tokenOut: string
  requestIds: readonly bigint[]
}

/**
 * A withdrawal in any token: the vault pays its asset, and of that what the redemption is sure to give is swapped. The
 * rest stays in the wallet.
 */
export async function zapOut(ctx: ActionContext, of: ZapOut): Promise<Written<Interaction>> {
  const { target, input, kind, shares, zap, asset } = of
  const { opportunity, vault, wallet, snapshot } = target
  const { chain, providers } = zap
  const simulates = input.simulate !== false
  const slippageBps = input.slippageBps ?? 50
  const withdrawal: WithdrawAsk = {
    ...{ vault, wallet, shares, slippageBps, tokenOut: vault.asset, requestIds: of.requestIds },
  }
  const [head, gasPrice, { answer }] = await Promise.all([
    readFreshHead(ctx, chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        offer: kind.plans.withdraw(withdrawal),
        tokenOut: readSwapToken(snapshot, opportunity.chainId, parseToken(of.tokenOut)),
        funds: readFunds(wallet, asset.address, listSpenders(zap)),
      }),
    ),
  ])
  const { offer, tokenOut, funds } = answer
  assertOffer(offer, 'WITHDRAW_DISABLED')
  assertBalance(offer.available, shares, offer.awaited)
  assertPaysNow(offer.call)

  const ask = (amountIn: bigint): SwapAsk => ({
    ...toSwapSetting(target, zap, slippageBps),
    ...{ tokenIn: asset, tokenOut, amountIn, at: { blockHash: head.hash }, gasPrice, simulates },
  })
  const amountUsd = await findValueUsd(ctx, asset, offer.assets)
  const draftRedemption = (call: VaultCall, before: readonly Step[] = []) =>
    draftOf(call, {
      ...{ type: 'withdraw', target, chain, kind, block: simulates ? head : undefined, swaps: true, before },
      ...{ token: opportunity.receiptToken, amount: shares, out: asset, amountUsd },
      offered: { offer, capability: opportunity.capabilities.withdraw, closed: 'WITHDRAW_DISABLED' },
    })
  const expected = keepBack(offer.assets ?? 0n)
  const [first, early] = await Promise.allSettled([
    simulates ? simulateRedemption(draftRedemption(offer.call), target, head, asset) : offer.assets,
    expected > 0n ? listQuotes(providers, ask(expected)) : undefined,
  ])
  const { instead } = offer
  let [redemption, call] = [draftRedemption(offer.call), offer.call]
  let received = first.status === 'fulfilled' ? first.value : undefined
  if (first.status === 'rejected') {
    if (!instead || !wouldRevert(first.reason)) throw first.reason
    assertPaysNow(instead.call)
    call = instead.call
    redemption = draftRedemption(call, buildPull(instead, target))
    received = await simulateRedemption(redemption, target, head, asset)
  }
  const sure = keepBack(received ?? offer.assets ?? 0n)
  if (sure === 0n) throw refuse('BELOW_MINIMUM', 'the redemption returns too little to swap, or an unknown amount')
  const isSame = isAsExpected(expected, sure)
  if (isSame && early.status === 'rejected') throw early.reason
  const amountIn = isSame ? expected : sure
  const quotes = (isSame && early.status === 'fulfilled' && early.value) || (await listQuotes(providers, ask(amountIn)))

  const createdAt = ctx.clock.now()
  return useBestQuote(quotes, (quote, see) => {
    const allowance = funds.allowanceOf(quote.spender)
    const swap = buildSwapSteps(ask(amountIn), quote, {
      deadline: getDeadline(createdAt, head),
      allowance,
      rest: asset,
    })
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
        const { spends } = call
        if (spends && changeOf(spends.token) !== -spends.amount)
          throw refuse('TOKEN_UNSUPPORTED', 'the vault would take a different amount than requested')
        if ((changeOf(asset.address) ?? 0n) < 0n)
          throw new UnfitQuote(refuse('TOKEN_UNSUPPORTED', 'the swap would take more than the redemption returns'))
        const got = changeOf(tokenOut.address) ?? 0n
        assertGot(got, swap)
        see(got)
      },
    }
    return finishAction(ctx, target, draft)
  })
}

/** Refuses a call that only begins a redemption: it pays nothing that could be swapped. */
function assertPaysNow({ gains }: VaultCall): void {
  if (gains === undefined)
    throw refuse(
      'TOKEN_NOT_ACCEPTED',
      'a redemption that is only requested now cannot be swapped yet: claim it with tokenOut once it is settled',
    )
}

/** The output of the redemption alone; undefined if the node cannot simulate. */
async function simulateRedemption(
  redemption: Draft,
  { wallet }: Target,
  block: Header,
  asset: TokenRecord,
): Promise<bigint | undefined> {
  const simulation = await simulatePlan(redemption.chain, { ...redemption, wallet, tokens: [asset], block })
  return simulation.changeOf(asset.address)
}
