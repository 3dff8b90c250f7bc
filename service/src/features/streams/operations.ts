import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import {
  AddressInput,
  ChainId,
  count,
  List,
  Nullable,
  PaginationNavSchema,
  pageQuery,
  Raw,
  TsInput,
  Uuid,
  uuidForm,
} from '../../kernel/wire.js'
import type { StreamContext } from './context.js'
import { createStream } from './createStream.js'
import { assertMayCreatePoints, createStreamPoint, incentivize } from './createStreamPoint.js'
import { createStreamWithdrawal, expirationDefault, expirationMax } from './createStreamWithdrawal.js'
import { getActiveAdminOperation } from './getActiveAdminOperation.js'
import { getMerkleProofs } from './getMerkleProofs.js'
import { getStreamClaims } from './getStreamClaims.js'
import { getStreamPoints } from './getStreamPoints.js'
import { computeGetStreamsCost, getStreams } from './getStreams.js'
import { getStreamsForWallet } from './getStreamsForWallet.js'
import { getStreamTokens } from './getStreamTokens.js'
import { getStreamWallet } from './getStreamWallet.js'
import { getStreamWallets } from './getStreamWallets.js'
import { increaseStreamBudget } from './increaseStreamBudget.js'
import { computeBulkCost, postStreamsBulk } from './postStreamsBulk.js'
import {
  AdminOperationSchema,
  MerkleProofSchema,
  PointSchema,
  StreamClaimSchema,
  StreamSchema,
  StreamTokenSchema,
  TxParamsSchema,
  WalletSnapshotSchema,
  WalletStreamSchema,
} from './schema.js'

const malformed = 'A parameter is malformed'
const notYours = 'The stream is of another organization, or the key lacks the permission'
const maybe = <S extends Parameters<typeof Nullable>[0]>(schema: S) => T.Optional(Nullable(schema))

const snapshotsShown =
  'the newest 100 of a stream and 2,000 in all, of the newest streams first; a stream of which some are left out has ' +
  'snapshotsTruncated. Each 500 of them cost a unit more'
const shown = {
  withSnapshots: T.Optional(T.Boolean({ description: `Adds snapshots, newest first: ${snapshotsShown}` })),
  usersCount: T.Optional(T.Boolean({ description: 'false leaves the counts of wallets null', default: true })),
}
const Expiration = maybe(
  T.Integer({
    ...{ minimum: 1, maximum: expirationMax, default: expirationDefault },
    description: 'Seconds the signature is good for',
  }),
)
const Rate = (description: string) => maybe(T.Union([T.String({ examples: ['1000000'] }), T.Number()], { description }))

const CreateStreamBody = T.Object({
  type: T.Integer({ minimum: 1, maximum: 3, description: '1 fixed rate, 2 fixed APR, 3 daily budget' }),
  startTimestamp: TsInput,
  endTimestamp: maybe(TsInput),
  totalAmount: maybe(Raw),
  rewardTokenId: maybe(Uuid),
  pointId: maybe(Uuid),
  walletAddress: maybe(AddressInput),
  customArgs: T.Object({
    targetTokenId: Uuid,
    tokensPerUSD: Rate('Type 1: smallest units of the reward per 1,000 USD a day'),
    apr: Rate('Type 2: a fraction, 0.09 is 9 %'),
    tokensPerDay: Rate('Type 3: smallest units of the reward'),
  }),
  adapters: maybe(
    T.Array(T.Object({ type: T.String(), params: T.Record(T.String(), T.Unknown()) }), {
      maxItems: 16,
      description: 'allowlist, blocklist, boost, min-balance; applied in this order',
    }),
  ),
})

const read = { method: 'GET', tag: 'Streams', access: 'publishable' } as const
const administer = { tag: 'Streams', access: 'secret', permission: incentivize, cost: 10 } as const

