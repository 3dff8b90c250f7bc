import { type AbiEvent, type Address, getAddress, type Hex, zeroAddress } from 'viem'
import type { Reason } from '../kernel/errors.js'
import type { Read } from '../rpc/multicall.js'
import type { KnownError } from '../rpc/revert.js'
import type { View } from '../rpc/views.js'
import type { MakingCall } from './calls.js'
import type { EmittedEvent } from './events.js'

/** A vault as configured: its asset and its receipt token. */
export type Vault = {
  chainId: number
  address: Address
  asset: Address
  assetDecimals: number
  receiptToken: Address
  receiptDecimals: number
  /** Further contracts of the vault, by the names its kind gives them. */
  contracts?: Readonly<Record<string, Address>>
}

type Kept = { [name in keyof Omit<Vault, 'contracts'>]: Vault[name] extends Address ? string : Vault[name] }

/** A vault as the catalogue keeps it, addresses in any case. */
export function toVault(kept: Kept & { contracts?: Readonly<Record<string, string>> }): Vault {
  const contracts = Object.entries(kept.contracts ?? {}).map(([name, address]) => [name, getAddress(address)])
  return {
    chainId: kept.chainId,
    address: getAddress(kept.address),
    asset: getAddress(kept.asset),
    assetDecimals: kept.assetDecimals,
    receiptToken: getAddress(kept.receiptToken),
    receiptDecimals: kept.receiptDecimals,
    ...(contracts.length > 0 ? { contracts: Object.fromEntries(contracts) } : {}),
  }
}

/** A further contract of a vault; one that is not configured has the zero address, and reads of it fail. */
export function getContract({ contracts }: Pick<Vault, 'contracts'>, name: string): Address {
  return contracts?.[name] ?? zeroAddress
}

export type DepositAsk = {
  vault: Vault
  wallet: Address
  /** The token that enters the vault, after any wrap or swap. */
  tokenIn: Address
  /** Smallest units of `tokenIn`. */
  amount: bigint
  slippageBps: number
}

export type WithdrawAsk = {
  vault: Vault
  wallet: Address
  /** Smallest units of the receipt token. */
  shares: bigint
  /** The token wanted. */
  tokenOut: Address
  slippageBps: number
  /** Ids redemptions the wallet has asked for may have; 0, the default, is the aggregate of a controller. */
  requestIds?: readonly bigint[]
}

export type RequestAsk = {
  vault: Vault
  wallet: Address
  /** Ids the wallet's requests may have; 0 is the aggregate of a controller. Never empty. */
  requestIds: readonly bigint[]
  /** Only this request, where the caller named one. */
  requestId: bigint | undefined
}

/** The parts of a sentence about a call, as a wallet shows them: amounts with their token, parties with their address. */
export type Words = {
  /** The requested amount with its token. */
  amount: string
  token: string
  /** The token that the wallet gets. */
  out: string
  vault: string
  receiver: string
  /** ` through the router` where one passes the call on, else empty. */
  through: string
  /** ` for at least so much` where the call itself takes no less, else empty. */
  least: string
}

/** Describes a call, in words that a wallet shows. */
export type Sentence = (words: Words) => string

/** A call that does what was asked, before the suffix. */
export type VaultCall = {
  to: Address
  data: Hex
  value: bigint
  says: Sentence
  /** Gas limit when no estimate can be had. */
  gasConstant: bigint
  /** The exact amount that leaves the wallet, if any. */
  spends: { token: Address; amount: bigint } | undefined
  /** The token that the wallet receives in this call; undefined if the call pays nothing yet. */
  gains: Address | undefined
  /** The least of it the call takes: with less it reverts; absent where it says none. */
  leastOut?: bigint
  /** The router it goes through, where it does not call the vault itself. */
  router?: Address
}

/** A deposit and the redemption of what it gives, tried by a wallet the vault does not know. */
export type Trial = {
  deposit: VaultCall
  /** Redeems, or asks for it where it waits; the number of shares is the word that begins at this byte. */
  redeem: Pick<VaultCall, 'to' | 'data' | 'gains'>
  sharesAt: bigint
  /** Other ways out, tried where the first does not work and plans take them; the shares stand at the same byte. */
  instead?: readonly (Trial['redeem'] & { onlyIf: Read<boolean> })[]
}

