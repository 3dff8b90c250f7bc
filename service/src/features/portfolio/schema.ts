import T, { type Static } from 'typebox'
import { Address, ChainId, Dec, Nullable, Raw, Ts, Uuid } from '../../kernel/wire.js'
import { TokenSchema } from '../catalogue/index.js'

const SumSchema = T.Object({ native: Dec, usd: Nullable(Dec) }, { title: 'NativeAndUsd' })

const InRangeSchema = T.Object(
  {
    from: Ts,
    to: Ts,
    deposited: SumSchema,
    withdrawn: SumSchema,
    start: SumSchema,
    end: SumSchema,
    earned: SumSchema,
  },
  {
    title: 'EarnedInRange',
    description:
      'earned = end + withdrawn − deposited − start. `start` and `end` are the worth of the shares held at `from` and `to`, at ' +
      'the share price of the newest snapshot at or before; from the newest snapshot on, `current`',
  },
)

export const EarningSchema = T.Object(
  {
    productId: Nullable(Uuid),
    productName: Nullable(T.String()),
    opportunityId: Uuid,
    opportunityName: T.String(),
    deposited: SumSchema,
    withdrawn: SumSchema,
    current: SumSchema,
    earned: SumSchema,
    token: TokenSchema,
    firstDepositAt: Nullable(Ts),
    lastActivityAt: Nullable(Ts),
    inRange: T.Optional(Nullable(InRangeSchema)),
  },
  { title: 'Earning' },
)

export const TokenRowSchema = T.Object(
  {
    address: Address,
    chainId: ChainId,
    symbol: T.String(),
    name: T.String(),
    decimals: T.Integer(),
    logoUrl: T.String(),
    amount: Dec,
    amountRaw: Raw,
    priceUsd: Nullable(Dec),
    valueUsd: Nullable(Dec),
    isNative: T.Boolean(),
    isProtocolToken: T.Boolean({ description: 'A protocol row stands for it, and it counts only there' }),
  },
  { title: 'TokenHolding' },
)

const ProtocolTokenSchema = T.Object(
  {
    address: Address,
    chain: T.String({ description: 'The chain id as text' }),
    symbol: T.String(),
    name: T.String(),
    decimals: T.Integer(),
    amount: Dec,
    price: Nullable(Dec),
    logo_url: T.String(),
    opportunity_id: Nullable(Uuid),
    amount_raw: Raw,
    value_usd: Nullable(Dec),
  },
  { title: 'ProtocolToken' },
)

const StatsSchema = T.Object(
  { asset_usd_value: Dec, debt_usd_value: Dec, net_usd_value: Dec },
  { title: 'PortfolioStats', description: 'Priced values, in US dollars' },
)

export const itemTypes = [
  'yield',
  'pending-deposit',
  'claimable-deposit',
  'pending-withdraw',
  'lending',
  'reward',
] as const

const PortfolioItemSchema = T.Object(
  {
    name: T.String(),
    type: T.Enum([...itemTypes]),
    opportunity_id: Nullable(Uuid),
    pool: T.Object({ id: Address, chain: T.String() }, { title: 'PortfolioPool' }),
    stats: StatsSchema,
    detail: T.Object({
      description: T.String(),
      supply_token_list: T.Array(ProtocolTokenSchema),
      borrow_token_list: T.Array(ProtocolTokenSchema),
      reward_token_list: T.Array(ProtocolTokenSchema),
    }),
  },
  { title: 'PortfolioItem' },
)

export const ProtocolRowSchema = T.Object(
  {
    id: T.String(),
    name: T.String(),
    site_url: T.String(),
    logo_url: T.String(),
    stats: StatsSchema,
    portfolio_item_list: T.Array(PortfolioItemSchema),
  },
  { title: 'ProtocolHoldings' },
)

export const WalletSchema = T.Object(
  {
    address: T.String(),
    ecosystem: T.Enum(['evm', 'solana', 'ton']),
    totalUsd: Dec,
    tokens: T.Array(TokenRowSchema),
    protocols: T.Array(ProtocolRowSchema),
    asOf: T.Array(T.Object({ chainId: ChainId, blockNumber: T.Integer(), blockHash: T.String(), timestamp: Ts })),
    errors: T.Array(
      T.Object(
        {
          chainId: Nullable(T.Integer()),
          source: T.String({ description: 'rpc, price, adapter:<name>, ecosystem or earnings' }),
          error: T.String(),
        },
        { title: 'PortfolioProblem' },
      ),
      { description: 'What could not be read or priced; where there is none, all of it is told' },
    ),
    unwatched: T.Array(ChainId, { description: 'Listed chains of which this installation reads no node' }),
  },
  { title: 'WalletHoldings' },
)

const EarnedSchema = T.Object(
  { from: Ts, to: Ts, earnedUsd: Nullable(Dec) },
  {
    title: 'EarnedOfWallet',
    description:
      'The rows of earnings together, over the range that was asked for. Null where the dollars of a row are not known',
  },
)

export const PortfolioSchema = T.Object({
  portfolio: T.Object({
    productsEarnings: T.Array(EarningSchema),
    inRange: T.Optional(EarnedSchema),
    holdings: T.Object({ totalUsd: Dec, wallets: T.Array(WalletSchema) }),
  }),
})

export type PortfolioBody = Static<typeof PortfolioSchema>
export type WalletBody = Static<typeof WalletSchema>
export type TokenRow = Static<typeof TokenRowSchema>
export type ProtocolRow = Static<typeof ProtocolRowSchema>
export type EarningRow = Static<typeof EarningSchema>
export type InRange = Static<typeof InRangeSchema>
