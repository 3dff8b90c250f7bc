import T from 'typebox'
import { AddressInput, ChainId, Dec, Nullable, Raw, Ts, TsInput, TxHash } from '../../kernel/wire.js'
import { growthSourceNames } from '../../vaults/configured/index.js'
import { TokenSchema } from '../catalogue/index.js'
import { apyIntervalDefault, apyIntervalMax, stepDefault, stepMax } from './range.js'

export const vaultParams = T.Object({ chainId: ChainId, vaultAddress: AddressInput })

export const rangeQuery = {
  startDate: { ...TsInput, description: 'The first instant, at most 365 days ago' },
  endDate: T.Optional({ ...TsInput, description: 'The last instant; absent or in the future means now' }),
  step: T.Optional(
    T.Integer({
      minimum: 1,
      maximum: stepMax,
      default: stepDefault,
      description: 'Seconds of a bucket; a range has at most 10,000 buckets',
    }),
  ),
  apyInterval: T.Optional(
    T.Integer({
      minimum: 1,
      maximum: apyIntervalMax,
      default: apyIntervalDefault,
      description: 'Seconds a rate looks back, whatever the step',
    }),
  ),
}

export const inputsQuery = {
  ...rangeQuery,
  includeInputs: T.Optional(
    T.Boolean({ default: false, description: 'With the two readings of each point; at most 1,000 buckets then' }),
  ),
}

const moment = { timestamp: Ts, blockNumber: T.Integer() }

export const RateSchema = T.Object(
  {
    base: T.Number({ description: 'Percent a year' }),
    reward: T.Number({ description: 'Always 0' }),
    total: T.Number(),
  },
  { title: 'Rate' },
)

export const ValueSchema = T.Object(
  {
    native: T.Number({ description: 'Whole base assets' }),
    usd: Nullable(T.Number({ description: 'US dollars; null without a price of that time' })),
  },
  { title: 'Value' },
)

const ReadingSchema = T.Object(
  {
    blockNumber: T.Integer(),
    blockHash: TxHash,
    timestamp: Ts,
    totalAssets: Raw,
    totalSupply: Raw,
    priceNumerator: Raw,
    sharePrice: Dec,
    priceUsd: Nullable(Dec),
  },
  { title: 'Reading' },
)

const MethodSchema = T.Object(
  { id: T.String(), version: T.String(), source: T.Enum([...growthSourceNames]) },
  { title: 'Method' },
)

const rateMembers = {
  effectiveIntervalSeconds: T.Integer({ description: 'Seconds between the two readings, at least `apyInterval`' }),
  inputs: T.Optional(T.Object({ from: ReadingSchema, to: ReadingSchema })),
}

const baseAsset = { baseAsset: T.Optional(TokenSchema) }

export const HistoricalSchema = T.Object({
  ...baseAsset,
  data: T.Array(T.Object({ ...moment, tvl: ValueSchema, sharePrice: ValueSchema, apy: Nullable(RateSchema) })),
  historyTruncated: T.Boolean({ description: 'Always false: no point of the range is left out' }),
})
export const HistoricalAprSchema = T.Object({
  data: T.Array(T.Object({ ...moment, apr: RateSchema, ...rateMembers })),
  method: MethodSchema,
})
export const HistoricalApySchema = T.Object({
  data: T.Array(T.Object({ ...moment, apy: RateSchema, ...rateMembers })),
  method: MethodSchema,
})
export const HistoricalSharePriceSchema = T.Object({
  ...baseAsset,
  data: T.Array(T.Object({ ...moment, sharePrice: ValueSchema })),
})
export const HistoricalTvlSchema = T.Object({ ...baseAsset, data: T.Array(T.Object({ ...moment, tvl: ValueSchema })) })
