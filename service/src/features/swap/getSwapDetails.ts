import { getNativeToken } from '../catalogue/index.js'
import type { ActionContext } from '../plans/index.js'
import { findSwapChain, listPopular, listSwapChains } from './providers.js'
import type { SwapDetailsBody } from './schema.js'
import { findSwapPrices, toSwapToken } from './swapTokens.js'

/** The chains on which something can be swapped, and what most people swap on the one that is named. */
export async function getSwapDetails(ctx: ActionContext, input: { chainId?: number }): Promise<SwapDetailsBody> {
  const snapshot = ctx.catalogue.current()
  const chains = await Promise.all(
    listSwapChains(ctx).map(async ({ settings }) => {
      const native = getNativeToken(snapshot, settings.chainId)
      const priceOf = await findSwapPrices(ctx, settings, [native])
      const { chainId, name, slug, logoUrl, explorerUrl } = settings
      const nativePriceUsd = Number(priceOf(native) ?? 0)
      return { chainId: String(chainId), name, slug, ecosystem: 'evm', logoUrl, explorerUrl, nativePriceUsd }
    }),
  )
  const named = input.chainId === undefined ? undefined : findSwapChain(ctx, input.chainId)
  if (!named) return { chains, popularTokens: [] }
  const popular = listPopular(snapshot, named.settings)
  const priceOf = await findSwapPrices(ctx, named.settings, popular)
  return { chains, popularTokens: popular.map((token) => toSwapToken(token, priceOf(token))) }
}
