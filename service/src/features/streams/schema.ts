import T from 'typebox'
import { Address, ChainId, Dec, Hex, Nullable, Raw, Ts, TxHash, Uuid } from '../../kernel/wire.js'

const Text = T.String()
const Count = Nullable(T.Integer())
const TextOrNull = Nullable(Text)
const FreeObject = T.Record(T.String(), T.Unknown())

export const StreamTokenSchema = T.Object(
  {
    id: Uuid,
    address: Address,
    chainId: ChainId,
    decimals: T.Integer(),
    symbol: Text,
    name: Text,
    logoUrl: Text,
    isAllowedRewardToken: T.Boolean(),
  },
  { title: 'StreamToken' },
)

export const PointSchema = T.Object(
  {
    id: Uuid,
    orgId: Uuid,
    symbol: Text,
    name: Text,
    decimals: T.Integer(),
    logoUrl: TextOrNull,
    createdAt: Ts,
    updatedAt: Ts,
  },
  { title: 'StreamPoint' },
)

const Rate = T.Union([T.String({ examples: ['1000000'] }), T.Number()])

/** The arguments of a stream as they were given, and what the target is. */
const CustomArgsSchema = T.Object({
  targetTokenId: Uuid,
  tokensPerUSD: T.Optional(Rate),
  apr: T.Optional(Rate),
  tokensPerDay: T.Optional(Rate),
  targetToken: T.Object({
    address: Address,
    symbol: Text,
    chain: T.Object({ chainId: T.String({ pattern: '^[0-9]{1,16}$' }) }),
  }),
})

export const StreamSnapshotSchema = T.Object(
  {
    timestamp: Ts,
    createdAt: Ts,
    updatedAt: Ts,
    amountBase: Nullable(Raw),
    amountDistributed: Nullable(Raw),
    apr: Nullable(Dec),
    baseApr: Nullable(Dec),
    tvl: Nullable(Dec),
    baseTvl: Nullable(Dec),
    rewardTokenPrice: Nullable(Dec),
    rootHash: Nullable(Hex),
    commitTxHash: Nullable(Hex),
    userCount: Count,
    activeUserCount: Count,
    customArgs: FreeObject,
    customMetrics: FreeObject,
  },
  { title: 'StreamSnapshot' },
)

export const WalletSnapshotSchema = T.Object(
  {
    timestamp: Ts,
    createdAt: Ts,
    updatedAt: Ts,
    rewardsAccumulated: Raw,
    rewardsAccumulatedBase: Raw,
    tvl: Nullable(Dec),
    baseTvl: Nullable(Dec),
    apr: Nullable(Dec),
    baseApr: Nullable(Dec),
    customMetrics: FreeObject,
  },
  { title: 'WalletSnapshot' },
)

export const StreamSchema = T.Object(
  {
    id: Uuid,
    orgId: Uuid,
    userId: Nullable(Uuid),
    type: T.Enum([1, 2, 3]),
    strategy: T.Enum(['fixed-rate', 'fixed-apr', 'daily-budget']),
    chainId: Nullable(T.Integer()),
    contractAddress: Nullable(Address),
    admin: Nullable(Address),
    totalAmount: Nullable(Raw),
    feeAmount: Nullable(Raw),
    startTimestamp: Ts,
    endTimestamp: Nullable(Ts),
    createdAt: Ts,
    updatedAt: Ts,
    creationConfirmedAt: Nullable(Ts),
    rewardToken: T.Optional(StreamTokenSchema),
    point: T.Optional(PointSchema),
    customArgs: CustomArgsSchema,
    adapters: T.Array(T.Object({ type: T.String({ examples: ['min-balance'] }), params: FreeObject })),
    claimPaused: T.Boolean(),
    hashCommitmentPaused: T.Boolean(),
    merkleTreeComputationPaused: T.Boolean(),
    snapshotComputationPaused: T.Boolean(),
    lastSnapshot: T.Optional(StreamSnapshotSchema),
    committedSnapshot: T.Optional(StreamSnapshotSchema),
    snapshots: T.Optional(T.Array(StreamSnapshotSchema)),
    snapshotsTruncated: T.Optional(T.Boolean({ description: 'true where there are older snapshots; else absent' })),
  },
  { title: 'Stream' },
)

export const TxParamsSchema = T.Object(
  {
    chainId: ChainId,
    sender: Address,
    to: Address,
    function: T.Enum(['createStream', 'addFunds', 'withdrawFunds']),
    params: T.Object({
      params: T.Object({}, { additionalProperties: T.String() }),
      salt: Nullable(Hex),
      deadline: Text,
      signature: Text,
    }),
    data: Hex,
  },
  { title: 'StreamTxParams' },
)

export const AdminOperationSchema = T.Object(
  {
    id: Uuid,
    streamId: Uuid,
    type: T.Enum(['withdrawal', 'budget-increase']),
    amount: Raw,
    feeAmount: Raw,
    to: Nullable(Address),
    blockingUntil: Ts,
    executed: T.Boolean(),
    executedTxHash: Nullable(Hex),
    txParams: TxParamsSchema,
  },
  { title: 'StreamAdminOperation' },
)

export const WalletStreamSchema = T.Object(
  { streamId: Uuid, userAddress: Address, snapshots: T.Array(WalletSnapshotSchema), stream: StreamSchema },
  { title: 'WalletStream' },
)

export const MerkleProofSchema = T.Object(
  {
    streamId: Uuid,
    chainId: Nullable(T.Integer()),
    contractAddress: Text,
    amount: Nullable(Raw),
    proof: T.Array(Hex),
    rootHash: Text,
    timestamp: Nullable(Ts),
    error: Text,
  },
  { title: 'MerkleProof' },
)

export const StreamClaimSchema = T.Object(
  { userAddress: Address, amount: Raw, txHash: TxHash, blockNumber: T.Integer(), blockTimestamp: Ts },
  { title: 'StreamClaim' },
)
