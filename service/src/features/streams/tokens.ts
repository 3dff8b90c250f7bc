import { derivedId } from '../../kernel/ids.js'
import { type CatalogueSnapshot, isListedToken, type TokenRecord, toToken } from '../catalogue/index.js'

/** The id of a token: it follows from where the token is. */
export function tokenId({ chainId, address }: Pick<TokenRecord, 'chainId' | 'address'>): string {
  return derivedId(`token:${chainId}:${address.toLowerCase()}`)
}

const indexes = new WeakMap<CatalogueSnapshot, ReadonlyMap<string, TokenRecord>>()

/** Listed tokens by id. */
export function listTokensById(snapshot: CatalogueSnapshot): ReadonlyMap<string, TokenRecord> {
  const known = indexes.get(snapshot)
  if (known) return known
  const listed = [...snapshot.tokens.values()].filter((token) => isListedToken(snapshot, token))
  const index = new Map(listed.map((token) => [tokenId(token), token]))
  indexes.set(snapshot, index)
  return index
}

export function toStreamToken(token: TokenRecord) {
  return { id: tokenId(token), ...toToken(token), isAllowedRewardToken: token.isAllowedRewardToken }
}
