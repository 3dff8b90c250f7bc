import type { Abi, AbiEvent, Address, Hex } from 'viem'
import type { Question } from '../chain/question.js'

/** A vault as configured: what it takes, what it gives. */
export type Vault = {
  chainId: number
  address: Address
  asset: Address
  assetDecimals: number
  receiptToken: Address
  receiptDecimals: number
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
  /** The token wanted; the vault's asset unless it pays in several. */
  tokenOut: Address
  slippageBps: number
}

/** What a vault says about a deposit or withdrawal, before it is built. */
export type Terms = {
  /** Why nothing can be done now, as a sentence; undefined when it can. */
  closed: string | undefined
  /** The vault is not what the catalogue says it is: a sentence; undefined when it is. */
  mismatch: string | undefined
  /** Most units taken now; undefined when the vault states no limit that binds. */
  max: bigint | undefined
  /** What the wallet would get, as the vault quotes it; undefined when it gives no quote. */
  quoted: bigint | undefined
}

/** A call that does what was asked, before the suffix. */
export type VaultCall = {
  to: Address
  data: Hex
  value: bigint
  /** Who takes tokens from the wallet in this call; undefined when nobody needs an allowance. */
  spender: Address | undefined
  /** What the call does, for descriptions. */
  verb: 'deposit' | 'requestDeposit' | 'redeem' | 'requestRedeem' | 'claimRedeem' | 'claimDeposit' | 'cancelDeposit'
  /** Gas limit when no estimate can be had. */
  gasConstant: bigint
}

/** One kind of vault: what it can do, how it builds, what it emits. One file each. */
export type VaultKind = {
  readonly name: string
  /** A sentence for operators. */
  readonly summary: string
  /** Events that say what happened, as the vault emits them. */
  readonly events: readonly AbiEvent[]
  /** Errors beside the common ones, to read a revert by. */
  readonly errors: Abi
  readDeposit(ask: DepositAsk): Question<Terms>
  buildDeposit(ask: DepositAsk, terms: Terms): VaultCall
  readWithdraw(ask: WithdrawAsk): Question<Terms>
  buildWithdraw(ask: WithdrawAsk, terms: Terms): VaultCall
}
