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
      'The state of each watched chain and each vault, and the addresses of the keys that signed attributions, present ' +
      'and retired. `drift` compares samples with the chain: balances of holders, and deposits, withdrawals and ' +
      'requests of ranges of blocks. A stalled chain is as far behind as its last block is old. The `reason` of a vault ' +
      'explains why its chain is stalled; for a live vault, why its share prices and rates are withheld, and that its asset ' +
      'has no price; and it counts moves of shares that exceeded a known balance. `evidence` shows whether the nodes of ' +
      'a chain return traces (`trace`), or only calldata decides; from the block `traceFrom` on every transaction that ' +
      'needed a trace has one.',
    query: T.Object({ chainId: T.Optional(ChainId), vaultAddress: T.Optional(AddressInput) }),
    responses: { 200: IndexingStatusSchema, 400: malformed },
    run: getIndexingStatus,
  }),
]