export const streamOperations: readonly Operation<StreamContext>[] = [
  defineOperation({
    ...{ operationId: 'CreateStream', method: 'POST', path: '/v2/streams/', ...administer },
    summary: 'Create a reward stream',
    description:
      'A stream of points is created at once. For a stream that pays a token the creation is signed: its admin sends it, and the stream is listed once it is confirmed.',
    body: CreateStreamBody,
    bodyName: 'CreateStreamInput',
    responses: {
      200: T.Object({
        message: T.String(),
        stream: StreamSchema,
        txParams: T.Optional(TxParamsSchema),
        feeAmount: Raw,
      }),
      400: 'The terms do not fit each other, or name a token, points or chain that cannot be used',
      403: 'The key lacks the permission',
      503: 'The chain of the reward cannot be read, or nothing can be signed',
    },
    run: createStream,
  }),
  defineOperation({
    ...{ operationId: 'GetStreams', path: '/v2/streams/', ...read, cost: 2 },
    summary: 'List reward streams',
    description: 'Confirmed streams of all organizations, oldest first.',
    query: T.Object({ id: T.Optional(Uuid), orgId: T.Optional(Uuid), ...shown }),
    responses: { 200: T.Object({ streams: T.Array(StreamSchema) }), 400: malformed },
    costMore: computeGetStreamsCost,
    run: getStreams,
  }),
  defineOperation({
    ...{ operationId: 'PostStreamsBulk', path: '/v2/streams/bulk', ...read, method: 'POST', cost: 2 },
    summary: 'List reward streams by filters',
    description:
      'Filters are joined by and, their values by or. Without page and limit (or its aliases) the response has no pagination.',
    query: T.Object({
      page: count('From 1; below 1 is 1'),
      limit: count('Items a page, 1 to 500'),
      ...{ pageLimit: pageQuery.pageLimit, pageSize: pageQuery.pageSize },
    }),
    body: T.Object({
      ids: maybe(T.Array(Uuid, { maxItems: 200 })),
      organizationIds: maybe(T.Array(Uuid, { maxItems: 200 })),
      targetChainIds: maybe(T.Array(ChainId, { maxItems: 200 })),
      targetTokens: maybe(T.Array(T.Object({ chainId: ChainId, address: AddressInput }), { maxItems: 200 })),
      withSnapshots: maybe(T.Boolean({ description: `Adds snapshots: ${snapshotsShown}` })),
      usersCount: maybe(T.Boolean()),
    }),
    bodyName: 'PostStreamsBulkInput',
    responses: {
      200: T.Object({ streams: T.Array(StreamSchema), pagination: T.Optional(PaginationNavSchema) }),
      400: 'A parameter is malformed, or there is neither a filter nor a limit',
    },
    costMore: computeBulkCost,
    run: postStreamsBulk,
  }),
  defineOperation({
    ...{ operationId: 'GetStreamTokens', path: '/v2/streams/tokens', ...read, cost: 2 },
    summary: 'List tokens of streams',
    description: 'Tokens that can be the target of a stream or, where allowed, its reward.',
    query: T.Object({ chainId: T.Optional(ChainId) }),
    responses: { 200: T.Object({ tokens: T.Array(StreamTokenSchema) }), 400: malformed },
    run: getStreamTokens,
  }),
  defineOperation({
    ...{ operationId: 'GetStreamPoints', path: '/v2/streams/points', ...read, cost: 2 },
    summary: 'List points',
    description: 'Points of all organizations. Names compare exactly, symbols without case.',
    query: T.Object({
      ...{ id: T.Optional(Uuid), orgId: T.Optional(Uuid) },
      ...{ symbol: T.Optional(T.String()), name: T.Optional(T.String()) },
    }),
    responses: { 200: T.Object({ points: T.Array(PointSchema) }), 400: malformed },
    run: getStreamPoints,
  }),
  defineOperation({
    ...{ operationId: 'CreateStreamPoint', method: 'POST', path: '/v2/streams/points' },
    ...{ tag: 'Streams', access: 'secret', cost: 10 },
    summary: 'Create points',
    description: 'A unit a stream can give that is on no chain. Its symbol is unique in the organization.',
    body: T.Object({
      symbol: T.String({ minLength: 1, maxLength: 64 }),
      name: T.String({ minLength: 1, maxLength: 200 }),
      decimals: maybe(T.Integer({ minimum: 0, maximum: 36, default: 18 })),
      logoUrl: maybe(
        T.String({ pattern: '^https?://[^\\s]+$', maxLength: 2048, says: 'must be an http or https url' }),
      ),
    }),
    bodyName: 'CreateStreamPointInput',
    assertMayRepeat: (_ctx, _input, caller) => assertMayCreatePoints(caller),
    responses: {
      200: T.Object({ point: PointSchema }),
      400: malformed,
      403: 'The key lacks the permission',
      409: 'The organization has points of this symbol',
    },
    run: createStreamPoint,
  }),
  defineOperation({
    ...{ operationId: 'GetStreamsForWallet', path: '/v2/streams/wallets/{address}', ...read, cost: 2 },
    summary: "List a wallet's streams",
    description: 'The streams a wallet has a snapshot in; without withSnapshots only the latest of each.',
    params: T.Object({ address: AddressInput }),
    query: T.Object({ withSnapshots: T.Optional(T.Boolean()) }),
    responses: { 200: T.Object({ streams: T.Array(WalletStreamSchema) }), 400: malformed },
    run: getStreamsForWallet,
  }),
  defineOperation({
    ...{ operationId: 'GetMerkleProofs', path: '/v2/streams/merkle_proofs', ...read, cost: 3 },
    summary: 'List proofs of claims',
    description: 'The cumulative amount that a wallet may claim in each stream, with the proof for its contract.',
    query: T.Object({
      wallet: AddressInput,
      streamIds: List({ form: uuidForm, description: 'Ids of streams', asArray: true }),
    }),
    responses: { 200: T.Object({ proofs: T.Array(MerkleProofSchema) }), 400: malformed },
    run: getMerkleProofs,
  }),
  defineOperation({
    ...{ operationId: 'GetStreamWallets', path: '/v2/streams/{id}/wallets', ...read, cost: 2 },
    summary: 'List the wallets of a stream',
    description: 'Wallets of the newest snapshot, the highest rewards first.',
    params: T.Object({ id: Uuid }),
    query: T.Object(pageQuery),
    responses: {
      200: T.Object({
        data: T.Array(T.Object({ userAddress: T.String(), lastSnapshot: WalletSnapshotSchema })),
        pagination: PaginationNavSchema,
      }),
      400: malformed,
      404: 'No such stream',
    },
    run: getStreamWallets,
  }),
  defineOperation({
    ...{ operationId: 'GetStreamWallet', path: '/v2/streams/{id}/wallets/{address}', ...read, cost: 2 },
    summary: 'Show the rewards of a wallet in a stream',
    description: 'Its snapshots, newest first, and the stream.',
    params: T.Object({ id: Uuid, address: AddressInput }),
    responses: {
      200: T.Object({ wallet: WalletStreamSchema }),
      400: malformed,
      404: 'No such stream, or the wallet has no snapshot in it',
    },
    run: getStreamWallet,
  }),
  defineOperation({
    ...{ operationId: 'GetStreamClaims', path: '/v2/streams/{id}/claims', ...read, cost: 2 },
    summary: 'List the claims of a stream',
    description: 'Confirmed claims of its rewards, newest first. Amounts are in smallest units of the reward.',
    params: T.Object({ id: Uuid }),
    query: T.Object(pageQuery),
    responses: {
      200: T.Object({ data: T.Array(StreamClaimSchema), pagination: PaginationNavSchema }),
      400: malformed,
      404: 'No such stream',
    },
    run: getStreamClaims,
  }),
  defineOperation({
    ...{ operationId: 'CreateStreamWithdrawal', method: 'POST', path: '/v2/streams/{id}/withdrawals', ...administer },
    summary: 'Sign a withdrawal from a stream',
    description:
      'Withdraws holdings above the amount that the stream must keep: its budget while it runs, the allocated amount once it is fully processed. The admin sends txParams.',
    params: T.Object({ id: Uuid }),
    body: T.Object({ to: maybe(AddressInput), amount: maybe(Raw), signatureExpirationSeconds: Expiration }),
    bodyName: 'CreateStreamWithdrawalInput',
    responses: {
      200: AdminOperationSchema,
      400: 'Nothing or less than asked can be withdrawn, or the stream holds no tokens or is not confirmed',
      403: notYours,
      404: 'No such stream',
      409: 'Another operation is active on the stream',
      503: 'The chain of the stream cannot be read, or nothing can be signed',
    },
    run: createStreamWithdrawal,
  }),
  defineOperation({
    ...{ operationId: 'IncreaseStreamBudget', method: 'POST', path: '/v2/streams/{id}/budget-increases' },
    ...administer,
    summary: "Sign an increase of a stream's budget",
    description: 'The amount is net; the fee comes on top. The admin sends txParams.',
    params: T.Object({ id: Uuid }),
    body: T.Object({ amount: Raw, signatureExpirationSeconds: Expiration }),
    bodyName: 'IncreaseStreamBudgetInput',
    responses: {
      200: AdminOperationSchema,
      400: 'The stream has ended, has a daily budget, holds no tokens or is not confirmed',
      403: notYours,
      404: 'No such stream',
      409: 'Another operation is active on the stream',
      503: 'Nothing can be signed',
    },
    run: increaseStreamBudget,
  }),
  defineOperation({
    ...{ operationId: 'GetActiveAdminOperation', method: 'GET' },
    ...{ path: '/v2/streams/{id}/admin-operations/active', ...administer, cost: 2 },
    summary: 'The operation that blocks a stream',
    description: 'With the parameters that were signed for it, and whether they were executed.',
    params: T.Object({ id: Uuid }),
    responses: {
      200: AdminOperationSchema,
      400: malformed,
      403: notYours,
      404: 'No such stream, or no operation blocks it',
    },
    run: getActiveAdminOperation,
  }),
]
