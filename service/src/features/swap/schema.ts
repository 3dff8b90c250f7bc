import T, { type Static } from 'typebox'
import { Address, AddressInput, ChainId, PaginationNavSchema, pageQuery } from '../../kernel/wire.js'
import { DistributorId, positiveRaw, slippageBounds, tokenInput } from '../plans/index.js'

export const SwapQuery = T.Object({
  user: AddressInput,
  chainId: ChainId,
  distributorId: DistributorId,
  tokenIn: tokenInput(),
  tokenOut: tokenInput({ examples: ['native'] }),
  amountIn: positiveRaw('Smallest units, above 0'),
  slippageBps: T.Integer({ ...slippageBounds, description: 'Hundredths of a percent' }),
  simulate: T.Optional(
    T.Boolean({ default: true, description: 'false: check no balance and simulate nothing, for a quote screen' }),
  ),
})

export type SwapInput = Static<typeof SwapQuery>

export const SwapTokenSchema = T.Object(
  {
    address: Address,
    chainId: T.String({ examples: ['8453'] }),
    symbol: T.String(),
    name: T.String(),
    decimals: T.Integer(),
    isNative: T.Boolean(),
    logoUrl: T.String(),
    priceUsd: T.Number({ description: '0: not known' }),
  },
  { title: 'SwapToken' },
)

export type SwapTokenBody = Static<typeof SwapTokenSchema>

export const SwapDetailsQuery = T.Object({
  chainId: T.Optional(T.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Whose tokens to show' })),
})

export const SwapDetailsSchema = T.Object(
  {
    chains: T.Array(
      T.Object(
        {
          chainId: T.String({ examples: ['8453'] }),
          name: T.String(),
          slug: T.String({ examples: ['base'] }),
          ecosystem: T.String({ examples: ['evm'] }),
          logoUrl: T.String(),
          explorerUrl: T.String(),
          nativePriceUsd: T.Number({ description: '0: not known' }),
        },
        { title: 'SwapChain' },
      ),
    ),
    popularTokens: T.Array(SwapTokenSchema),
  },
  { title: 'SwapDetails' },
)

export type SwapDetailsBody = Static<typeof SwapDetailsSchema>

export const SwapTokensQuery = T.Object({
  ...pageQuery,
  limit: T.Optional(
    T.Integer({ description: 'Items a page, 1 to 300; below 1 is 20', default: 20, 'x-saturates': true }),
  ),
  chainId: T.Optional(ChainId),
  search: T.Optional(
    T.String({
      description: 'Part of the address, name or symbol; with a chainId also the whole address of any token',
    }),
  ),
})

export type SwapTokensInput = Static<typeof SwapTokensQuery>

export const SwapTokensSchema = T.Object({ data: T.Array(SwapTokenSchema), pagination: PaginationNavSchema })

export type SwapTokensBody = Static<typeof SwapTokensSchema>
