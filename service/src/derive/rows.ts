import type { AttributionKind } from '@openearn/attribution'
import type { Holder } from './lots.js'

/** The position of a transaction in the chain. */
export type TxPosition = {
  number: number
  hash: string
  timestamp: number
  transactionHash: string
  transactionIndex: number
}

/** One wallet's balance of one vault, before and after a transaction. */
export type BalanceChange = {
  vaultId: number
  wallet: string
  blockNumber: number
  transactionIndex: number
  timestamp: number
  before: bigint
  after: bigint
  attributedBefore: bigint
  attributedAfter: bigint
}

/** One lot, before and after a transaction. */
export type LotChange = Omit<BalanceChange, 'attributedBefore' | 'attributedAfter'> & { distributorId: string }

/** The part of a wallet's moves in a transaction that exceeded its known balance, as with a share that rebases. */
export type CutMove = { vaultId: number; wallet: string; blockNumber: number; transactionIndex: number; amount: bigint }

/** An asynchronous deposit (in assets) or redemption (in shares) that is not fully consumed. */
export type RequestLot = {
  id: string
  vaultId: number
  kind: 'deposit' | 'redeem'
  controller: string
  /** The owner of the assets or shares it took. */
  owner: string
  requestId: bigint
  distributorId: string | null
  attribution: AttributionKind | null
  /** Its plan swapped before it. */
  isSwap: boolean
  amount: bigint
  /** The amount that counts for the ledger: all of a deposit; of a redemption the shares its wallet held before. */
  counted: bigint
  /** For a redemption: the lots of these shares, as `alpha=5 beta=6`; the rest was unattributed. */
  lots: string
  remaining: bigint
  cancelled: bigint
  cancelling: boolean
  blockNumber: number
  timestamp: number
  transactionIndex: number
  logIndex: number
  transactionHash: string
}

export type RequestState = Pick<RequestLot, 'remaining' | 'cancelled' | 'cancelling'>

/** The change of a request by one event. */
export type RequestChange = {
  requestId: string
  kind: RequestLot['kind']
  /** The owner of the assets or shares that the request took. */
  owner: string
  vaultId: number
  blockNumber: number
  logIndex: number
  before: RequestState
  after: RequestState
}

/** The part of a wallet in the shares and assets of a transaction's deposits or withdrawals. */
export type EventPart = {
  vaultId: number
  wallet: string
  blockNumber: number
  transactionIndex: number
  kind: 'deposit' | 'withdraw'
  shares: bigint
  /** Shares that the event names and its Transfers did not move. */
  untold: bigint
  assets: bigint
}

/** Shares that a vault minted: sold by a deposit, or minted otherwise. */
export type ShareMint = {
  vaultId: number
  blockNumber: number
  blockHash: string
  timestamp: number
  transactionHash: string
  /** The log of the deposit event; of shares minted otherwise, that of the last mint of the transaction. */
  logIndex: number
  shares: bigint
  /** The payment of a deposit, in the asset of the vault; null where the shares were minted otherwise and name no price. */
  assets: bigint | null
}

/** The change of a wallet's shares that wait for a redemption, by a transaction. */
export type PendingChange = {
  vaultId: number
  wallet: string
  blockNumber: number
  transactionIndex: number
  delta: bigint
}

/** A ledger entry: one deposit or withdrawal of one distributor. */
export type InteractionRow = {
  id: string
  vaultId: number
  kind: 'deposit' | 'withdraw'
  blockNumber: number
  blockHash: string
  timestamp: number
  transactionHash: string
  transactionIndex: number
  logIndex: number
  wallet: string
  distributorId: string
  attribution: AttributionKind
  assets: bigint
  shares: bigint
  isSwap: boolean
}

/** A transaction of a vault whose calldata can carry attribution. */
export type TransactionAttribution = {
  blockNumber: number
  blockHash: string
  timestamp: number
  transactionHash: string
  transactionIndex: number
  from: string
  to: string | null
  distributorId: string | null
  codes: string[]
  schema: string | null
  signatureValid: boolean | null
  actionId: string | null
  /** Reasons why an attribution in its calldata does not count. */
  problems: string[]
}

/** A signature of ours that counted in a vault; it counts there once. */
export type UsedSignatureRow = { vaultId: number; digest: string; blockNumber: number }

/** An account registered at a forwarder as the owner of the addresses that share its first 19 bytes. */
export type OwnerRow = { forwarder: string; prefix: string; owner: string; blockNumber: number }

export type DerivedRows = {
  balanceChanges: BalanceChange[]
  lotChanges: LotChange[]
  /** Requests opened by the block, in their state after it. */
  requests: RequestLot[]
  requestChanges: RequestChange[]
  interactions: InteractionRow[]
  attributions: TransactionAttribution[]
  usedSignatures: UsedSignatureRow[]
  cutMoves: CutMove[]
  owners: OwnerRow[]
  eventParts: EventPart[]
  pendingChanges: PendingChange[]
  shareMints: ShareMint[]
}

export function emptyRows(): DerivedRows {
  return {
    balanceChanges: [],
    lotChanges: [],
    requests: [],
    requestChanges: [],
    interactions: [],
    attributions: [],
    usedSignatures: [],
    cutMoves: [],
    owners: [],
    eventParts: [],
    pendingChanges: [],
    shareMints: [],
  }
}

/**
 * The state that derivation needs besides the block: holders, open requests and used signatures. It must hold every key that
 * `listStateKeys` names for the block. Derivation updates it in place for the next block.
 */
export type DeriveState = {
  holders: Map<string, Holder>
  /** Open requests of a controller, oldest first. */
  requests: Map<string, RequestLot[]>
  /** Signatures that counted in a vault, by `signatureKey`. */
  signatures: Set<string>
  /** Owners of sub-accounts, by `ownerKey`. */
  owners: Map<string, string>
}

export function emptyState(): DeriveState {
  return { holders: new Map(), requests: new Map(), signatures: new Set(), owners: new Map() }
}

export function signatureKey(vaultId: number, digest: string): string {
  return `${vaultId}:${digest}`
}

export function ownerKey(forwarder: string, prefix: string): string {
  return `${forwarder}:${prefix}`
}

export function holderKey(vaultId: number, wallet: string): string {
  return `${vaultId}:${wallet}`
}

export function requestKey(vaultId: number, kind: RequestLot['kind'], controller: string): string {
  return `${vaultId}:${kind}:${controller}`
}
