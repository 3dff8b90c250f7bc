import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { Address, AddressInput, ChainId, Nullable, Raw, Ts, TxHash, Uuid } from '../../kernel/wire.js'
import type { ChainContext } from '../../rpc/chains.js'
import { getIndexingStatus } from '../status/index.js'
import { getWalletRequests } from './getWalletRequests.js'

const states = ['not-started', 'backfilling', 'live', 'stalled', 'paused'] as const
const malformed = 'A parameter is malformed'

const IndexingStatusSchema = T.Object({
  chains: T.Array(
    T.Object({
      chainId: ChainId,
      name: T.String(),
      headBlock: T.Integer(),
      indexedBlock: T.Integer(),
      finalizedBlock: Nullable(T.Integer()),
      lagBlocks: T.Integer(),
      lagSeconds: T.Integer(),
      state: T.Enum([...states]),
      reorgs24h: T.Integer(),
      updatedAt: Nullable(Ts),
    }),
  ),
  vaults: T.Array(
    T.Object({
      chainId: ChainId,
      vaultAddress: Address,
      opportunityId: Nullable(Uuid),
      protocol: T.String(),
      state: T.Enum([...states, 'unsupported']),
      firstSnapshotAt: Nullable(Ts),
      lastSnapshotAt: Nullable(Ts),
      reason: Nullable(T.String()),
      retryAfterSeconds: Nullable(T.Integer()),
      drift: T.Object({ checkedAt: Nullable(Ts), samples: T.Integer(), mismatches: T.Integer() }),
    }),
  ),
  attributionSigners: T.Array(T.Object({ address: Address, from: Ts, to: Nullable(Ts) })),
})

const WalletRequestsSchema = T.Object({
  requests: T.Array(
    T.Object({
      opportunityId: Uuid,
      kind: T.Enum(['deposit', 'redeem']),
      requestId: T.String(),
      state: T.Enum(['pending', 'claimable', 'claimed', 'cancelling', 'cancelled']),
      assets: Nullable(Raw),
      shares: Nullable(Raw),
      claimable: Raw,
      distributorId: Nullable(T.String()),
      requestedAt: Ts,
      txHash: TxHash,
    }),
  ),
})

/** The operations of positions. */
export const positionsOperations: readonly Operation<ChainContext>[] = [
  defineOperation({
    operationId: 'GetIndexingStatus',
    method: 'GET',
    path: '/v2/indexing-status/',
    access: 'publishable',
    cost: 1,
    tag: 'Indexing',
    summary: 'Show how far chains and vaults are indexed',
    description:
      'Where each watched chain and each vault stands, and the addresses of the keys that signed attributions, present ' +
      'and retired. `drift` says how samples compared with the chain: balances of holders, and deposits, withdrawals and ' +
      'requests of ranges of blocks. A stalled chain is as far behind as its last block is old; the `reason` of its ' +
      'vaults says why.',
    query: T.Object({ chainId: T.Optional(ChainId), vaultAddress: T.Optional(AddressInput) }),
    responses: { 200: IndexingStatusSchema, 400: malformed },
    run: getIndexingStatus,
  }),
  defineOperation({
    operationId: 'GetWalletRequests',
    method: 'GET',
    path: '/v2/wallets/{address}/requests',
    access: 'publishable',
    cost: 2,
    tag: 'Wallets',
    summary: "List a wallet's requests",
    description: 'Asynchronous deposits and redemptions of a wallet, oldest first, and what of them can be claimed.',
    params: T.Object({ address: AddressInput }),
    responses: { 200: WalletRequestsSchema, 400: malformed, 503: 'A chain with an open request cannot be read' },
    run: getWalletRequests,
  }),
]
