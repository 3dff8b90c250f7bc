import { type AbiEvent, type Address, getAddress, type Hex, zeroAddress } from 'viem'
import type { Read } from '../rpc/multicall.js'
import type { KnownError } from '../rpc/revert.js'
import type { MakingCall } from './calls.js'
import type { EmittedEvent } from './events.js'

/** A vault as configured: what it takes, what it gives. */
export type Vault = {
  chainId: number
  address: Address
  asset: Address
  assetDecimals: number
  receiptToken: Address
  receiptDecimals: number
  /** Contracts beside the vault, by the name its kind gives them. */
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

/** A contract beside a vault; one that is not configured has no address, and what is asked of it is refused. */
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
  /** What was asked for, and the token it is of. */
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

/** What a call does, in words a wallet shows. */
export type Sentence = (words: Words) => string

/** A call that does what was asked, before the suffix. */
export type VaultCall = {
  to: Address
  data: Hex
  value: bigint
  says: Sentence
  /** Gas limit when no estimate can be had. */
  gasConstant: bigint
  /** What leaves the wallet, to the unit; undefined when nothing does. */
  spends: { token: Address; amount: bigint } | undefined
  /** What the wallet gets more of in this call; undefined where it pays nothing yet. */
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

/** What a vault says about a deposit or withdrawal, and the call that makes it. */
export type Offer = {
  /** Why nothing can be done now, as a sentence; undefined when it can. */
  closed: string | undefined
  /** The vault is not what the catalogue says it is: a sentence; undefined when it is. */
  mismatch: string | undefined
  /** Most units taken now, as the vault says: never to be believed alone. Undefined when it does not say. */
  max: bigint | undefined
  /** What the wallet would get, as the vault quotes it; undefined when it gives no quote. */
  quoted: bigint | undefined
  call: VaultCall
  /** What to try where the call is seen to revert. */
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
export type WithdrawOffer = Offer & { available: bigint | undefined; assets: bigint | undefined; awaited?: bigint }

/** What can be done about a pending deposit: the call, or why there is none. */
export type RequestOffer =
  | { refusal: undefined; call: VaultCall; requestId: bigint; assets: bigint }
  | { refusal: 'NOTHING_PENDING' | 'NOT_CLAIMABLE'; why: string }

/** What a vault holds and what a share is worth, all at one block. */
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
  /** The name of its kind; absent: one that answers as ERC-4626 does. */
  kind?: string
  contracts?: Readonly<Record<string, string>>
}

export type FiguresAnswer = {
  /** Undefined when the vault does not answer all of them. */
  figures: VaultFigures | undefined
  /** What it says one deposit may bring; undefined when it does not say. */
  maxDeposit: bigint | undefined
}

/** What an address answers that is a vault of a kind. */
export type Recognised = {
  asset: Address
  receiptToken: Address
  /** What holds shares that are requested to be redeemed, where the vault names it. */
  escrow?: Address
  contracts?: Readonly<Record<string, Address>>
  /** What an operator should look at. */
  notes?: readonly string[]
}

/** A contract beside a vault: an escrow, queue, teller, fee or price contract. What it emits and is called for is the vault's. */
export type ContractBeside = {
  /** What it does, as a sentence for operators. */
  readonly summary: string
  readonly emits: readonly EmittedEvent[]
  readonly calls: readonly MakingCall[]
}

/** What is built for a vault of a kind. */
export type Plans = {
  /** Who takes the wallet's tokens on a deposit, and so needs the allowance. */
  spender(vault: Vault): Address
  deposit(ask: DepositAsk): Read<Offer>
  withdraw(ask: WithdrawAsk): Read<WithdrawOffer>
  /** How to try it. `amount` is of the vault's asset. */
  trial?(vault: Vault, wallet: Address, amount: bigint): Trial
  /** Absent where deposits complete at once. */
  claimDeposit?(ask: RequestAsk): Read<RequestOffer>
  /** Absent where a deposit cannot be cancelled. */
  cancelDeposit?(ask: RequestAsk): Read<RequestOffer>
}

/** What of a wallet was redeemed and is not paid out yet. */
export type Cooling = {
  /** Assets that wait. */
  assets: bigint
  /** When all of them may be taken out, in seconds. */
  endsAt: bigint
  /** What they wait in: the receiver that the vault names where a wait began. */
  silo: Address
}

/** One kind of vault: what it can do, how it builds, what it emits and which calls make that. One file each. */
export type VaultKind = {
  readonly name: string
  /** A sentence for operators. */
  readonly summary: string
  /** Deposits are requested first, and the Deposit event is the claim. */
  readonly asyncDeposit: boolean
  /** Redemptions are requested first, and the Withdraw event is the claim. */
  readonly asyncRedeem: boolean
  /**
   * What of a wallet cools down: a redemption burns its shares at once, and is paid out by a second withdrawal after a
   * wait. Absent where none does.
   */
  readonly readCooling?: (vault: Address, wallet: Address) => Read<Cooling | undefined>
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
  /** Contracts beside the vault, by name: a catalogue entry gives the address of each. */
  readonly beside?: Readonly<Record<string, ContractBeside>>
  /** Errors beside the common ones, and what they mean. */
  readonly errors: readonly KnownError[]
  /** Undefined where a vault is listed and watched only: nothing is built for it. */
  readonly plans: Plans | undefined
  /** What its figures are and which limit it states; undefined where the price of its shares is not indexed. */
  readonly readFigures: ((vault: ObservedVault) => Read<FiguresAnswer>) | undefined
  /** The token it names as its asset; absent where `asset()` answers it. */
  readonly readAsset?: (address: Address) => Read<Address | undefined>
  /** What tells a vault of this kind by its answers; a sentence where nothing does. */
  readonly recognise: ((address: Address) => Read<Recognised | undefined>) | string
  /** The storage slot where its vaults keep the address of their escrow, where they do not answer it. */
  readonly escrowSlot?: Hex
}

/** A kind that plans are built for. */
export type PlannedKind = VaultKind & { readonly plans: Plans }

/** Everything a vault of the kind and the contracts beside it emit, as it is declared. */
export function listEvents({ emits, beside = {} }: VaultKind): AbiEvent[] {
  return [...emits, ...Object.values(beside).flatMap((contract) => contract.emits)].map(({ event }) => event)
}
