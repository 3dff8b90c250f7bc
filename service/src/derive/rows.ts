import type { AttributionKind } from '@openearn/attribution'
import { compareCodes, type Holder } from './lots.js'

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

/**
 * The shares that a declared holder keeps for an account, before and after a transaction; with itself as the wallet its own shares. `detail`:
 * the lots of the account's shares, as `alpha=5 beta=6`; of the holder itself its state, as `formatHolderState` writes it.
 */
export type HeldChange = {
  vaultId: number
  holder: string
  wallet: string
  blockNumber: number
  transactionIndex: number
  before: bigint
  after: bigint
  detailBefore: string
  detailAfter: string
}

/** An asynchronous deposit (in assets) or redemption (in shares) that is not fully consumed. */
export type RequestLot = {
  id: string
  vaultId: number
  /** `refund`: a deposit that completed, for as long as it may be given back. */
  kind: 'deposit' | 'redeem' | 'refund'
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
  /** The assets a redemption is to be paid with, where its request says so. */
  promised: bigint | null
  /** Of a deposit that may be given back: the last second of that time. When a block is later, it is closed, whatever remains. */
  openUntil: bigint | null
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
  /** As of the request. */
  promised: bigint | null
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
  heldChanges: HeldChange[]
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
    heldChanges: [],
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
  /** The requests that time closes, the first to close first. */
  closing: RequestLot[]
  /** Signatures that counted in a vault, by `signatureKey`. */
  signatures: Set<string>
  /** Owners of sub-accounts, by `ownerKey`. */
  owners: Map<string, string>
  /** The shares that declared holders keep for accounts, by `heldKey`. */
  held: Map<string, Holder>
  /** The states of declared holders, by `holderKey`. */
  holderStates: Map<string, HolderState>
}

/** The state of declared holders. */
export type HeldState = Pick<DeriveState, 'held' | 'holderStates'>

/**
 * Whether a declared holder counts. `followed`: not yet, its accounts are only followed. `broken`: from an instant on it is not
 * believed. `ignored`: how many of its events had no Transfer.
 */
export type HolderState = {
  phase: 'followed' | 'counting' | 'broken'
  ignored: number
  brokenAt: number
  reason: string
}

export const freshHolderState: HolderState = { phase: 'followed', ignored: 0, brokenAt: -1, reason: '' }

export function formatHolderState({ phase, ignored, brokenAt, reason }: HolderState): string {
  return `${phase} ${ignored} ${brokenAt} ${reason}`.trimEnd()
}

export function parseHolderState(text: string): HolderState {
  const [phase, ignored, brokenAt, ...reason] = text.split(' ')
  if (phase !== 'counting' && phase !== 'broken') return { ...freshHolderState, ignored: Number(ignored ?? 0) }
  return { phase, ignored: Number(ignored), brokenAt: Number(brokenAt), reason: reason.join(' ') }
}

export function formatLots(lots: ReadonlyMap<string, bigint>): string {
  return [...lots]
    .filter(([, shares]) => shares > 0n)
    .sort(([a], [b]) => compareCodes(a, b))
    .map(([id, shares]) => `${id}=${shares}`)
    .join(' ')
}

/** The shares kept for an account, of their number and its lots as `formatLots` writes them. */
export function toHeld(shares: bigint, lots: string): Holder {
  const parts = lots === '' ? [] : lots.split(' ').map((part) => part.split('=') as [string, string])
  const held = new Map(parts.map(([id, text]) => [id, BigInt(text)]))
  return { shares, lots: held, attributed: [...held.values()].reduce((sum, each) => sum + each, 0n) }
}

export function emptyState(): DeriveState {
  return {
    holders: new Map(),
    requests: new Map(),
    closing: [],
    signatures: new Set(),
    owners: new Map(),
    held: new Map(),
    holderStates: new Map(),
  }
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

/** The key of what a holder keeps for an account; with the holder itself as the account, its own. */
export function heldKey(vaultId: number, holder: string, wallet: string): string {
  return `${vaultId}:${holder}:${wallet}`
}

export function requestKey(vaultId: number, kind: RequestLot['kind'], controller: string): string {
  return `${vaultId}:${kind}:${controller}`
}
