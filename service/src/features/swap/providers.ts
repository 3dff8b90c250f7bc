import { invalidArgument } from '../../kernel/errors.js'
import type { Chain } from '../../rpc/chains.js'
import {
  type CatalogueSnapshot,
  type ChainRecord,
  findToken,
  getNativeToken,
  isListedToken,
  type TokenRecord,
} from '../catalogue/index.js'
import type { ActionContext } from '../plans/index.js'
import { createAggregator } from './aggregator.js'
import { enso } from './enso.js'
import { lifi } from './lifi.js'
import type { SwapProvider } from './provider.js'
import { uniswap } from './uniswap.js'
import { wrappers } from './wrappers.js'
import { wrapping } from './wrapping.js'

/** The providers set up on a chain; of equal quotes the first is used. */
export function listProviders({ swapApis }: Pick<ActionContext, 'swapApis'>, settings: ChainRecord): SwapProvider[] {
  const all = [
    wrapping,
    wrappers,
    uniswap,
    createAggregator(enso, swapApis.enso),
    createAggregator(lifi, swapApis.lifi),
  ]
  return all.filter((provider) => provider.serves(settings))
}

/** A chain that is offered, can be read and has a provider. */
export type SwapChain = { chain: Chain; settings: ChainRecord; providers: readonly SwapProvider[] }

/** The chain if something can be swapped on it. */
export function findSwapChain(
  ctx: Pick<ActionContext, 'catalogue' | 'chains' | 'swapApis'>,
  chainId: number,
): SwapChain | undefined {
  const settings = ctx.catalogue.current().chains.get(chainId)
  const chain = ctx.chains.get(chainId)
  if (!settings?.active || !chain) return undefined
  const providers = listProviders(ctx, settings)
  return providers.length === 0 ? undefined : { chain, settings, providers }
}

export function getSwapChain(ctx: ActionContext, chainId: number): SwapChain {
  const found = findSwapChain(ctx, chainId)
  if (!found) throw invalidArgument(`nothing can be swapped on chain ${chainId}; GetSwapDetails lists the chains`)
  return found
}

/** Every chain on which something can be swapped, by id. */
export function listSwapChains(ctx: ActionContext): SwapChain[] {
  return [...ctx.catalogue.current().chains.keys()].flatMap((chainId) => findSwapChain(ctx, chainId) ?? [])
}

/** The tokens a route may pass through. */
export function listHubs(snapshot: CatalogueSnapshot, { chainId, swap }: ChainRecord): TokenRecord[] {
  return (swap?.hubTokens ?? []).flatMap((address) => findToken(snapshot, chainId, address) ?? [])
}

/** The popular tokens of a chain: its native token, the wrapped native token, and the hubs that are shown. */
export function listPopular(snapshot: CatalogueSnapshot, settings: ChainRecord): TokenRecord[] {
  const { chainId, wrappedNative } = settings
  const wrapped = wrappedNative === null ? undefined : findToken(snapshot, chainId, wrappedNative)
  const others = [...(wrapped ? [wrapped] : []), ...listHubs(snapshot, settings)]
  return [getNativeToken(snapshot, chainId), ...new Set(others.filter((token) => isListedToken(snapshot, token)))]
}
