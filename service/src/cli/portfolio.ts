import { openCatalogue } from '../features/catalogue/index.js'
import { getWalletPortfolio, openPortfolio, type PortfolioBody } from '../features/portfolio/index.js'
import { createOutbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import { openChains } from '../rpc/chains.js'
import { readChains } from '../server/readChains.js'
import { withContext } from './command.js'
import { answer, type Command, formatTable, parseFlags, UsageError } from './terminal.js'

const usage = `openearn portfolio WALLET [--protocol-tokens]

What a wallet holds now on all watched chains, as GetWalletPortfolio answers it: every term of the sum with its price, what it
earned, the block of each chain, and what could not be told. With --protocol-tokens receipt tokens are listed as well, in
brackets: they count in their protocol rows.`

export const portfolio: Command = {
  usage,
  run: async (words) => {
    const { values, positionals } = parseFlags(words, { 'protocol-tokens': { type: 'boolean' } }, 1)
    const [address] = positionals
    if (address === undefined) throw new UsageError('portfolio: give the address of a wallet')
    await withContext(async (ctx) => {
      const body = await read(ctx, { address, includeProtocolTokens: values['protocol-tokens'] === true })
      answer(body, describe(body))
    })
  },
}

async function read(ctx: Context, input: { address: string; includeProtocolTokens: boolean }): Promise<PortfolioBody> {
  const catalogue = await openCatalogue(ctx)
  try {
    const settings = await readChains(ctx)
    const chains = openChains(createOutbound(ctx.clock), settings, undefined, { purpose: 'holdings' })
    return await getWalletPortfolio({ ...ctx, catalogue, chains, portfolio: openPortfolio() }, input)
  } finally {
    await catalogue.close()
  }
}

/** The terms, the sum, and what is missing from it. */
function describe({ portfolio: { holdings, productsEarnings } }: PortfolioBody): string[] {
  const wallets = holdings.wallets
  const terms = wallets.flatMap(({ tokens, protocols }) => [
    ...tokens.map(({ symbol, chainId, amount, priceUsd, valueUsd, isProtocolToken }) => {
      const usd = valueUsd ?? 'unpriced'
      return [`chain ${chainId}`, 'wallet', symbol, amount, priceUsd ?? '-', isProtocolToken ? `(${usd})` : usd]
    }),
    ...protocols.flatMap(({ name, portfolio_item_list }) =>
      portfolio_item_list.flatMap((item) => {
        const { supply_token_list, borrow_token_list, reward_token_list } = item.detail
        const rows = [
          ...[...supply_token_list, ...reward_token_list].map((row) => ({ row, sign: '' })),
          ...borrow_token_list.map((row) => ({ row, sign: '-' })),
        ]
        return rows.map(({ row, sign }) => [
          ...[`chain ${row.chain}`, `${name}: ${item.name} (${item.type})`, row.symbol, `${sign}${row.amount}`],
          ...[row.price ?? '-', row.value_usd === null ? 'unpriced' : `${sign}${row.value_usd}`],
        ])
      }),
    ),
  ])
  const earned = productsEarnings.map(
    ({ opportunityName, earned, token }) =>
      `earned ${earned.native} ${token.symbol} (${earned.usd === null ? 'unpriced' : `${earned.usd} USD`}) in ${opportunityName}`,
  )
  return [
    ...formatTable(['CHAIN', 'WHERE', 'TOKEN', 'AMOUNT', 'PRICE', 'USD'], terms),
    `total ${holdings.totalUsd} USD`,
    ...earned,
    ...wallets.flatMap(({ asOf }) =>
      asOf.map(
        ({ chainId, blockNumber, blockHash, timestamp }) =>
          `chain ${chainId} at block ${blockNumber} (${blockHash}), ${timestamp}`,
      ),
    ),
    ...wallets.flatMap(({ errors }) =>
      errors.map(({ chainId, source, error }) => `${chainId === null ? '' : `chain ${chainId}, `}${source}: ${error}`),
    ),
    ...wallets.flatMap(({ unwatched }) =>
      unwatched.map((chainId) => `chain ${chainId} is listed, but this installation reads no node of it`),
    ),
  ]
}
