import T from 'typebox'
import { defineOperation, type Operation, type RawQuery } from '../../kernel/operation.js'
import {
  Address,
  AddressInput,
  ChainId,
  Dec,
  List,
  Nullable,
  Ts,
  TsInput,
  TxHash,
  Uuid,
  uuidForm,
} from '../../kernel/wire.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { getDistributorLPs } from './getDistributorLPs.js'
import { getDistributorMetrics } from './getDistributorMetrics.js'
import { getOpportunityHistoricalLPs } from './getOpportunityHistoricalLPs.js'
import { findingCodes } from './storeAudits.js'

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

/** Top wallets double the cost, as audits do; USD-days and flows add two units each. */
function metricsCost(query: RawQuery): number {
  const isAsked = (name: string) => query.get(name)?.includes('true') ?? false
  const more = { includeTopWallets: 5, includeUsdDays: 2, includeFlows: 2, includeAudit: 5 }
  return Object.entries(more).reduce((cost, [name, units]) => cost + (isAsked(name) ? units : 0), 5)
}

const Seconds = (description: string) => T.Integer({ minimum: 0, description })

const FlowSum = T.Object(
  {
    count: T.Integer({ minimum: 0 }),
    usd: T.String({ ...Dec, description: 'US dollars of those that have a price' }),
    unpriced: T.Integer({ minimum: 0, description: 'How many of them have no price, which add nothing' }),
  },
  { title: 'FlowSum' },
)

/** Deposits and withdrawals of a range. */
const Flows = T.Object(
  { from: Ts, to: Ts, deposits: FlowSum, withdrawals: FlowSum },
  { title: 'Flows', description: 'Entries of the ledger from `from` up to `to`, which is not part of it' },
)

/** USD-days of a range. */
const UsdDays = T.Object({
  total: T.String({
    ...Dec,
    description:
      'US dollars × days over the range, each vault cut once after 18 digits: the figure to pay by. It may exceed the sum of ' +
      'the points by less than 10^-18 a point and vault',
  }),
  to: T.String({
    ...Ts,
    description:
      'Up to when all chains of the opportunities asked for are confirmed, at most the end of the range; a chain that is ' +
      'further counts further',
  }),
  isFinal: T.Boolean({
    description:
      'Every block of the range is final, and every snapshot of it is read; a later reorganisation changes nothing',
  }),
  unpricedSeconds: Seconds('How long shares were held without a known price, which adds nothing; summed over vaults'),
  unguardedSeconds: Seconds(
    'How long shares were held while a price could not be checked against mints: they count by the least held since the ' +
      'snapshot; summed over vaults',
  ),
  staged: T.Integer({
    minimum: 0,
    description: 'Snapshots after which vaults sold shares below their price: it was staged, or the vault lost',
  }),
})

/** Findings of the monthly audit. */
const Audit = T.Object({
  months: T.Array(
    T.Object({
      month: T.String({ description: 'UTC', examples: ['2026-10'] }),
      rulesVersion: T.Integer({ minimum: 1 }),
      findings: T.Array(
        T.Object({
          code: T.String({ enum: [...findingCodes] }),
          count: Count,
          usdDays: T.String({ ...Dec, description: 'The USD-days that it touches' }),
          transactions: T.Array(TxHash, { maxItems: 20 }),
        }),
      ),
      score: T.Number({ minimum: 0, description: 'Points of the findings' }),
    }),
  ),
})

/** The operations of metrics. */
export const metricsOperations: readonly Operation<CatalogueContext>[] = [
  defineOperation({
    ...common,
    tag: 'Metrics',
    operationId: 'GetDistributorMetrics',
    isHeavy: true,
    path: '/v2/metrics/distributor/{distributorId}',
    cost: metricsCost,
    summary: "Read a distributor's TVL",
    description:
      'The TVL attributed to a distributor at the end of each bucket, from confirmed blocks, in US dollars: a chart, which ' +
      'capital of one block can change; pay by USD-days. Optionally the USD-days (value × days, by the paid price) of each ' +
      'bucket and of the range, the deposits and withdrawals of the range together, and the 50 wallets with the most, as of ' +
      'the latest data. At most 50,000 buckets.',
    params: distributor,
    query: T.Object({
      ...seriesQuery,
      includeTopWallets: T.Optional(
        T.Boolean({ description: 'Also the 50 wallets with the most attributed TVL; costs 5 units more' }),
      ),
      includeUsdDays: T.Optional(
        T.Boolean({
          description:
            'Also the USD-days of each bucket and of the range, for at most 2000 vaults × days; costs 2 units more',
        }),
      ),
      includeFlows: T.Optional(
        T.Boolean({
          description: 'Also the verified deposits and withdrawals of the range together; costs 2 units more',
        }),
      ),
      includeAudit: T.Optional(
        T.Boolean({
          description:
            'Also the audits kept of whole months (UTC) of the range, at most the newest 3; for a secret key of the ' +
            "distributor's organization; costs 5 units more",
        }),
      ),
    }),
    responses: {
      200: T.Object({
        timeseries: T.Array(
          T.Object({
            timestamp: Ts,
            tvl: T.String({ ...Dec, description: 'At the end of the bucket: a chart; pay by USD-days' }),
            usdDays: T.Optional(
              T.String({ ...Dec, description: 'Of the bucket, cut to the range; only with includeUsdDays' }),
            ),
          }),
        ),
        usdDays: T.Optional(UsdDays),
        flows: T.Optional(Flows),
        asOf: T.Array(T.Object({ opportunityId: Uuid, asOf: Ts })),
        topWallets: Nullable(T.Array(T.Object({ walletAddress: Address, totalTvl: Dec, asOf: Ts }))),
        audit: T.Optional(Nullable(Audit)),
      }),
      400: refused,
      403: "includeAudit without a secret key of the distributor's organization",
    },
    run: getDistributorMetrics,
  }),
  defineOperation({
    ...common,
    tag: 'Metrics',
    operationId: 'GetDistributorLPs',
    isHeavy: true,
    path: '/v2/metrics/distributor/{distributorId}/lps',
    cost: 5,
    summary: "Count a distributor's LPs",
    description:
      'Wallets that hold positions a distributor brought, at the end of each bucket, and those that ever did, from confirmed ' +
      'blocks: a chart; pay by USD-days. A wallet in several vaults counts once. At most 50,000 buckets.',
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
    isHeavy: true,
    path: '/v2/opportunities/{chainId}/{vaultAddress}/historical/lps',
    cost: 3,
    summary: "Count a vault's LPs",
    description:
      "Holders of a vault's receipt token at the end of each bucket, and those that ever held: of positions that " +
      'distributors brought, and of all: a chart; pay by USD-days. Buckets lie wholly inside the range; at most 10,000.',
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
