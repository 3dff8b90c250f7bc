/** The request to the service, as it was sent. Amounts are raw integers as text. */
export type PlanRequest =
  | {
      type: 'deposit'
      userAddress: string
      tokenIn: string
      amount: string
      distributorId: string
      referralCode?: string
      mode?: string
      protect?: boolean
    }
  | {
      type: 'withdraw'
      userAddress: string
      amount: string
      distributorId: string
      tokenOut?: string
      slippageBps?: number
    }
  | { type: 'claimDeposit' | 'cancelDeposit'; userAddress: string; distributorId?: string; requestId?: string }

/** A swap that was asked for, as it was sent. */
export type SwapRequest = {
  type: 'swap'
  user: string
  tokenIn: string
  tokenOut: string
  amountIn: string
  distributorId: string
}

/** One transaction of a plan, as the service returned it. */
export type PlannedTransaction = {
  type: string
  /** Not looked at: a wallet shows the sentence of the verdict. */
  description?: string
  transaction: { to: string; data: string; value: string; chainId: number; gasLimit?: string }
}

/** A router a swap may go through, as the chain knows it. */
export type SwapRouter = { address: string; kind: string }

/** Facts about the swaps of a chain. */
export type SwapContext = {
  /** The routers you trust, each with its kind: `uniswap-v2`, `uniswap-v3`, `swap-router-02` or `deposit-router`. */
  routers: readonly SwapRouter[]
  /**
   * Wrappers that may be got by their own deposit and left by their own way out through the deposit router, each with what
   * it wraps, and its kind: `erc4626` (the default; its `asset()`), `wsteth` (`stETH()`) or `static-a-token` (`aToken()`).
   */
  wrappers?: readonly { address: string; asset: string; kind?: string }[]
  /** Tokens a route may pass through; absent: any, the minimum protects. */
  hubTokens?: readonly string[]
  /** Fees of V3 pools a route may take; absent: any. */
  fees?: readonly number[]
  /** The least the swap may be held to, by your own quote and slippage; absent: any minimum above 0, which is signed. */
  minimumOut?: string | bigint
  /** The amount that a withdrawal swaps after its redemption; absent: any amount above 0, which is signed. */
  amountIn?: string | bigint
  /** The most that a withdrawal may swap after its redemption: what that pays, by your own preview; absent: any amount. */
  amountInMax?: string | bigint
  /** The deadline in the router's call (unix seconds): the answer's `validUntil`; absent: any. */
  deadline?: string | bigint
  /** The latest deadline to accept (unix seconds), where none is pinned; absent: any. */
  deadlineMax?: string | bigint
  /** The present allowance of the router; absent: the number of its approvals cannot be judged. */
  allowance?: string | bigint
  /** That token wants its allowance set to 0 before another one; absent: either way is taken. */
  approvalReset?: boolean
}

/** Facts about the vault and the service that do not come from this plan; all of them are in public responses. */
export type PlanContext = {
  chainId: number
  /** The swaps of the chain; without them every swap is refused. */
  swap?: SwapContext
  /** Not looked at for a swap alone. The opportunity's `vaultAddress`, `kind`, and its `baseToken`'s and `receiptToken`'s addresses. */
  vault: {
    address: string
    kind: string
    asset: string
    /** The share, where it is another contract than the vault. */
    receiptToken?: string
    /** Further contracts of the vault, by their names in the catalogue; for kinds that have some. */
    contracts?: Readonly<Record<string, string>>
  }
  /**
   * The service's published attribution signers: `attributionSigners` of GetIndexingStatus as they are, or addresses. One
   * that is said to be retired (`to`) vouches for no new plan.
   */
  signers: readonly (string | { address: string; to?: string | null })[]
  /** The plan's own id, when it should be pinned. */
  actionId?: string
  /** The present allowance of the vault; absent: the number of approvals cannot be judged. */
  allowance?: string | bigint
  /** The token wants its allowance set to 0 before another one; absent: either way is taken. */
  approvalReset?: boolean
  /** The vault takes the shares of a requested redemption by allowance; absent: either way is taken. */
  pullsShares?: boolean
  /**
   * The chain's wrapped native token, where the native token is deposited; absent: the vault's asset has to be it, and a
   * vault that takes several tokens is refused.
   */
  wrappedNative?: string
  /** The deposit router you trust on this chain; without it no deposit that asked for `protect` is said yes to. */
  depositRouter?: string
  /**
   * Who brought the pending deposit, where a claim or cancellation named nobody: its code has to be in the suffix; null:
   * nobody did, and there has to be none; absent: a signed suffix of anybody, or none, is taken.
   */
  distributorId?: string | null
  /**
   * The least that must come out of a call that says so (ERC-5115, a protected deposit), by your own quote and slippage; absent: any minimum
   * above 0, which the signature pins.
   */
  minimumOut?: string | bigint
  /** Units that are claimable or pending, when they are known; absent: any amount above 0. */
  requestAmount?: string | bigint
  /** The most gas a transaction may be given; absent: 30,000,000. */
  gasCap?: string | bigint
  /** Names of addresses in the sentences, next to the address itself; your own words, never the service's. */
  names?: Readonly<Record<string, string>>
  /**
   * Decimals of tokens and shares by address: the sentences tell whole amounts too. Read `decimals()` of each yourself; never
   * the service's word, which could make 100 of 1.
   */
  decimals?: Readonly<Record<string, number>>
}

/** The context of a plan that only swaps: without a vault. */
export type SwapPlanContext = Omit<PlanContext, 'vault'>

/** Whether something does exactly what was asked; one line for each way in which it does not. */
export type Verdict = { ok: boolean; problems: string[] }

/** `sentences`: one about each transaction, in signing order, for a wallet to show; empty if the plan is refused. */
export type PlanVerdict = Verdict & { sentences: string[] }
