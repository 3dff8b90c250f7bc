import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { Address, AddressInput, ChainId, Nullable, Ts, Uuid } from '../../kernel/wire.js'
import type { ChainContext } from '../../rpc/chains.js'
import { getIndexingStatus } from './getIndexingStatus.js'

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
      evidence: T.Enum(['trace', 'calldata']),
      traceFrom: Nullable(T.Integer()),
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

/** The operations of status. */
export const statusOperations: readonly Operation<ChainContext>[] = [
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
      'vaults says why; that of a vault that is live says why its share prices and rates are withheld, and that its asset has ' +
      'no price; that of any vault says how many moves of shares went beyond a balance and were cut. `evidence` says whether ' +
      'the nodes of a chain tell how transactions ran (`trace`), or calldata alone ' +
      'tells who brought them; from the block `traceFrom` on no transaction that needed a trace is without one.',
    query: T.Object({ chainId: T.Optional(ChainId), vaultAddress: T.Optional(AddressInput) }),
    responses: { 200: IndexingStatusSchema, 400: malformed },
    run: getIndexingStatus,
  }),
]
