import { memo } from '../../kernel/async/memo.js'
import { type PageInput, paginate, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from './catalogue.js'
import { toToken } from './item.js'
import { prepareJson } from './memory/prepared.js'
import type { CatalogueSnapshot } from './memory/snapshot.js'
import type { TokenRecord } from './records.js'
import { compareText } from './text.js'

export type GetTokensInput = PageInput & { chainId?: number; search?: string }

/** Active tokens of active chains, by chain, symbol and address. `search` is part of the address, name or symbol. */
export async function getTokens(ctx: CatalogueContext, input: GetTokensInput) {
  const snapshot = ctx.catalogue.current()
  return prepareJson(ctx, 'GetTokens', input, () => {
    const request = parsePage(input)
    const search = input.search?.toLowerCase()
    const found = listedTokens(snapshot).filter(
      (token) =>
        (input.chainId === undefined || token.chainId === input.chainId) &&
        (search === undefined ||
          [token.address, token.name, token.symbol].some((text) => text.toLowerCase().includes(search))),
    )
    const page = found.slice(request.offset, request.offset + request.limit)
    return { data: page.map(toToken), pagination: paginate(request, found.length) }
  })
}

const listedTokens = memo((snapshot: CatalogueSnapshot): readonly TokenRecord[] =>
  [...snapshot.tokens.values()]
    .filter((token) => isListedToken(snapshot, token))
    .sort((a, b) => a.chainId - b.chainId || compareText(a.symbol, b.symbol) || (a.address < b.address ? -1 : 1)),
)

/** Shown: active, on an active chain. */
export function isListedToken(snapshot: CatalogueSnapshot, token: TokenRecord): boolean {
  return token.active && snapshot.chains.get(token.chainId)?.active === true
}
