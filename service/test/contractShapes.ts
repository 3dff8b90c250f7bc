/**
 * The wire as the contract writes it, by hand: what generated code is held against, in both directions. What the contract
 * has and the service does not yet is left out and comes with its feature: `deadlineSeconds` and `protect` of deposits,
 * `evidence` of what was watched and of chains, and their `traceFrom`.
 */

export type Token = {
  address: string
  chainId: number
  decimals: number
  symbol: string
  name: string
  logoUrl: string
}
type Chain = { chainId: number; name: string; logoUrl: string; explorerUrl: string }
type Protocol = { name: string; logoUrl: string; siteUrl: string }
type OrganizationOption = {
  id: string
  name: string
  iconUrl: string
  landingUrl: string
  organizationType: 'curator' | 'provider' | 'partner' | 'lending-protocol' | 'distributor' | 'reward-sponsor'
}
type Pagination = { page: number; limit: number; total: number; totalPages: number }
type PageNav = Pagination & { hasNext: boolean; hasPrevious: boolean }
type Page<T> = { data: T[]; pagination: Pagination }
type PageQuery = { page?: number; limit?: number; pageSize?: number; pageLimit?: number }

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
type Opportunity = {
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
type ListQuery = PageQuery & {
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

type Activity = {
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
type Interaction = {
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
type SwapToken = {
  address: string
  chainId: string
  symbol: string
  name: string
  decimals: number
  isNative: boolean
  logoUrl: string
  priceUsd: number
}
type RequestBody = { userAddress: string; distributorId?: string; requestId?: string; simulate?: boolean }

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
type Inspection = Suffix & { stacked: Suffix[] }

type Ecosystem = 'evm' | 'solana' | 'ton'
type ActionStatus = 'built' | 'submitted' | 'verified' | 'reverted' | 'expired'
type IndexState = 'not-started' | 'backfilling' | 'live' | 'stalled' | 'paused'

type Shape = { path?: object; query?: object; body?: object; answer: object }
type As<S extends Shape> = S

/** Path, query and body of each operation, and its answer of 200. */
export type Operations = {
  GetChains: As<{ query: PageQuery; answer: Page<Chain> }>
  GetTokens: As<{ query: PageQuery & { chainId?: number; search?: string }; answer: Page<Token> }>
  GetTokenByAddress: As<{ path: { chainId: number; address: string }; answer: Token }>
  GetProtocols: As<{ query: PageQuery; answer: Page<Protocol> }>
  ListOpportunities: As<{ query: ListQuery; answer: Page<Opportunity> }>
  ListOpportunitiesByDistributor: As<{
    path: { distributorId: string }
    query: ListQuery
    answer: Page<Opportunity>
  }>
  GetOpportunity: As<{ path: { id: string }; query: { includeDeltas?: boolean }; answer: Opportunity }>
  GetOpportunityFilterOptions: As<{
    answer: {
      chains: Chain[]
      providers: OrganizationOption[]
      curators: OrganizationOption[]
      partners: OrganizationOption[]
      lendingProtocols: OrganizationOption[]
      tags: { id: string; code: string; name: string; description: string; color: string }[]
      depositTokenSymbols: { symbol: string; logoUrl: string }[]
      sortOptions: { value: SortOption; label: string }[]
    }
  }>
  GetMembership: As<{ query: { address: string; walletEcosystem?: Ecosystem }; answer: { isMember: boolean } }>
  CreateMembershipAgreement: As<{
    body: { address: string; walletEcosystem: string; url: string; chainId?: string | number }
    answer: { message: string; nonce: string }
  }>
  CreateMembership: As<{
    body: { address: string; walletEcosystem: string; signature: string; nonce: string; distributorId?: string }
    answer: { isMember: boolean; error: string }
  }>
  CreateDepositInteraction: As<{
    path: { opportunityId: string }
    body: {
      userAddress: string
      tokenIn: string
      amount: string
      distributorId: string
      mode?: string
      slippageBps?: number
      referralCode?: string
      simulate?: boolean
    }
    answer: Interaction
  }>
  CreateWithdrawInteraction: As<{
    path: { opportunityId: string }
    body: {
      userAddress: string
      amount: string
      distributorId: string
      tokenOut?: string
      slippageBps?: number
      simulate?: boolean
    }
    answer: Interaction
  }>
  CreateClaimDepositInteraction: As<{ path: { opportunityId: string }; body: RequestBody; answer: Interaction }>
  CreateCancelDepositInteraction: As<{ path: { opportunityId: string }; body: RequestBody; answer: Interaction }>
  ListInteractions: As<{
    query: PageQuery & {
      interactionType?: 'deposit' | 'withdraw'
      distributorId?: string
      opportunityId?: string
      productId?: string
      sortBy?: string
      sortOrder?: string
    }
    answer: Page<Activity>
  }>
  GetDistributorDeposits: As<{
    path: { distributorId: string }
    query: PageQuery & { opportunityId?: string; productId?: string }
    answer: { deposits: Activity[]; pagination: PageNav }
  }>
  GetWalletActivity: As<{
    query: PageQuery & { addresses: string }
    answer: { activity: Activity[]; pagination: PageNav }
  }>
  GetWalletRequests: As<{
    path: { address: string }
    answer: {
      requests: {
        opportunityId: string
        kind: 'deposit' | 'redeem'
        requestId: string
        state: 'pending' | 'claimable' | 'claimed' | 'cancelling' | 'cancelled'
        assets: string | null
        shares: string | null
        claimable: string
        distributorId: string | null
        requestedAt: string
        txHash: string
      }[]
    }
  }>
  GetIndexingStatus: As<{
    query: { chainId?: number; vaultAddress?: string }
    answer: {
      chains: {
        chainId: number
        name: string
        headBlock: number
        indexedBlock: number
        finalizedBlock: number | null
        lagBlocks: number
        lagSeconds: number
        state: IndexState
        reorgs24h: number
        updatedAt: string | null
      }[]
      vaults: {
        chainId: number
        vaultAddress: string
        opportunityId: string | null
        protocol: string
        state: IndexState | 'unsupported'
        firstSnapshotAt: string | null
        lastSnapshotAt: string | null
        reason: string | null
        retryAfterSeconds: number | null
        drift: { checkedAt: string | null; samples: number; mismatches: number }
      }[]
      attributionSigners: { address: string; from: string; to: string | null }[]
    }
  }>
  GetAttribution: As<{
    path: { txHash: string }
    query: { chainId?: number | null }
    answer: {
      txHash: string
      chainId: number | null
      attributed: boolean
      distributorId: string | null
      codes: string[]
      source: 'interaction' | 'watcher' | 'calldata' | null
      action: { actionId: string; kind: string; status: ActionStatus; createdAt: string } | null
      interactions: Activity[]
      watched: {
        chainId: number
        blockNumber: number
        blockHash: string
        timestamp: string
        from: string
        to: string | null
        distributorId: string | null
        codes: string[]
        schema: string | null
        signatureValid: boolean | null
        retracted: boolean
      }[]
      calldata: Inspection | null
      omitted: { codes: number; interactions: number; watched: number; stacked: number }
    }
  }>
  VerifyTracking: As<{
    query: { chainId: number; txHash: string }
    answer: {
      tag: string
      metadata: {
        distributorId: string
        referralCode: string
        actionId: string
        action: string
        opportunityId: string
        tokenIn: string
        amount: string
        amountUsd: string
        tokenInDecimals: number
      }
      signatureValid: boolean
      error: string
      proof: {
        chainId: number
        blockNumber: number
        blockHash: string
        transactionIndex: number
        success: boolean
        inspection: Inspection
        events: { address: string; logIndex: number; name: string; args: { [name: string]: unknown } }[]
      }
    }
  }>
  GetSwap: As<{
    query: {
      user: string
      chainId: number
      distributorId: string
      tokenIn: string
      tokenOut: string
      amountIn: string
      slippageBps: number
      simulate?: boolean
    }
    answer: Interaction
  }>
  GetSwapDetails: As<{
    query: { chainId?: number }
    answer: {
      chains: {
        chainId: string
        name: string
        slug: string
        ecosystem: string
        logoUrl: string
        explorerUrl: string
        nativePriceUsd: number
      }[]
      popularTokens: SwapToken[]
    }
  }>
  GetSwapTokens: As<{
    query: PageQuery & { chainId?: number; search?: string }
    answer: { data: SwapToken[]; pagination: PageNav }
  }>
  GetAction: As<{
    path: { actionId: string }
    answer: {
      actionId: string
      kind: 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit' | 'swap'
      status: ActionStatus
      opportunityId: string | null
      chainId: number
      walletAddress: string
      distributorId: string | null
      createdAt: string
      validUntil: string
      transactions: {
        txHash: string
        blockNumber: number | null
        state: 'pending' | 'mined' | 'confirmed' | 'reverted'
      }[]
      interactions: Activity[]
    }
  }>
}

type SortOption =
  | 'tvl'
  | 'name'
  | 'type'
  | 'apr'
  | 'curator'
  | 'provider'
  | `tvlD${1 | 7 | 30}`
  | `lpsD${1 | 7 | 30}`
  | `growthApyD${1 | 7 | 30}`
