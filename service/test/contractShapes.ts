import type { EventOperations } from './contractEvents.js'
import type {
  ActionStatus,
  Activity,
  As,
  Chain,
  Earning,
  Ecosystem,
  IndexState,
  Inspection,
  Interaction,
  ListQuery,
  Opportunity,
  OrganizationOption,
  Page,
  PageNav,
  PageQuery,
  Protocol,
  ProtocolRow,
  RequestBody,
  SortOption,
  Token,
  TokenRow,
} from './contractItems.js'
import type { StreamOperations } from './contractStreams.js'
import type { SwapOperations } from './contractSwaps.js'

/** The wire as the contract writes it, by hand: what generated code is held against, in both directions. */

type SeriesQuery = {
  startDate: string
  endDate: string
  step?: number | null
  opportunityIds?: string[]
  productIds?: string[]
}
type VaultPath = { chainId: number; vaultAddress: string }
type HistoryQuery = { startDate: string; endDate?: string; step?: number; apyInterval?: number }
type Value = { native: number; usd: number | null }
type Rate = { base: number; reward: number; total: number }
type HistoryReading = {
  blockNumber: number
  blockHash: string
  timestamp: string
  totalAssets: string
  totalSupply: string
  priceNumerator: string
  sharePrice: string
  priceUsd: string | null
}
type RatePoint = {
  timestamp: string
  blockNumber: number
  effectiveIntervalSeconds: number
  inputs?: { from: HistoryReading; to: HistoryReading }
}
type Method = { id: string; version: string; source: 'share-price' | 'nav' }

type AuditCode =
  | ('inAndOut' | 'loop' | 'replayedSignature' | 'unsignedShare' | 'belowFloor')
  | ('paidByOneSender' | 'approvalCode' | 'foreignCaller' | 'staged' | 'bucketEnd')
type LpCount = { activeLps: number; participatedLps: number }

/** Path, query and body of each operation, and its answer of 200. */
export type Operations = SwapOperations &
  EventOperations &
  StreamOperations & {
    GetKey: As<{
      answer: {
        hint: string
        kind: 'publishable' | 'secret'
        organization: { id: string; name: string }
        distributorId: string | null
        permissions: string[]
        origins: string[]
        limits: { hourly: number; monthly: number | null; address: number | null }
        used: { hourly: number; monthly: number }
      }
    }>
    GetChains: As<{ query: PageQuery; answer: Page<Chain> }>
    GetTokens: As<{ query: PageQuery & { chainId?: number; search?: string }; answer: Page<Token> }>
    GetTokenByAddress: As<{ path: { chainId: number; address: string }; answer: Token }>
    GetVerificationContext: As<{
      query: { chainId: number }
      answer: {
        chainId: number
        vaults: {
          opportunityId: string
          address: string
          asset: string
          share: string
          kind: string
          contracts: string[]
        }[]
        routers: { address: string; kind: 'uniswap-v2' | 'uniswap-v3' | 'swap-router-02' | 'deposit-router' }[]
        wrappers: string[]
        depositRouter: string | null
        wrappedNative: string | null
        quoter: string | null
        settlement: string | null
        relayer: string | null
        streamFactory: string | null
        signers: string[]
        gasCap: string | null
      }
    }>
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
        deadlineSeconds?: number
        protect?: boolean
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
        after?: string
      }
      answer: Partial<Page<Activity>> & { data: Activity[]; next?: string }
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
    GetDistributorMetrics: As<{
      path: { distributorId: string }
      query: SeriesQuery & {
        includeTopWallets?: boolean
        includeUsdDays?: boolean
        includeFlows?: boolean
        includeAudit?: boolean
      }
      answer: {
        timeseries: { timestamp: string; tvl: string; usdDays?: string }[]
        usdDays?: {
          total: string
          to: string
          isFinal: boolean
          unpricedSeconds: number
          unguardedSeconds: number
          staged: number
        }
        flows?: { from: string; to: string } & Record<
          'deposits' | 'withdrawals',
          { count: number; usd: string; unpriced: number }
        >
        asOf: { opportunityId: string; asOf: string }[]
        topWallets: { walletAddress: string; totalTvl: string; asOf: string }[] | null
        audit?: {
          months: {
            month: string
            rulesVersion: number
            findings: { code: AuditCode; count: number; usdDays: string; transactions: string[] }[]
            score: number
          }[]
        } | null
      }
    }>
    GetDistributorLPs: As<{
      path: { distributorId: string }
      query: SeriesQuery
      answer: { timeseries: { timestamp: string; activeLps: number; participatedLps: number }[] }
    }>
    GetOpportunityHistorical: As<{
      path: VaultPath
      query: HistoryQuery
      answer: {
        baseAsset?: Token
        data: { timestamp: string; blockNumber: number; tvl: Value; sharePrice: Value; apy: Rate | null }[]
        historyTruncated: boolean
      }
    }>
    GetOpportunityHistoricalAPR: As<{
      path: VaultPath
      query: HistoryQuery & { includeInputs?: boolean }
      answer: { data: ({ apr: Rate } & RatePoint)[]; method: Method }
    }>
    GetOpportunityHistoricalAPY: As<{
      path: VaultPath
      query: HistoryQuery & { includeInputs?: boolean }
      answer: { data: ({ apy: Rate } & RatePoint)[]; method: Method }
    }>
    GetOpportunityHistoricalSharePrice: As<{
      path: VaultPath
      query: HistoryQuery
      answer: { baseAsset?: Token; data: { timestamp: string; blockNumber: number; sharePrice: Value }[] }
    }>
    GetOpportunityHistoricalTVL: As<{
      path: VaultPath
      query: HistoryQuery
      answer: { baseAsset?: Token; data: { timestamp: string; blockNumber: number; tvl: Value }[] }
    }>
    GetOpportunityHistoricalLPs: As<{
      path: { chainId: number; vaultAddress: string }
      query: { startDate: string; endDate: string; step?: number | null }
      answer: { data: { timestamp: string; distributor: LpCount; all: LpCount }[] }
    }>
    GetWalletPortfolio: As<{
      path: { address: string }
      query: { includeProtocolTokens?: boolean; earnedFrom?: string; earnedTo?: string }
      answer: {
        portfolio: {
          productsEarnings: Earning[]
          inRange?: { from: string; to: string; earnedUsd: string | null }
          holdings: {
            totalUsd: string
            wallets: {
              address: string
              ecosystem: Ecosystem
              totalUsd: string
              tokens: TokenRow[]
              protocols: ProtocolRow[]
              asOf: { chainId: number; blockNumber: number; blockHash: string; timestamp: string }[]
              unwatched: number[]
              errors: { chainId: number | null; source: string; error: string }[]
            }[]
          }
        }
      }
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
          evidence: 'trace' | 'calldata'
          traceFrom: number | null
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
          evidence: 'trace' | 'calldata'
          retracted: boolean
        }[]
        calldata: Inspection | null
        omitted: { codes: number; interactions: number; watched: number; stacked: number }
      }
    }>
    GetAttributionProof: As<{
      path: { txHash: string }
      query: { chainId: number }
      answer: {
        version: number
        chainId: number
        txHash: string
        blockHash: string
        header: string
        transaction: { index: number; path: string[] }
        receipt: { index: number; path: string[] }
        entries: {
          id: string
          logIndex: number
          distributorId: string
          walletAddress: string
          amountRaw: string
          rule: 'signed' | 'unsigned'
          restsOn: ('path' | 'trace' | 'state' | 'history' | 'configuration')[]
        }[]
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
