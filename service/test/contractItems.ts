/** What the requests and answers of the contract are made of, as the contract writes it, by hand. */

export type Token = {
  address: string
  chainId: number
  decimals: number
  symbol: string
  name: string
  logoUrl: string
}
export type Chain = { chainId: number; name: string; logoUrl: string; explorerUrl: string }
export type Protocol = { name: string; logoUrl: string; siteUrl: string }
export type OrganizationOption = {
  id: string
  name: string
  iconUrl: string
  landingUrl: string
  organizationType: 'curator' | 'provider' | 'partner' | 'lending-protocol' | 'distributor' | 'reward-sponsor'
}
type Pagination = { page: number; limit: number; total: number; totalPages: number }
export type PageNav = Pagination & { hasNext: boolean; hasPrevious: boolean }
export type Page<T> = { data: T[]; pagination: Pagination }
export type PageQuery = { page?: number; limit?: number; pageSize?: number; pageLimit?: number }

type Incentive = {
  id: string
  name: string
  description: string
  iconUrl: string
  rewardType: 'points' | 'tokens' | 'yield' | 'vesting'
  rewardTypeName: string
  apr: number | null
  minApr: number | null
  maxApr: number | null
  estPriceUsd: number | null
  fdvEstimate: number | null
  tokenSupplyAllocation: number | null
  indexed: boolean
}
type Movement = { current: number | null; d1: number | null; d7: number | null; d30: number | null }
export type Opportunity = {
  id: string
  slug: string
  name: string
  description: string
  type: 'vault' | 'lending' | 'liquid-staking' | 'structured'
  tvl: number
  estimatedApr: number
  minDepositAmountUsd: number
  minWithdrawAmount: number
  featured: boolean
  baseToken: Token
  depositTokens: Token[]
  receiptToken: Token
  curator?: { id: string; name: string; description: string; iconUrl: string; landingUrl: string }
  incentives: Incentive[]
  meta: {
    depositEnabled: boolean
    withdrawEnabled: boolean
    directInteractionEnabled: boolean
    routedSwapEnabled: boolean
    asyncDeposit: boolean
    asyncWithdraw: boolean
    isSecondaryMarket: boolean
    depositDisabledReason: string
    withdrawalDisabledReason: string
  }
  kind: string
  swapDirectEnabled: boolean
  swapRouteEnabled: boolean
  tags: string[]
  curatorId: string | null
  providerIds: string[]
  partnerIds: string[]
  lendingProtocolIds: string[]
  productIds: string[]
  chainId: number
  vaultAddress: string
  freshness: { analyticsAt: string | null; capabilityAt: string | null }
  deltas?: { tvl: Movement; lps: Movement; apy: Movement }
}
export type ListQuery = PageQuery & {
  search?: string
  slug?: string
  chainIds?: string
  depositToken?: string
  depositTokenSymbols?: string
  tags?: string
  curatorId?: string
  providerId?: string
  partnerId?: string
  lendingProtocolId?: string
  tvlMin?: number
  tvlMax?: number
  minApr?: number
  maxApr?: number
  featured?: boolean | null
  directInteractionEnabled?: boolean
  routedSwapEnabled?: boolean
  depositEnabled?: boolean
  withdrawEnabled?: boolean
  asyncDeposit?: boolean
  asyncWithdraw?: boolean
  includeDeltas?: boolean
  sortBy?: string
  sortOrder?: string
}

export type Activity = {
  id: string
  opportunityId: string
  interaction: 'deposit' | 'withdraw'
  txHash: string
  chainId: number
  blockTimestamp: string | null
  walletAddress: string
  amountToken: string | null
  amountInUsd: string | null
  tokenSymbol: string | null
  tokenIconUrl: string | null
  isSwap: boolean
  distributorId: string
  logIndex: number
  blockNumber: number
  amountRaw: string
  finality: 'confirmed' | 'final'
  attribution: 'signed' | 'unsigned' | 'legacy'
}

type TokenDetails = { address: string; decimals: number; logoUrl: string; symbol: string }
type Prepared = {
  type: 'approve' | 'swap' | 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit'
  description: string
  transaction: { to: string; data: string; value: string; gasLimit: string; chainId: number }
  metadata?: {
    provider: string
    providerImg: string
    amountOut: string
    gas: string
    route: { action: string; from: TokenDetails; to: TokenDetails }[]
  }
}
export type Interaction = {
  actionId: string
  transactions: Prepared[]
  simulation: {
    status: 'ok' | 'skipped' | 'unavailable'
    blockNumber: number | null
    blockHash: string | null
    assetChanges: { token: Token; amount: string }[]
  }
  batch: {
    version: string
    chainId: string
    from: string
    atomicRequired: boolean
    calls: { to: string; data: string; value: string }[]
  }
  validUntil: string
}
export type SwapToken = {
  address: string
  chainId: string
  symbol: string
  name: string
  decimals: number
  isNative: boolean
  logoUrl: string
  priceUsd: number
}
export type RequestBody = { userAddress: string; distributorId?: string; requestId?: string; simulate?: boolean }

type Suffix = {
  found: boolean
  schema: 'erc8021-0' | 'erc8021-1' | 'erc8021-2' | 'legacy' | null
  placement: 'transaction' | 'userOperation' | 'innerCall' | null
  app: string | null
  wallet: string | null
  services: string[]
  codes: string[]
  registries: { [name: string]: unknown } | null
  metadata: { [name: string]: unknown } | null
  suffix: string | null
  start: number | null
  end: number | null
  signature: { present: boolean; valid: boolean; signer: string | null }
  problems: string[]
}
export type Inspection = Suffix & { stacked: Suffix[] }

