import { nativeToken } from '../../rpc/native.js'
import { type CatalogueSnapshot, findToken } from './memory/snapshot.js'
import type { TokenRecord } from './records.js'

const made = new WeakMap<CatalogueSnapshot, Map<number, TokenRecord>>()

/** The native token of a chain. It is listed where an operator gave it a logo; else the chain's own words do. */
export function getNativeToken(snapshot: CatalogueSnapshot, chainId: number): TokenRecord {
  const listed = findToken(snapshot, chainId, nativeToken)
  if (listed) return listed
  const ofChain = made.get(snapshot) ?? new Map<number, TokenRecord>()
  made.set(snapshot, ofChain)
  const known = ofChain.get(chainId)
  if (known) return known
  const symbol = snapshot.chains.get(chainId)?.nativeSymbol ?? 'ETH'
  const token: TokenRecord = {
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
  ofChain.set(chainId, token)
  return token
}
