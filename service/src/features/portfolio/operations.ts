import T from 'typebox'
import { defineOperation, type Operation, type RawQuery } from '../../kernel/operation.js'
import { TsInput } from '../../kernel/wire.js'
import type { PortfolioContext } from './context.js'
import { serveWalletPortfolio } from './getWalletPortfolio.js'
import { PortfolioSchema } from './schema.js'

/** Earnings of a range add two units. */
const portfolioCost = (query: RawQuery): number => 10 + (query.has('earnedFrom') || query.has('earnedTo') ? 2 : 0)

/** The operations of portfolios. */
export const portfolioOperations: readonly Operation<PortfolioContext>[] = [
  defineOperation({
    operationId: 'GetWalletPortfolio',
    method: 'GET',
    path: '/v2/wallet/{address}/portfolio',
    access: 'publishable',
    cost: portfolioCost,
    tag: 'Wallets',
    summary: "Get a wallet's portfolio",
    description:
      'The holdings of a wallet on all configured chains, and its earnings in each opportunity. Each value counts once; all values of a chain are of the block in `asOf`. Failed reads and missing prices are named in `errors`, and `totalUsd` is the sum of the priced values. With `earnedFrom` and `earnedTo` each row of earnings has `inRange`: what was earned in between, and `inRange` tells all rows together (two cost units more).',
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
      earnedFrom: T.Optional({
        ...TsInput,
        description: 'Start of a range that earnings are asked for; needs `earnedTo`',
      }),
      earnedTo: T.Optional({
        ...TsInput,
        description: 'End of that range, not part of it: at most 60 s ahead of now and 366 days after `earnedFrom`',
      }),
    }),
    responses: { 200: PortfolioSchema, 400: 'The address is of no known form, or a parameter is malformed' },
    run: serveWalletPortfolio,
  }),
]
