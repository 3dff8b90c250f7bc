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
      'What a wallet holds on all configured chains, and what it has earned in each opportunity. Each value counts once; all that is told of a chain is of the block in `asOf`. What could not be read or priced is named in `errors`, and `totalUsd` adds what is priced.',
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
