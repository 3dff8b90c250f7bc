import type { PaidOrigin } from '../paid/index.js'

/** Plain values of reward streams: input and output of accrual. Addresses are lower-case, instants unix seconds. */

/** The rate of a stream, in smallest units of the reward. */
export type Strategy =
  /** Units per 1,000 USD a day. */
  | { type: 1; tokensPerUsd: bigint }
  /** Yearly rate of the value, as a fraction scaled by 10^18. */
  | { type: 2; aprE18: bigint }
  /** Units a day, shared in proportion to value. */
  | { type: 3; tokensPerDay: bigint }

/**
 * Decides what a wallet's shares weigh. `boost` with `wallets` concerns these wallets, with `distributorIds` the lots of
 * these distributors, with both the lots of these distributors that these wallets hold.
 */
export type Adapter =
  | { type: 'allowlist' | 'blocklist'; wallets: readonly string[] }
  | {
      type: 'boost'
      multiplierBps: number
      wallets?: readonly string[] | undefined
      distributorIds?: readonly string[] | undefined
    }
  | { type: 'min-balance'; shares: bigint }

/** A positive number that decimals do not hold exactly. */
export type Fraction = { numerator: bigint; denominator: bigint }

/** The net budget from an instant on, all increases by then included. */
export type BudgetStep = { at: number; total: bigint }

/** The terms of a stream. */
export type StreamTerms = {
  streamId: string
  strategy: Strategy
  adapters: readonly Adapter[]
  startAt: number
  /** The end that was set, or an earlier one an operator moved it to. */
  endAt: number | null
  /** Net, from the start on; null: points without a limit. */
  budget: bigint | null
  /** In the order of time. One at or after the end changes nothing. */
  increases: readonly BudgetStep[]
  rewardDecimals: number
}

/** A wallet's shares in all, from an instant on. */
export type BalanceStep = { at: number; wallet: string; shares: bigint }

/** The part of a wallet's shares that a distributor sourced, from an instant on. */
export type LotStep = BalanceStep & { distributorId: string }

/** USD of one smallest unit (of a share, or of the reward) from an instant on. */
export type PriceStep = { at: number; usd: Fraction }

/** The same of a share, with the fact that set it; a plain token has none. */
export type SharePriceStep = PriceStep & {
  /** Where the price is not guarded: since when the least that was held counts. */
  leastSince?: number | undefined
  by?: PaidOrigin | undefined
}

/** The holding of a wallet at an instant. `lots` names only distributors that an adapter names. */
export type Holding = { shares: bigint; lots: ReadonlyMap<string, bigint> }

/** Changes while a stream accrues. Each list is in the order of time. */
export type AccrualFacts = {
  balances: readonly BalanceStep[]
  lots: readonly LotStep[]
  /** Of a share. Types 1 and 2 accrue nothing before the first. */
  sharePrices: readonly SharePriceStep[]
  /** Of the reward: only type 2 needs them. */
  rewardPrices: readonly PriceStep[]
}

/**
 * The exact accrual state of a stream: amounts are smallest units × the stream's scale (`computeScale`). It is stored with each
 * snapshot, and the next one continues from it.
 */
export type AccrualState = {
  at: number
  /** Sum over all wallets. */
  distributed: bigint
  /** Seconds in which something weighed, and a price was there: how much of type 3 was to be given by then. */
  weighedSeconds: number
  /** Seconds without a price, for types 1 and 2. */
  unpricedSeconds: number
  /** The instant the budget ran out, while it is so. */
  exhaustedAt: number | null
  /** By wallet; only those that have earned. */
  accrued: ReadonlyMap<string, bigint>
}

/** Earnings and holding of a wallet at the instant of a snapshot. Sums are cumulative, in smallest units, cut. */
export type WalletAmounts = {
  wallet: string
  rewards: bigint
  rewardsBase: bigint
  /** Exact: the next snapshot goes on from these. */
  accrued: bigint
  accruedBase: bigint
  /** USD of its shares where they weigh, and of all of them; null: no price. */
  tvl: string | null
  baseTvl: string | null
  /** Fractions of a year at the instant; null: no price. */
  apr: string | null
  baseApr: string | null
}

/** How far a stream has accrued with its adapters, and as if it had none. */
export type AccrualStates = { own: AccrualState; base: AccrualState }

/** The accrued amounts of a stream at the instant of a snapshot. */
export type SnapshotAmounts = {
  at: number
  amountBase: bigint
  amountDistributed: bigint
  tvl: string | null
  baseTvl: string | null
  apr: string | null
  baseApr: string | null
  /** USD of a whole unit of the reward. */
  rewardTokenPrice: string | null
  userCount: number
  activeUserCount: number
  unpricedSeconds: number
  exhaustedAt: number | null
  /** By address; those that have earned or hold. */
  wallets: readonly WalletAmounts[]
}
