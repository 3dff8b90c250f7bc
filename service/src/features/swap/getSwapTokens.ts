import { paginateNav, parsePage } from '../../kernel/page.js'
import { multicall } from '../../rpc/multicall.js'
import {
  type CatalogueSnapshot,
  findToken,
  getNativeToken,
  isListedToken,
  readToken,
  type TokenRecord,
} from '../catalogue/index.js'
import type { ActionContext } from '../plans/index.js'
import { findSwapChain, listSwapChains } from './providers.js'
import type { SwapTokensBody, SwapTokensInput } from './schema.js'
import { findSwapPrices, isNative, toSwapToken } from './swapTokens.js'

const limitMax = 300

/**
 * Tokens of the chains on which something can be swapped, by chain, the native one first, then by symbol and address. A
 * search for a whole address that the catalogue lacks reads the token from its chain; such a token has no price.
 */
export async function getSwapTokens(ctx: ActionContext, input: SwapTokensInput): Promise<SwapTokensBody> {
  const request = parsePage(input, limitMax)
  const snapshot = ctx.catalogue.current()
  const chains = input.chainId === undefined ? listSwapChains(ctx) : [findSwapChain(ctx, input.chainId) ?? []].flat()
  const search = input.search?.toLowerCase()
  const found = chains.flatMap(({ settings }) => listTokens(snapshot, settings.chainId, search))
  const page = found.slice(request.offset, request.offset + request.limit)
  const data = await Promise.all(
    chains.map(async ({ settings }) => {
      const tokens = page.filter(({ chainId }) => chainId === settings.chainId)
      if (tokens.length === 0) return []
      const priceOf = await findSwapPrices(ctx, settings, tokens)
      return tokens.map((token) => toSwapToken(token, priceOf(token)))
    }),
  )
  const strange = found.length === 0 ? await readStrange(ctx, input.chainId, search) : []
  const listed = [...data.flat(), ...strange.slice(request.offset, request.offset + request.limit)]
  return { data: listed, pagination: paginateNav(request, found.length + strange.length) }
}

function listTokens(snapshot: CatalogueSnapshot, chainId: number, search: string | undefined): TokenRecord[] {
  const native = getNativeToken(snapshot, chainId)
  const others = [...snapshot.tokens.values()].filter(
    (token) =>
      token.chainId === chainId && !isNative(token) && token.unsupportedReason === '' && isListedToken(snapshot, token),
  )
  const order = (token: TokenRecord) => `${token.symbol.toLowerCase()} ${token.address}`
  others.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  return [native, ...others].filter(
    ({ address, name, symbol }) =>
      search === undefined || [address, name, symbol].some((text) => text.toLowerCase().includes(search)),
  )
}

/** An unlisted token, by its own metadata; empty if the address is no token, or is listed and hidden. */
async function readStrange(ctx: ActionContext, chainId: number | undefined, search: string | undefined) {
  if (chainId === undefined || search === undefined || !/^0x[0-9a-f]{40}$/.test(search)) return []
  const found = findSwapChain(ctx, chainId)
  if (!found || findToken(ctx.catalogue.current(), chainId, search)) return []
  const { answer } = await multicall(found.chain, readToken(chainId, search))
  return answer ? [toSwapToken(answer, undefined)] : []
}