export type Ecosystem = 'evm' | 'solana' | 'ton'
export type ActionStatus = 'built' | 'submitted' | 'verified' | 'reverted' | 'expired'
export type IndexState = 'not-started' | 'backfilling' | 'live' | 'stalled' | 'paused'

export type SortOption =
  | 'tvl'
  | 'name'
  | 'type'
  | 'apr'
  | 'curator'
  | 'provider'
  | `tvlD${1 | 7 | 30}`
  | `lpsD${1 | 7 | 30}`
  | `growthApyD${1 | 7 | 30}`

export type StreamToken = Token & { id: string; isAllowedRewardToken: boolean }

export type StreamPoint = {
  id: string
  orgId: string
  symbol: string
  name: string
  decimals: number
  logoUrl: string | null
  createdAt: string
  updatedAt: string
}

export type StreamSnapshot = {
  timestamp: string
  createdAt: string
  updatedAt: string
  amountBase: string | null
  amountDistributed: string | null
  apr: string | null
  baseApr: string | null
  tvl: string | null
  baseTvl: string | null
  rewardTokenPrice: string | null
  rootHash: string | null
  commitTxHash: string | null
  userCount: number | null
  activeUserCount: number | null
  customArgs: Record<string, unknown>
  customMetrics: Record<string, unknown>
}

export type WalletSnapshot = {
  timestamp: string
  createdAt: string
  updatedAt: string
  rewardsAccumulated: string
  rewardsAccumulatedBase: string
  tvl: string | null
  baseTvl: string | null
  apr: string | null
  baseApr: string | null
  customMetrics: Record<string, unknown>
}

export type Stream = {
  id: string
  orgId: string
  userId: string | null
  type: 1 | 2 | 3
  strategy: 'fixed-rate' | 'fixed-apr' | 'daily-budget'
  chainId: number | null
  contractAddress: string | null
  admin: string | null
  totalAmount: string | null
  feeAmount: string | null
  startTimestamp: string
  endTimestamp: string | null
  createdAt: string
  updatedAt: string
  creationConfirmedAt: string | null
  rewardToken?: StreamToken
  point?: StreamPoint
  customArgs: {
    targetTokenId: string
    tokensPerUSD?: string | number
    apr?: string | number
    tokensPerDay?: string | number
    targetToken: { address: string; symbol: string; chain: { chainId: string } }
  }
  adapters: { type: string; params: Record<string, unknown> }[]
  claimPaused: boolean
  hashCommitmentPaused: boolean
  merkleTreeComputationPaused: boolean
  snapshotComputationPaused: boolean
  lastSnapshot?: StreamSnapshot
  committedSnapshot?: StreamSnapshot
  snapshots?: StreamSnapshot[]
  snapshotsTruncated?: boolean
}

export type WalletStream = { streamId: string; userAddress: string; snapshots: WalletSnapshot[]; stream: Stream }

export type StreamTxParams = {
  chainId: number
  sender: string
  to: string
  function: 'createStream' | 'addFunds' | 'withdrawFunds'
  params: { params: Record<string, string>; salt: string | null; deadline: string; signature: string }
  data: string
}

export type StreamAdminOperation = {
  id: string
  streamId: string
  type: 'withdrawal' | 'budget-increase'
  amount: string
  feeAmount: string
  to: string | null
  blockingUntil: string
  executed: boolean
  executedTxHash: string | null
  txParams: StreamTxParams
}

/** What an operation takes and gives. */
export type Shape = { path?: object; query?: object; body?: object; answer: object }
export type As<S extends Shape> = S

type Sum = { native: string; usd: string | null }
export type Earning = {
  productId: string | null
  productName: string | null
  opportunityId: string
  opportunityName: string
  deposited: Sum
  withdrawn: Sum
  current: Sum
  earned: Sum
  token: Token
  firstDepositAt: string | null
  lastActivityAt: string | null
  inRange?: {
    from: string
    to: string
    deposited: Sum
    withdrawn: Sum
    start: Sum
    end: Sum
    earned: Sum
  } | null
}
export type TokenRow = {
  address: string
  chainId: number
  symbol: string
  name: string
  decimals: number
  logoUrl: string
  amount: string
  amountRaw: string
  priceUsd: string | null
  valueUsd: string | null
  isNative: boolean
  isProtocolToken: boolean
}
type ProtocolToken = {
  address: string
  chain: string
  symbol: string
  name: string
  decimals: number
  amount: string
  price: string | null
  logo_url: string
  opportunity_id: string | null
  amount_raw: string
  value_usd: string | null
}
type Stats = { asset_usd_value: string; debt_usd_value: string; net_usd_value: string }
export type ProtocolRow = {
  id: string
  name: string
  site_url: string
  logo_url: string
  stats: Stats
  portfolio_item_list: {
    name: string
    type: 'yield' | 'pending-deposit' | 'claimable-deposit' | 'pending-withdraw' | 'lending' | 'reward'
    opportunity_id: string | null
    pool: { id: string; chain: string }
    stats: Stats
    detail: {
      description: string
      supply_token_list: ProtocolToken[]
      borrow_token_list: ProtocolToken[]
      reward_token_list: ProtocolToken[]
    }
  }[]
}
