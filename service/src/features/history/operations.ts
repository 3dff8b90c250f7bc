import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { getOpportunityHistorical } from './getOpportunityHistorical.js'
import { getOpportunityHistoricalAPR } from './getOpportunityHistoricalAPR.js'
import { getOpportunityHistoricalAPY } from './getOpportunityHistoricalAPY.js'
import { getOpportunityHistoricalSharePrice } from './getOpportunityHistoricalSharePrice.js'
import { getOpportunityHistoricalTVL } from './getOpportunityHistoricalTVL.js'
import {
  HistoricalAprSchema,
  HistoricalApySchema,
  HistoricalSchema,
  HistoricalSharePriceSchema,
  HistoricalTvlSchema,
  inputsQuery,
  rangeQuery,
  vaultParams,
} from './schema.js'

const malformed = 'A parameter is malformed, or the range cannot be served'
const withheld =
  'The series is withheld: reason INDEXING_NOT_STARTED or INDEXING_STALLED; Retry-After says when the next snapshot is due'
const unsupported = 'No price indexer of this vault: reason PROTOCOL_UNSUPPORTED; asking again will not help'
const common = {
  method: 'GET',
  access: 'publishable',
  cost: 3,
  tag: 'History',
  params: vaultParams,
  isHeavy: true,
} as const
const path = '/v2/opportunities/{chainId}/{vaultAddress}/historical'
const points =
  'Buckets lie on the Unix-epoch grid of `step`; a point is the last snapshot of its bucket within the range, and a bucket ' +
  'without one has no point.'

/** The operations of history. */
export const historyOperations: readonly Operation<CatalogueContext>[] = [
  defineOperation({
    ...common,
    operationId: 'GetOpportunityHistorical',
    path,
    summary: "Show a vault's history",
    description: `TVL, share price and base APY of a vault over time. ${points} \`apy\` is null where APY is withheld.`,
    query: T.Object(rangeQuery),
    responses: { 200: HistoricalSchema, 400: malformed },
    run: getOpportunityHistorical,
  }),
  defineOperation({
    ...common,
    operationId: 'GetOpportunityHistoricalAPR',
    path: `${path}/apr`,
    summary: "Show a vault's APR over time",
    description:
      `Simple growth of the share price a year, in percent. ${points} Each is measured from the newest reading that is at ` +
      'least `apyInterval` older; one without such a reading is left out.',
    query: T.Object(inputsQuery),
    responses: { 200: HistoricalAprSchema, 400: malformed, 404: unsupported, 503: withheld },
    run: getOpportunityHistoricalAPR,
  }),
  defineOperation({
    ...common,
    operationId: 'GetOpportunityHistoricalAPY',
    path: `${path}/apy`,
    summary: "Show a vault's APY over time",
    description:
      'Compound growth a year, in percent, of the growth source of the vault: its share price in the base asset, or with ' +
      `the source \`nav\` in US dollars. ${points} Each is measured from the newest reading that is at least ` +
      '`apyInterval` older; one without such a reading is left out.',
    query: T.Object(inputsQuery),
    responses: {
      200: HistoricalApySchema,
      400: malformed,
      412: 'Two growth sources are in force at once',
      503: withheld,
    },
    run: getOpportunityHistoricalAPY,
  }),
  defineOperation({
    ...common,
    operationId: 'GetOpportunityHistoricalSharePrice',
    path: `${path}/share-price`,
    summary: "Show a vault's share price over time",
    description: `Base assets and US dollars of a share. ${points}`,
    query: T.Object(rangeQuery),
    responses: { 200: HistoricalSharePriceSchema, 400: malformed, 404: unsupported, 503: withheld },
    run: getOpportunityHistoricalSharePrice,
  }),
  defineOperation({
    ...common,
    operationId: 'GetOpportunityHistoricalTVL',
    path: `${path}/tvl`,
    summary: "Show a vault's TVL over time",
    description: `The TVL of a vault, in its base asset and in US dollars. ${points}`,
    query: T.Object(rangeQuery),
    responses: { 200: HistoricalTvlSchema, 400: malformed },
    run: getOpportunityHistoricalTVL,
  }),
]
