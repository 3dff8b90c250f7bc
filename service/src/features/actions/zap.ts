import type { Address } from 'viem'
import type { EarnError } from '../../kernel/errors.js'
import type { OpportunityRecord, TokenRecord } from '../catalogue/index.js'
import { type ActionContext, refuse, type Target } from '../plans/index.js'
import { findSwapChain, listHubs, type SwapChain } from '../swap/index.js'

/** Shared by deposits and withdrawals in a token other than the vault's. */

/** The swap providers of an opportunity's chain; undefined if there is no provider, or the operator disabled swaps. */
export function findZapChain(ctx: ActionContext, opportunity: OpportunityRecord): SwapChain | undefined {
  return opportunity.routedSwapEnabled ? findSwapChain(ctx, opportunity.chainId) : undefined
}

/** Why nothing can be swapped on the way into a vault: asking again does not help, an operator has to act. */
export function refuseZap({ routedSwapEnabled }: Pick<OpportunityRecord, 'routedSwapEnabled'>): EarnError {
  const why = routedSwapEnabled
    ? 'no exchange is configured for the chain of this vault, so only its own tokens can be deposited'
    : 'the operator of this service has not switched on swaps into this vault (routedSwapEnabled), so only its own tokens can be deposited'
  return refuse('NO_ROUTE', why, { retryable: false })
}

/** The token a vault is swapped into and out of. */
export function getZapAsset({ chainId, vault, depositTokens, baseToken }: OpportunityRecord): TokenRecord {
  const asset = [...depositTokens, baseToken].find(
    (token) => token.chainId === chainId && token.address === vault.asset.toLowerCase(),
  )
  if (!asset) throw refuse('TOKEN_NOT_ACCEPTED', 'the asset of this vault is not among the tokens it is listed with')
  if (asset.unsupportedReason !== '')
    throw refuse('TOKEN_UNSUPPORTED', `${asset.symbol} cannot be deposited: ${asset.unsupportedReason}`)
  return asset
}

/** Whom and where a swap of a zap is for. */
export function toSwapSetting({ snapshot, wallet }: Target, { chain, settings }: SwapChain, slippageBps: number) {
  return { chain, settings, hubs: listHubs(snapshot, settings), wallet, slippageBps: BigInt(slippageBps) }
}

/** The contracts that may have to be approved for a swap of an ERC-20. */
export function listSpenders({ providers, settings }: SwapChain): Address[] {
  return providers.flatMap((provider) => provider.spenders(settings))
}
