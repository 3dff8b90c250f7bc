import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import type { PortfolioContext } from './context.js'
import { serveWalletPortfolio } from './getWalletPortfolio.js'
import { PortfolioSchema } from './schema.js'

/** The operations of portfolios. */
export const portfolioOperations: readonly Operation<PortfolioContext>[] = [
  defineOperation({
    operationId: 'GetWalletPortfolio',
    method: 'GET',
    path: '/v2/wallet/{address}/portfolio',
    access: 'publishable',
    cost: 10,
    tag: 'Wallets',
    summary: "Get a wallet's portfolio",
    description:
      'The holdings of a wallet on all configured chains, and its earnings in each opportunity. Each value counts once; all values of a chain are of the block in `asOf`. Failed reads and missing prices are named in `errors`, and `totalUsd` is the sum of the priced values.',
    params: T.Object({
      address: T.String({
        minLength: 1,
        maxLength: 128,
        description: 'An EVM, Solana or TON address; its form tells which',
      }),
    }),
    query: T.Object({
      includeProtocolTokens: T.Optional(
        T.Boolean({ default: false, description: 'Receipt tokens are listed too; they count in their protocol rows' }),
      ),
    }),
    responses: { 200: PortfolioSchema, 400: 'The address is of no known form, or a parameter is malformed' },
    run: serveWalletPortfolio,
  }),
]
