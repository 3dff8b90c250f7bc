import type { Address, Hex } from 'viem'

/** What was asked of the service, as it was sent. Amounts are raw integers as text. */
export type PlanRequest =
  | {
      type: 'deposit'
      userAddress: string
      tokenIn: string
      amount: string
      distributorId: string
      referralCode?: string
    }
  | { type: 'withdraw'; userAddress: string; amount: string; distributorId: string; tokenOut?: string }
  | { type: 'claimDeposit' | 'cancelDeposit'; userAddress: string; distributorId?: string; requestId?: string }

/** One transaction of a plan, as the service returned it. */
export type PlannedTransaction = {
  type: string
  transaction: { to: string; data: string; value: string; chainId: number; gasLimit?: string }
}

/** What is known of the vault and the service without asking the service for this plan. */
export type PlanContext = {
  chainId: number
  vault: {
    address: string
    kind: string
    asset: string
    receiptToken: string
    /** Contracts beside the vault, by the names the catalogue gives them; for kinds that have some. */
    contracts?: Readonly<Record<string, string>>
  }
  /** The service's published attribution signers: `attributionSigners` as they are, or their addresses. */
  signers: readonly (string | { address: string })[]
  /** The plan's own id, when it should be pinned. */
  actionId?: string
  /** What the vault may take of the token already; absent: the number of approvals cannot be judged. */
  allowance?: string | bigint
  /** The token wants its allowance set to 0 before another one; absent: either way is taken. */
  approvalReset?: boolean
  /** The chain's wrapped native token; needed where the native token is deposited. */
  wrappedNative?: string
  /**
   * Who brought the pending deposit, where a claim or cancellation named nobody: its code has to be in the suffix; null:
   * nobody did, and there has to be none; absent: a signed suffix of anybody, or none, is taken.
   */
  distributorId?: string | null
  /**
   * The least that must come out of a call that says so (ERC-5115), by your own quote and slippage; absent: any minimum
   * above 0, which the signature pins.
   */
  minimumOut?: string | bigint
  /** Units that are claimable or pending, when they are known; absent: any amount above 0. */
  requestAmount?: string | bigint
}

/** Whether a plan does exactly what was asked; one line for each way in which it does not. */
export type Verdict = { ok: boolean; problems: string[] }

/** A transaction with its parts parsed. */
export type ParsedTransaction = { type: string; to: Address; data: Hex; value: bigint; chainId: number }