/** A vault's offer for a deposit or withdrawal, and the call that makes it. */
export type Offer = {
  /** Why nothing can be done now, as a sentence; undefined when it can. */
  closed: string | undefined
  /** Why this wallet cannot do it now, though the vault is open: by a reason and a sentence. */
  refused?: { reason: Reason; why: string; context?: Record<string, unknown> }
  /** The vault is not what the catalogue says it is: a sentence; undefined when it is. */
  mismatch: string | undefined
  /** Most units taken now, as the vault says: never to be believed alone. Undefined when it does not say. */
  max: bigint | undefined
  /** The output by the vault's quote; undefined without a quote. */
  quoted: bigint | undefined
  call: VaultCall
  /** The alternative to try if the call reverts in the simulation. */
  instead?: Alternative
}

/** Another call that does what was asked, and the approval it needs first where it takes a token by allowance. */
export type Alternative = {
  call: VaultCall
  /** Exactly `amount` of `token` is approved where `allowance` is less. */
  pulls?: { token: Address; spender: Address; amount: bigint; allowance: bigint }
}

/**
 * `available`: units of the receipt token that can be withdrawn so, claimable ones included; `assets`: their worth;
 * `awaited`: units that were asked for before and can be claimed once the vault has settled the rest of them.
 */
export type WithdrawOffer = Offer & {
  available: bigint | undefined
  assets: bigint | undefined
  awaited?: bigint
  /** The approval that the call itself needs first. */
  pulls?: NonNullable<Alternative['pulls']>
}

/**
 * The offer for a request that waits: a call, or the reason why no call is possible. `amount` is of the asset, or of the receipt
 * token where a redemption is taken back.
 */
export type RequestOffer =
  | { refusal: undefined; call: VaultCall; requestId: bigint; amount: bigint }
  | { refusal: Reason; why: string }

/** Holdings of a vault and the worth of a share, all at one block. */
export type VaultFigures = {
  totalAssets: bigint
  totalSupply: bigint
  /** `convertToAssets(10^priceExponent)`. */
  priceNumerator: bigint
  priceExponent: number
}

/** A vault whose state is read. Addresses in any case. */
export type ObservedVault = {
  address: string
  receiptToken: string
  receiptDecimals: number
  /** The name of its kind; absent: a kind with the views of ERC-4626. */
  kind?: string
  contracts?: Readonly<Record<string, string>>
}

export type FiguresAnswer = {
  /** Undefined when the vault does not answer all of them. */
  figures: VaultFigures | undefined
  /** Its stated maximum of one deposit; undefined if it states none. */
  maxDeposit: bigint | undefined
}

/** The reads of an address that identify a vault of a kind. */
export type Recognised = {
  asset: Address
  receiptToken: Address
  /** The contract that holds shares requested for redemption, if the vault names it. */
  escrow?: Address
  contracts?: Readonly<Record<string, Address>>
  /** Notes for the operator. */
  notes?: readonly string[]
  /** Reads of contracts that the first answers name; by them it may turn out not to be of the kind. */
  next?: Read<Recognised | undefined>
}

/** A further contract of a vault: an escrow, queue, teller, fee or price contract. Its events and calls belong to the vault. */
export type ContractBeside = {
  /** Its purpose, as a sentence for operators. */
  readonly summary: string
  readonly emits: readonly EmittedEvent[]
  readonly calls: readonly MakingCall[]
  /** No contract of the vault names it, and the vault is whole without it. */
  readonly isOptional?: true
}

/** How requests of a kind are told and read. */
export type Requests = {
  /** First topics of the events that open them; the controller is their first or second argument. */
  readonly topics: readonly string[]
  /** The views of a request. Several requests of a controller may share one of them. */
  readonly view: (vault: RequestedVault, asked: RequestName) => RequestViews
}
/** Addresses in any case. */
export type RequestedVault = Pick<ObservedVault, 'address' | 'contracts'>
export type RequestName = { kind: 'deposit' | 'redeem'; requestId: bigint; controller: Address }
/** The part of a request that waits to be settled, and the part that can be claimed now; absent where a request is paid unasked. */
export type RequestViews = { pending: View; claimable?: View }

