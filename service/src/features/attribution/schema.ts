import T, { type Static, type TSchema } from 'typebox'
import { Address, ChainId, Hex, Nullable, Raw, Ts, TxHash, Uuid } from '../../kernel/wire.js'
import { actionKinds } from '../plans/index.js'

/** Query `chainId` that may be absent, empty or `null`. */
export const OptionalChainId = T.Optional(
  T.Integer({ minimum: 1, nullable: true, description: 'Narrows the look-up and inspects the calldata' }),
)

const FreeObject = T.Record(T.String(), T.Unknown())

const suffixMembers = {
  found: T.Boolean(),
  schema: Nullable(T.Enum(['erc8021-0', 'erc8021-1', 'erc8021-2', 'legacy'])),
  placement: Nullable(T.Enum(['transaction', 'userOperation', 'innerCall'])),
  app: Nullable(T.String()),
  wallet: Nullable(T.String()),
  services: T.Array(T.String()),
  codes: T.Array(T.String()),
  registries: Nullable(FreeObject),
  metadata: Nullable(FreeObject),
  suffix: Nullable(Hex),
  start: Nullable(T.Integer({ description: 'First byte in the transaction input' })),
  end: Nullable(T.Integer({ description: 'The byte after the last' })),
  signature: T.Object({ present: T.Boolean(), valid: T.Boolean(), signer: Nullable(Address) }),
  problems: T.Array(T.String()),
}

export const InspectionSchema = T.Object({
  ...suffixMembers,
  stacked: T.Array(T.Object(suffixMembers), { description: 'Further suffixes inwards' }),
})

export const actionStatuses = ['built', 'submitted', 'verified', 'reverted', 'expired'] as const

export const ActionSchema = T.Object({
  actionId: Uuid,
  kind: T.String(),
  status: T.Enum([...actionStatuses]),
  createdAt: Ts,
})

/** The states of one transaction of an action. */
export const transactionStates = ['pending', 'mined', 'confirmed', 'reverted'] as const

const TransactionSchema = T.Object({
  txHash: TxHash,
  blockNumber: Nullable(T.Integer()),
  state: T.Enum([...transactionStates]),
})

export const actionDetailSchema = <A extends TSchema>(activity: A) =>
  T.Object({
    actionId: Uuid,
    kind: T.Enum([...actionKinds]),
    status: T.Enum([...actionStatuses]),
    opportunityId: Nullable(Uuid),
    chainId: ChainId,
    walletAddress: Address,
    distributorId: Nullable(T.String()),
    createdAt: Ts,
    validUntil: Ts,
    transactions: T.Array(TransactionSchema, {
      description: 'Transactions seen to carry the action, oldest block first, at most 100',
    }),
    interactions: T.Array(activity, { description: 'Verified entries of these transactions, of this wallet' }),
  })

export const WatchedSchema = T.Object({
  chainId: T.Integer(),
  blockNumber: T.Integer(),
  blockHash: TxHash,
  timestamp: Ts,
  from: Address,
  to: Nullable(Address),
  distributorId: Nullable(T.String()),
  codes: T.Array(T.String()),
  schema: Nullable(T.String()),
  signatureValid: Nullable(T.Boolean()),
  evidence: T.Enum(['trace', 'calldata']),
  retracted: T.Boolean(),
})

export const attributionSchema = <A extends TSchema>(activity: A) =>
  T.Object({
    txHash: TxHash,
    chainId: Nullable(T.Integer()),
    attributed: T.Boolean(),
    distributorId: Nullable(T.String()),
    codes: T.Array(T.String()),
    source: Nullable(T.Enum(['interaction', 'watcher', 'calldata'])),
    action: Nullable(ActionSchema),
    interactions: T.Array(activity),
    watched: T.Array(WatchedSchema),
    calldata: Nullable(InspectionSchema),
    omitted: T.Object(
      { codes: T.Integer(), interactions: T.Integer(), watched: T.Integer(), stacked: T.Integer() },
      { description: 'Counted, and not listed: a response is at most 256 KiB' },
    ),
  })

export const TrackingMetadataSchema = T.Object({
  distributorId: T.String(),
  referralCode: T.String(),
  actionId: T.String(),
  action: T.String(),
  opportunityId: T.String(),
  tokenIn: T.String(),
  amount: T.String(),
  amountUsd: T.String(),
  tokenInDecimals: T.Integer(),
})

export const ProofSchema = T.Object({
  chainId: T.Integer(),
  blockNumber: T.Integer(),
  blockHash: TxHash,
  transactionIndex: T.Integer(),
  success: T.Boolean({ description: 'false: the transaction reverted, and its attribution has no effect' }),
  inspection: InspectionSchema,
  events: T.Array(T.Object({ address: Address, logIndex: T.Integer(), name: T.String(), args: FreeObject })),
})

export const TrackingSchema = T.Object({
  tag: T.String(),
  metadata: TrackingMetadataSchema,
  signatureValid: T.Boolean(),
  error: T.String({ description: 'Empty exactly when the signature is valid' }),
  proof: ProofSchema,
})

export type ActionBody = Static<typeof ActionSchema>
export type ShownTransaction = Static<typeof TransactionSchema>
export type WatchedBody = Static<typeof WatchedSchema>
export type TrackingMetadata = Static<typeof TrackingMetadataSchema>
export type Tracking = Static<typeof TrackingSchema>
export type DecodedEvent = Tracking['proof']['events'][number]

const PathSchema = T.Object({
  index: T.Integer({ description: 'The place in the block, from 0' }),
  path: T.Array(Hex, { description: 'The nodes of the trie from the root to the leaf, in RLP' }),
})

/** A proof of a transaction's entries against its block's hash, as `verifyProof` of the sdk reads it. */
export const AttributionProofSchema = T.Object({
  version: T.Integer({ description: '1' }),
  chainId: ChainId,
  txHash: TxHash,
  blockHash: Hex,
  header: Hex,
  transaction: PathSchema,
  receipt: PathSchema,
  entries: T.Array(
    T.Object({
      id: T.String({ description: 'Chain, block hash, transaction hash, log, distributor and wallet, by colons' }),
      logIndex: T.Integer({ description: "The place of the vault's event among the logs of the receipt, from 0" }),
      distributorId: T.String(),
      walletAddress: Address,
      amountRaw: Raw,
      rule: T.Enum(['signed', 'unsigned']),
      restsOn: T.Array(T.Enum(['path', 'trace', 'state', 'history', 'configuration'])),
    }),
  ),
})

export type AttributionProof = Static<typeof AttributionProofSchema>
