import T from 'typebox'
import { defineOperation, type Operation, type RawQuery } from '../../kernel/operation.js'
import { Address, AddressInput, ChainId, Dec, List, Nullable, Ts, TsInput, Uuid, uuidForm } from '../../kernel/wire.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { getDistributorLPs } from './getDistributorLPs.js'
import { getDistributorMetrics } from './getDistributorMetrics.js'
import { getOpportunityHistoricalLPs } from './getOpportunityHistoricalLPs.js'

const refused = 'A parameter is malformed, startDate is after endDate or in the future, or there are too many buckets'
const common = { method: 'GET', access: 'publishable' } as const

const Count = T.Integer({ minimum: 0 })
const ids = { maxItems: 200, form: uuidForm, asArray: true }
const seriesQuery = {
  startDate: TsInput,
  endDate: TsInput,
  step: T.Optional(
    T.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 900, nullable: true, description: 'Seconds; 0 is 900' }),
  ),
  opportunityIds: T.Optional(List({ ...ids, description: 'Only these opportunities' })),
  productIds: T.Optional(List({ ...ids, description: 'Only opportunities of these products' })),
}
const distributor = T.Object({ distributorId: T.String({ description: 'Builder code' }) })

/** Top wallets double the cost. */
const metricsCost = (query: RawQuery) => (query.get('includeTopWallets')?.includes('true') ? 10 : 5)

/** The operations of metrics. */
export const metricsOperations: readonly Operation<CatalogueContext>[] = [
  defineOperation({
    ...common,
    tag: 'Metrics',
    operationId: 'GetDistributorMetrics',
    path: '/v2/metrics/distributor/{distributorId}',
    cost: metricsCost,
    summary: "Read a distributor's TVL",
    description:
      'The TVL attributed to a distributor at the end of each bucket, from confirmed blocks, in US dollars; optionally ' +
      'the 50 wallets with the most, as of the latest data. At most 50,000 buckets.',
    params: distributor,
    query: T.Object({
      ...seriesQuery,
      includeTopWallets: T.Optional(
        T.Boolean({ description: 'Also the 50 wallets with the most attributed TVL; costs 5 units more' }),
      ),
    }),
    responses: {
      200: T.Object({
        timeseries: T.Array(T.Object({ timestamp: Ts, tvl: Dec })),
        asOf: T.Array(T.Object({ opportunityId: Uuid, asOf: Ts })),
        topWallets: Nullable(T.Array(T.Object({ walletAddress: Address, totalTvl: Dec, asOf: Ts }))),
      }),
      400: refused,
    },
    run: getDistributorMetrics,
  }),
  defineOperation({
    ...common,
    tag: 'Metrics',
    operationId: 'GetDistributorLPs',
    path: '/v2/metrics/distributor/{distributorId}/lps',
    cost: 5,
    summary: "Count a distributor's LPs",
    description:
      'Wallets that hold positions a distributor brought, at the end of each bucket, and those that ever did, from confirmed ' +
      'blocks. A wallet in several vaults counts once. At most 50,000 buckets.',
    params: distributor,
    query: T.Object(seriesQuery),
    responses: {
      200: T.Object({
        timeseries: T.Array(T.Object({ timestamp: Ts, activeLps: Count, participatedLps: Count })),
      }),
      400: refused,
    },
    run: getDistributorLPs,
  }),
  defineOperation({
    ...common,
    tag: 'History',
    operationId: 'GetOpportunityHistoricalLPs',
    path: '/v2/opportunities/{chainId}/{vaultAddress}/historical/lps',
    cost: 3,
    summary: "Count a vault's LPs",
    description:
      "Holders of a vault's receipt token at the end of each bucket, and those that ever held: of positions that " +
      'distributors brought, and of all. Buckets lie wholly inside the range; at most 10,000.',
    params: T.Object({ chainId: ChainId, vaultAddress: AddressInput }),
    query: T.Object({
      startDate: TsInput,
      endDate: TsInput,
      step: T.Optional(
        T.Integer({
          minimum: 900,
          maximum: 31_536_000,
          multipleOf: 900,
          default: 900,
          nullable: true,
          description: 'Seconds, a multiple of 900',
        }),
      ),
    }),
    responses: {
      200: T.Object({
        data: T.Array(
          T.Object({
            timestamp: Ts,
            distributor: T.Object({ activeLps: Count, participatedLps: Count }),
            all: T.Object({ activeLps: Count, participatedLps: Count }),
          }),
        ),
      }),
      400: 'A parameter is malformed, startDate is after endDate, in the future or over 365 days ago, or there are too many buckets',
    },
    run: getOpportunityHistoricalLPs,
  }),
]
