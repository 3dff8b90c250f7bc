import { type Abi, type AbiEvent, type Address, getAddress, type Hex } from 'viem'
import type { Read } from '../rpc/multicall.js'

/** A vault as configured: what it takes, what it gives. */
export type Vault = {
  chainId: number
  address: Address
  asset: Address
  assetDecimals: number
  receiptToken: Address
  receiptDecimals: number
}

/** A vault as the catalogue keeps it, addresses in any case. */
export function toVault(kept: { [name in keyof Vault]: Vault[name] extends Address ? string : Vault[name] }): Vault {
  return {
    chainId: kept.chainId,
    address: getAddress(kept.address),
    asset: getAddress(kept.asset),
    assetDecimals: kept.assetDecimals,
    receiptToken: getAddress(kept.receiptToken),
    receiptDecimals: kept.receiptDecimals,
  }
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

export type Verb =
  | 'deposit'
  | 'requestDeposit'
  | 'redeem'
  | 'requestRedeem'
  | 'claimRedeem'
  | 'claimDeposit'
  | 'cancelDeposit'
  | 'claimCancelled'

/** A call that does what was asked, before the suffix. */
export type VaultCall = {
  to: Address
  data: Hex
  value: bigint
  verb: Verb
  /** Gas limit when no estimate can be had. */
  gasConstant: bigint
  /** What leaves the wallet, to the unit; undefined when nothing does. */
  spends: { token: Address; amount: bigint } | undefined
  /** What the wallet gets more of in this call; undefined when it waits. */
  gains: Address | undefined
  /** The least of it the call takes: with less it reverts; absent where it says none. */
  leastOut?: bigint
}

/** A deposit and the redemption of what it gives, tried by a wallet the vault does not know. */
export type Trial = {
  deposit: VaultCall
  /** Redeems; the number of shares is the word that begins at this byte. */
  redeem: Hex
  sharesAt: bigint
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

/** One kind of vault: what it can do, how it builds, what it emits. One file each. */
export type VaultKind = {
  readonly name: string
  /** A sentence for operators. */
  readonly summary: string
  /** Deposits are requested first, and the Deposit event is the claim. */
  readonly asyncDeposit: boolean
  /** Redemptions are requested first, and the Withdraw event is the claim. */
  readonly asyncRedeem: boolean
  /** Takes and pays several tokens: a withdrawal names the one it wants. */
  readonly severalTokens?: boolean
  /** Events that say what happened, as the vault emits them. */
  readonly events: readonly AbiEvent[]
  /** Errors beside the common ones, to read a revert by. */
  readonly errors: Abi
  /** Who takes the wallet's tokens on a deposit, and so needs the allowance. */
  spender(vault: Vault): Address
  deposit(ask: DepositAsk): Read<Offer>
  withdraw(ask: WithdrawAsk): Read<WithdrawOffer>
  /** How to try it; absent where both sides wait. `amount` is of the vault's asset. */
  trial?(vault: Vault, wallet: Address, amount: bigint): Trial
  /** Absent where deposits complete at once. */
  claimDeposit?(ask: RequestAsk): Read<RequestOffer>
  /** Absent where a deposit cannot be cancelled. */
  cancelDeposit?(ask: RequestAsk): Read<RequestOffer>
}