/** The plans that are built for a vault of a kind. */
export type Plans = {
  /** Who takes the wallet's tokens on a deposit, and so needs the allowance. */
  spender(vault: Vault): Address
  deposit(ask: DepositAsk): Read<Offer>
  withdraw(ask: WithdrawAsk): Read<WithdrawOffer>
  /** How to try it. `amount` is of the vault's asset. */
  trial?(vault: Vault, wallet: Address, amount: bigint): Trial
  /** Absent where deposits complete at once. */
  claimDeposit?(ask: RequestAsk): Read<RequestOffer>
  /** Takes back a deposit that waits, or a redemption where `cancels` says so; absent where nothing can be taken back. */
  cancelDeposit?(ask: RequestAsk): Read<RequestOffer>
}

/** The amounts of a wallet that were redeemed and are not paid out yet. */
export type Cooling = {
  /** Assets that wait. */
  assets: bigint
  /** When all of them may be taken out, in seconds. */
  endsAt: bigint
  /** The contract that holds them: the receiver that the vault names when a wait begins. */
  silo: Address
}

/** One kind of vault: its capabilities, its plans, its events and the calls that make them. One file each. */
export type VaultKind = {
  readonly name: string
  /** A sentence for operators. */
  readonly summary: string
  /** Deposits are requested first, and the Deposit event is the claim. */
  readonly asyncDeposit: boolean
  /** Redemptions are requested first, and the Withdraw event is the claim. */
  readonly asyncRedeem: boolean
  /** The side whose requests a cancellation takes back; absent: deposits. */
  readonly cancels?: 'redeem'
  /** Absent where no side is requested first. */
  readonly requests?: Requests
  /**
   * The amounts of a wallet in cooldown: a redemption burns its shares at once, and a second withdrawal after a wait pays it
   * out. Absent for kinds without a cooldown.
   */
  readonly readCooling?: (vault: Address, wallet: Address) => Read<Cooling | undefined>
  /** Which sides complete at once now, of a kind whose vaults take requests at one time and complete at once at another. */
  readonly readAtOnce?: (vault: ObservedVault) => Read<{ deposit: boolean; withdraw: boolean }>
  /** A redemption is announced, and its shares are burned only after a wait. */
  readonly redeemsLater?: boolean
  /** Takes and pays several tokens: a withdrawal names the one it wants. */
  readonly severalTokens?: boolean
  /** Its deposits may go through the deposit router, which takes `deposit(assets, receiver)` of ERC-4626. */
  readonly routed?: boolean
  /** Events of the vault itself, and what they mean. */
  readonly emits: readonly EmittedEvent[]
  /** Calls to the vault itself that make these events. */
  readonly calls: readonly MakingCall[]
  /** Further contracts of the vault, by name: a catalogue entry gives the address of each. */
  readonly beside?: Readonly<Record<string, ContractBeside>>
  /** Errors in addition to the common ones, with their meaning. */
  readonly errors: readonly KnownError[]
  /** Undefined where a vault is listed and watched only: nothing is built for it. */
  readonly plans: Plans | undefined
  /** Reads its figures and its stated limit; undefined if the price of its shares is not indexed. */
  readonly readFigures: ((vault: ObservedVault) => Read<FiguresAnswer>) | undefined
  /** Reads the token it names as its asset, or a further contract does; absent if `asset()` returns it. */
  readonly readAsset?: (address: Address, contracts: ObservedVault['contracts']) => Read<Address | undefined>
  /** Recognises a vault of this kind by its reads; a sentence if that is not possible. */
  readonly recognise: ((address: Address) => Read<Recognised | undefined>) | string
  /** The storage slot where its vaults keep the address of their escrow, where they do not answer it. */
  readonly escrowSlot?: Hex
}

/** A kind that plans are built for. */
export type PlannedKind = VaultKind & { readonly plans: Plans }

/** All declared events of a vault of the kind and of its further contracts. */
export function listEvents({ emits, beside = {} }: VaultKind): AbiEvent[] {
  return [...emits, ...Object.values(beside).flatMap((contract) => contract.emits)].map(({ event }) => event)
}
