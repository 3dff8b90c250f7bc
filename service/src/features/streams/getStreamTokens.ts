import type { CatalogueContext } from '../catalogue/index.js'
import { listTokensById, toStreamToken } from './tokens.js'

/** Tokens that can be the target of a stream or, where it says so, its reward. */
export async function getStreamTokens(ctx: CatalogueContext, { chainId }: { chainId?: number }) {
  const listed = [...listTokensById(ctx.catalogue.current()).values()]
  const found = chainId === undefined ? listed : listed.filter((token) => token.chainId === chainId)
  return { tokens: found.sort((a, b) => a.chainId - b.chainId || (a.address < b.address ? -1 : 1)).map(toStreamToken) }
}
