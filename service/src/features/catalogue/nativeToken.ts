import { memo } from '../../kernel/async/memo.js'
import { nativeToken } from '../../rpc/native.js'
import { type CatalogueSnapshot, findToken } from './memory/snapshot.js'
import type { TokenRecord } from './records.js'

/** The native token of a chain. It is listed where an operator gave it a logo; else the chain's own words do. */
export function getNativeToken(snapshot: CatalogueSnapshot, chainId: number): TokenRecord {
  const listed = findToken(snapshot, chainId, nativeToken)
  if (listed) return listed
  return unlisted(snapshot)(chainId)
}

const unlisted = memo((snapshot: CatalogueSnapshot) =>
  memo((chainId: number): TokenRecord => {
    const symbol = snapshot.chains.get(chainId)?.nativeSymbol ?? 'ETH'
    return {
      chainId,
      address: nativeToken.toLowerCase(),
      decimals: 18,
      symbol,
      name: symbol,
      logoUrl: '',
      active: true,
      pegUsd: null,
      priceFeed: null,
      priceVault: null,
      priceId: null,
      approvalReset: false,
      unsupportedReason: '',
      isAllowedRewardToken: false,
    }
  }),
)
