import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import {
  addressForm,
  List,
  OpenEnum,
  PaginationNavSchema,
  PaginationSchema,
  pageQuery,
  Uuid,
} from '../../kernel/wire.js'
import { ActivitySchema, interactionTypes } from './activity.js'
import { getDistributorDeposits } from './getDistributorDeposits.js'
import { getWalletActivity } from './getWalletActivity.js'
import { type LedgerContext, listInteractions } from './listInteractions.js'
import { sortKeys } from './storePages.js'

const malformed = 'A parameter is malformed'
const common = { method: 'GET', access: 'publishable', cost: 2, tag: 'Ledger' } as const

/** The operations of the ledger. */
export const ledgerOperations: readonly Operation<LedgerContext>[] = [
  defineOperation({
    ...common,
    operationId: 'ListInteractions',
    path: '/v2/interactions/',
    summary: 'List interactions',
    description:
      "Verified deposits and withdrawals: at or past the chain's confirmation depth, and not taken back by a " +
      'reorganisation. The date sort is by block time, chain, block and log. ' +
      'With `after` the answer has `next` in place of `pagination`: entries in the order in which they were told as confirmed, ' +
      'oldest first, and the place to go on from. Entries that were taken back are told by GetEvents alone.',
    query: T.Object({
      ...pageQuery,
      interactionType: T.Optional(T.Enum([...interactionTypes], { description: 'Absent returns both' })),
      distributorId: T.Optional(T.String({ description: 'Builder code' })),
      opportunityId: T.Optional(Uuid),
      productId: T.Optional(Uuid),
      sortBy: T.Optional(OpenEnum(sortKeys, { default: 'date' })),
      sortOrder: T.Optional(OpenEnum(['asc', 'desc'], { default: 'desc' })),
      after: T.Optional(
        T.String({ description: 'A cursor of GetEvents, `next`, or the id of an entry; not with `sortBy` or `page`' }),
      ),
    }),
    responses: {
      200: T.Object({
        data: T.Array(ActivitySchema),
        pagination: T.Optional(PaginationSchema),
        next: T.Optional(T.String({ description: 'With `after`: the cursor to go on from' })),
      }),
      400: malformed,
      410: 'The event of `after` is not in the feed, or its entry was taken back (reason `CURSOR_GONE`); `context.oldest` is a valid cursor',
    },
    run: listInteractions,
  }),
  defineOperation({
    ...common,
    operationId: 'GetDistributorDeposits',
    path: '/v2/deposit/{distributorId}',
    summary: "List a distributor's deposits",
    description: 'Verified deposits attributed to the distributor, newest first.',
    params: T.Object({ distributorId: T.String({ description: 'Builder code' }) }),
    query: T.Object({
      ...pageQuery,
      opportunityId: T.Optional(Uuid),
      productId: T.Optional(Uuid),
    }),
    responses: {
      200: T.Object({ deposits: T.Array(ActivitySchema), pagination: PaginationNavSchema }),
      400: malformed,
      404: 'No such distributor',
    },
    run: getDistributorDeposits,
  }),
  defineOperation({
    ...common,
    operationId: 'GetWalletActivity',
    path: '/v2/wallets/activity/',
    summary: "List wallets' activity",
    description: 'Verified deposits and withdrawals of up to 1,000 wallets, newest first.',
    query: T.Object({
      ...pageQuery,
      addresses: List({ maxItems: 1_000, form: addressForm, description: 'EVM addresses, any case' }),
    }),
    responses: {
      200: T.Object({ activity: T.Array(ActivitySchema), pagination: PaginationNavSchema }),
      400: malformed,
    },
    run: getWalletActivity,
  }),
]
