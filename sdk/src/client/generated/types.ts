// Generated from service/openapi.json by `npm run client`. Do not edit.
export type Batch = {
  version: string
  /** Hex quantity */
  chainId: string
  /** EVM address, EIP-55 checksum */
  from: `0x${string}`
  atomicRequired: boolean
  calls: {
    /** EVM address, EIP-55 checksum */
    to: `0x${string}`
    data: `0x${string}`
    /** Hex quantity */
    value: string
  }[]
}

export type BuiltSwapOrder = {
  /** UUID */
  orderId: string
  typedData: OrderTypedData
  /** To send before the order is submitted */
  approvals: PreparedTransaction[]
  quote: {
    /** Integer in the token's smallest unit */
    amountOut: string
    /** Integer in the token's smallest unit */
    minAmountOut: string
    provider: string
    /** RFC 3339, UTC */
    expiresAt: string
  }
  /** RFC 3339, UTC */
  expiresAt: string
  /** Digest, owner and expiry: 56 bytes */
  orderUid: `0x${string}`
  /** EVM address, EIP-55 checksum */
  settlement: `0x${string}`
  cancellation: OrderCancellation
}

export type Chain = {
  chainId: number
  name: string
  logoUrl: string
  explorerUrl: string
}

export type Curator = {
  /** UUID */
  id: string
  name: string
  description: string
  iconUrl: string
  landingUrl: string
}

export type Delivery = {
  /** UUID */
  id: string
  /** UUID */
  eventId: string
  /** From 1 */
  attempt: number
  /** RFC 3339, UTC */
  at: string
  status: number | null
  durationMs: number
  /** Empty where the receiver took the event */
  error: string
}

export type Deltas = {
  tvl: Movement
  lps: Movement
  apy: Movement
}

/** earned = end + withdrawn − deposited − start. `start` and `end` are the worth of the shares held at `from` and `to`, at the share price of the newest snapshot at or before; from the newest snapshot on, `current` */
export type EarnedInRange = {
  /** RFC 3339, UTC */
  from: string
  /** RFC 3339, UTC */
  to: string
  deposited: NativeAndUsd
  withdrawn: NativeAndUsd
  start: NativeAndUsd
  end: NativeAndUsd
  earned: NativeAndUsd
}

/** The rows of earnings together, over the range that was asked for. Null where the dollars of a row are not known */
export type EarnedOfWallet = {
  /** RFC 3339, UTC */
  from: string
  /** RFC 3339, UTC */
  to: string
  earnedUsd: string | null
}

export type Earning = {
  productId: string | null
  productName: string | null
  /** UUID */
  opportunityId: string
  opportunityName: string
  deposited: NativeAndUsd
  withdrawn: NativeAndUsd
  current: NativeAndUsd
  earned: NativeAndUsd
  token: Token
  firstDepositAt: string | null
  lastActivityAt: string | null
  inRange?: EarnedInRange | null
}

/** Every failure has this body. */
export type Error = {
  /** The HTTP status */
  code: number
  status: 'INVALID_ARGUMENT' | 'UNAUTHORIZED' | 'PERMISSION_DENIED' | 'NOT_FOUND' | 'DEADLINE_EXCEEDED' | 'CONFLICT' | 'GONE' | 'FAILED_PRECONDITION' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'RESOURCE_EXHAUSTED' | 'INTERNAL' | 'UNAVAILABLE'
  /** A sentence for the caller */
  error: string
  /** Details; `{}` without any */
  context: Record<string, unknown>
  /** The reason, for programs to switch on, if there is one */
  reason?: 'INDEXING_NOT_STARTED' | 'INDEXING_STALLED' | 'PROTOCOL_UNSUPPORTED' | 'INSUFFICIENT_BALANCE' | 'BELOW_MINIMUM' | 'CAP_EXCEEDED' | 'TOKEN_NOT_ACCEPTED' | 'TOKEN_UNSUPPORTED' | 'DEPOSIT_DISABLED' | 'WITHDRAW_DISABLED' | 'NOT_CLAIMABLE' | 'NOTHING_PENDING' | 'SIMULATION_REVERTED' | 'NO_ROUTE' | 'QUOTE_EXPIRED' | 'INSUFFICIENT_ALLOWANCE' | 'NOTHING_WITHDRAWABLE' | 'ADMIN_OPERATION_ACTIVE' | 'STREAM_ENDED' | 'CURSOR_GONE' | 'WALLET_NOT_ALLOWED' | 'QUEUE_PAUSED' | 'SHARES_LOCKED' | 'REQUEST_NOT_CANCELLABLE'
}

export type Event = {
  /** UUID */
  id: string
  /** Where to go on from after this event */
  cursor: string
  /** One of interaction.confirmed, interaction.retracted, request.claimable, request.claimed, request.cancelled, vault.paused, vault.resumed, vault.capability, vault.withheld, chain.final, chain.stalled, chain.resumed, stream.created, stream.snapshot, stream.vetoed, stream.committed, stream.claimed, order.created, order.attempt, order.filled, order.cancelled, order.expired, key.revoked, key.budget, webhook.disabled */
  type: string
  /** RFC 3339, UTC */
  timestamp: string
  chainId: number | null
  /** It became true long ago, and is only known now */
  late: boolean
  subject: {
    kind: 'wallet' | 'opportunity' | 'order' | 'stream' | 'chain' | 'key' | 'webhook'
    id: string
  }
  /** The object as the operation that reads it returned it when the event was told */
  data: Record<string, unknown>
}

export type FlowSum = {
  count: number
  /** US dollars of those that have a price */
  usd: string
  /** How many of them have no price, which add nothing */
  unpriced: number
}

/** Entries of the ledger from `from` up to `to`, which is not part of it */
export type Flows = {
  /** RFC 3339, UTC */
  from: string
  /** RFC 3339, UTC */
  to: string
  deposits: FlowSum
  withdrawals: FlowSum
}

export type Incentive = {
  /** UUID */
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

export type Interaction = {
  /** UUID */
  actionId: string
  /** In the order to sign and send */
  transactions: PreparedTransaction[]
  simulation: Simulation
  batch: Batch
  /** RFC 3339, UTC */
  validUntil: string
}

export type Key = {
  /** The first 12 and the last 4 characters of the key */
  hint: string
  kind: 'publishable' | 'secret'
  organization: {
    /** UUID */
    id: string
    name: string
  }
  distributorId: string | null
  permissions: string[]
  /** Origins that it may be used from; empty: any for a publishable key, none for a secret one */
  origins: string[]
  limits: {
    /** Units an hour (UTC) */
    hourly: number
    monthly: number | null
    address: number | null
  }
  /** Units used in this hour and this month (UTC) */
  used: {
    hourly: number
    monthly: number
  }
}

export type MerkleProof = {
  /** UUID */
  streamId: string
  chainId: number | null
  contractAddress: string
  amount: string | null
  proof: `0x${string}`[]
  rootHash: string
  timestamp: string | null
  error: string
}

export type Method = {
  id: string
  version: string
  source: 'share-price' | 'nav'
}

export type Movement = {
  current: number | null
  d1: number | null
  d7: number | null
  d30: number | null
}

export type NativeAndUsd = {
  /** Plain decimal, no exponent */
  native: string
  usd: string | null
}

export type Opportunity = {
  /** UUID */
  id: string
  slug: string
  name: string
  description: string
  type: 'vault' | 'lending' | 'liquid-staking' | 'structured'
  /** Kind of the vault: which calls do what (docs/vault-kinds.md) */
  kind: string
  /** US dollars; 0 when it cannot be priced, then freshness.analyticsAt is null */
  tvl: number
  /** Percent a year: the sum of the active incentives */
  estimatedApr: number
  minDepositAmountUsd: number
  /** Whole receipt tokens */
  minWithdrawAmount: number
  featured: boolean
  baseToken: Token
  depositTokens: Token[]
  receiptToken: Token
  curator?: Curator
  incentives: Incentive[]
  meta: OpportunityMeta
  swapDirectEnabled: boolean
  swapRouteEnabled: boolean
  tags: string[]
  curatorId: string | null
  providerIds: string[]
  partnerIds: string[]
  lendingProtocolIds: string[]
  productIds: string[]
  chainId: number
  /** EVM address, EIP-55 checksum */
  vaultAddress: `0x${string}`
  freshness: {
    analyticsAt: string | null
    capabilityAt: string | null
  }
  deltas?: Deltas
}

export type OpportunityMeta = {
  depositEnabled: boolean
  withdrawEnabled: boolean
  directInteractionEnabled: boolean
  routedSwapEnabled: boolean
  asyncDeposit: boolean
  asyncWithdraw: boolean
  isSecondaryMarket: boolean
  /** Empty when deposits are enabled */
  depositDisabledReason: string
  /** Empty when withdrawals are enabled */
  withdrawalDisabledReason: string
}

export type OrderAttempt = {
  /** RFC 3339, UTC */
  at: string
  outcome: 'considered' | 'tooDear' | 'noRoute' | 'unfunded' | 'reverted' | 'filled'
  /** In a sentence */
  detail: string
}

/** The wallet sends it to end the order, even when others hold the signature */
export type OrderCancellation = {
  /** EVM address, EIP-55 checksum */
  to: `0x${string}`
  data: `0x${string}`
  /** Always 0 */
  value: string
  chainId: number
}

/** The typed data to sign, in the form of eth_signTypedData_v4 */
export type OrderTypedData = {
  domain: {
    name: string
    version: string
    chainId: number
    /** EVM address, EIP-55 checksum */
    verifyingContract: `0x${string}`
  }
  types: {
    EIP712Domain: {
      name: string
      type: string
    }[]
    Order: {
      name: string
      type: string
    }[]
  }
  primaryType: string
  message: {
    /** EVM address, EIP-55 checksum */
    sellToken: `0x${string}`
    /** EVM address, EIP-55 checksum */
    buyToken: `0x${string}`
    /** EVM address, EIP-55 checksum */
    receiver: `0x${string}`
    /** Integer in the token's smallest unit */
    sellAmount: string
    /** Integer in the token's smallest unit */
    buyAmount: string
    validTo: number
    appData: `0x${string}`
    /** Integer in the token's smallest unit */
    feeAmount: string
    kind: string
    partiallyFillable: boolean
    sellTokenBalance: string
    buyTokenBalance: string
  }
}

export type OrganizationOption = {
  /** UUID */
  id: string
  name: string
  iconUrl: string
  landingUrl: string
  organizationType: 'curator' | 'provider' | 'partner' | 'lending-protocol' | 'distributor' | 'reward-sponsor'
}

export type Pagination = {
  page: number
  limit: number
  total: number
  totalPages: number
}

export type PaginationNav = {
  page: number
  limit: number
  total: number
  totalPages: number
  hasNext: boolean
  hasPrevious: boolean
}

export type PortfolioItem = {
  name: string
  type: 'yield' | 'pending-deposit' | 'claimable-deposit' | 'pending-withdraw' | 'lending' | 'reward'
  opportunity_id: string | null
  pool: PortfolioPool
  stats: PortfolioStats
  detail: {
    description: string
    supply_token_list: ProtocolToken[]
    borrow_token_list: ProtocolToken[]
    reward_token_list: ProtocolToken[]
  }
}

export type PortfolioPool = {
  /** EVM address, EIP-55 checksum */
  id: `0x${string}`
  chain: string
}

export type PortfolioProblem = {
  chainId: number | null
  /** rpc, price, adapter:<name>, ecosystem or earnings */
  source: string
  error: string
}

/** Priced values, in US dollars */
export type PortfolioStats = {
  /** Plain decimal, no exponent */
  asset_usd_value: string
  /** Plain decimal, no exponent */
  debt_usd_value: string
  /** Plain decimal, no exponent */
  net_usd_value: string
}

export type PreparedTransaction = {
  type: 'approve' | 'swap' | 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit'
  /** Amount, token, spender and receiver in words */
  description: string
  transaction: {
    /** EVM address, EIP-55 checksum */
    to: `0x${string}`
    data: `0x${string}`
    /** Integer in the token's smallest unit */
    value: string
    /** Units of gas */
    gasLimit: string
    chainId: number
  }
  metadata?: {
    provider: string
    providerImg: string
    /** Integer in the token's smallest unit */
    amountOut: string
    /** Units of gas */
    gas: string
    route: {
      action: string
      from: {
        address: string
        decimals: number
        logoUrl: string
        symbol: string
      }
      to: {
        address: string
        decimals: number
        logoUrl: string
        symbol: string
      }
    }[]
  }
}

export type Protocol = {
  name: string
  logoUrl: string
  siteUrl: string
}

export type ProtocolHoldings = {
  id: string
  name: string
  site_url: string
  logo_url: string
  stats: PortfolioStats
  portfolio_item_list: PortfolioItem[]
}

export type ProtocolToken = {
  /** EVM address, EIP-55 checksum */
  address: `0x${string}`
  /** The chain id as text */
  chain: string
  symbol: string
  name: string
  decimals: number
  /** Plain decimal, no exponent */
  amount: string
  price: string | null
  logo_url: string
  opportunity_id: string | null
  /** Integer in the token's smallest unit */
  amount_raw: string
  value_usd: string | null
}

export type Rate = {
  /** Percent a year */
  base: number
  /** Always 0 */
  reward: number
  total: number
}

export type Reading = {
  blockNumber: number
  /** Transaction hash */
  blockHash: `0x${string}`
  /** RFC 3339, UTC */
  timestamp: string
  /** Integer in the token's smallest unit */
  totalAssets: string
  /** Integer in the token's smallest unit */
  totalSupply: string
  /** Integer in the token's smallest unit */
  priceNumerator: string
  /** Plain decimal, no exponent */
  sharePrice: string
  priceUsd: string | null
}

export type Simulation = {
  status: 'ok' | 'skipped' | 'unavailable'
  blockNumber: number | null
  blockHash: `0x${string}` | null
  assetChanges: {
    token: Token
    amount: string
  }[]
}

export type Stream = {
  /** UUID */
  id: string
  /** UUID */
  orgId: string
  userId: string | null
  type: 1 | 2 | 3
  strategy: 'fixed-rate' | 'fixed-apr' | 'daily-budget'
  chainId: number | null
  contractAddress: `0x${string}` | null
  admin: `0x${string}` | null
  totalAmount: string | null
  feeAmount: string | null
  /** RFC 3339, UTC */
  startTimestamp: string
  endTimestamp: string | null
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  updatedAt: string
  creationConfirmedAt: string | null
  rewardToken?: StreamToken
  point?: StreamPoint
  customArgs: {
    /** UUID */
    targetTokenId: string
    tokensPerUSD?: string | number
    apr?: string | number
    tokensPerDay?: string | number
    targetToken: {
      /** EVM address, EIP-55 checksum */
      address: `0x${string}`
      symbol: string
      chain: {
        chainId: string
      }
    }
  }
  adapters: {
    type: string
    params: Record<string, unknown>
  }[]
  claimPaused: boolean
  hashCommitmentPaused: boolean
  merkleTreeComputationPaused: boolean
  snapshotComputationPaused: boolean
  lastSnapshot?: StreamSnapshot
  committedSnapshot?: StreamSnapshot
  snapshots?: StreamSnapshot[]
  /** true where there are older snapshots; else absent */
  snapshotsTruncated?: boolean
}

export type StreamAdminOperation = {
  /** UUID */
  id: string
  /** UUID */
  streamId: string
  type: 'withdrawal' | 'budget-increase'
  /** Integer in the token's smallest unit */
  amount: string
  /** Integer in the token's smallest unit */
  feeAmount: string
  to: `0x${string}` | null
  /** RFC 3339, UTC */
  blockingUntil: string
  executed: boolean
  executedTxHash: `0x${string}` | null
  txParams: StreamTxParams
}

export type StreamClaim = {
  /** EVM address, EIP-55 checksum */
  userAddress: `0x${string}`
  /** Integer in the token's smallest unit */
  amount: string
  /** Transaction hash */
  txHash: `0x${string}`
  blockNumber: number
  /** RFC 3339, UTC */
  blockTimestamp: string
}

export type StreamPoint = {
  /** UUID */
  id: string
  /** UUID */
  orgId: string
  symbol: string
  name: string
  decimals: number
  logoUrl: string | null
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  updatedAt: string
}

export type StreamSnapshot = {
  /** RFC 3339, UTC */
  timestamp: string
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  updatedAt: string
  amountBase: string | null
  amountDistributed: string | null
  apr: string | null
  baseApr: string | null
  tvl: string | null
  baseTvl: string | null
  rewardTokenPrice: string | null
  rootHash: `0x${string}` | null
  commitTxHash: `0x${string}` | null
  userCount: number | null
  activeUserCount: number | null
  customArgs: Record<string, unknown>
  customMetrics: Record<string, unknown>
}

export type StreamToken = {
  /** UUID */
  id: string
  /** EVM address, EIP-55 checksum */
  address: `0x${string}`
  chainId: number
  decimals: number
  symbol: string
  name: string
  logoUrl: string
  isAllowedRewardToken: boolean
}

export type StreamTxParams = {
  chainId: number
  /** EVM address, EIP-55 checksum */
  sender: `0x${string}`
  /** EVM address, EIP-55 checksum */
  to: `0x${string}`
  function: 'createStream' | 'addFunds' | 'withdrawFunds'
  params: {
    params: Record<string, string>
    salt: `0x${string}` | null
    deadline: string
    signature: string
  }
  data: `0x${string}`
}

export type SwapChain = {
  chainId: string
  name: string
  slug: string
  ecosystem: string
  logoUrl: string
  explorerUrl: string
  /** 0: not known */
  nativePriceUsd: number
}

export type SwapDetails = {
  chains: SwapChain[]
  popularTokens: SwapToken[]
}

export type SwapExecution = {
  accepted: boolean
  status: 'pending' | 'confirmed' | 'failed'
  actionId: string | null
  orderId: string | null
}

export type SwapOrder = {
  /** UUID */
  orderId: string
  status: 'built' | 'open' | 'partially-filled' | 'filled' | 'cancelled' | 'expired' | 'failed'
  /** EVM address, EIP-55 checksum */
  userAddress: `0x${string}`
  chainId: number
  /** EVM address, EIP-55 checksum */
  tokenIn: `0x${string}`
  /** EVM address, EIP-55 checksum */
  tokenOut: `0x${string}`
  /** Integer in the token's smallest unit */
  amountIn: string
  /** Integer in the token's smallest unit */
  minAmountOut: string
  /** Integer in the token's smallest unit */
  filledIn: string
  /** Integer in the token's smallest unit */
  filledOut: string
  txHashes: `0x${string}`[]
  distributorId: string
  error: string | null
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  updatedAt: string
  /** RFC 3339, UTC */
  expiresAt: string
  /** Digest, owner and expiry: 56 bytes */
  orderUid: `0x${string}`
  /** EVM address, EIP-55 checksum */
  settlement: `0x${string}`
  cancellation: OrderCancellation
  /** Outcomes of our solver, newest first, at most 20: one each time the outcome changed, at the chain’s time */
  attempts: OrderAttempt[]
}

export type SwapToken = {
  /** EVM address, EIP-55 checksum */
  address: `0x${string}`
  chainId: string
  symbol: string
  name: string
  decimals: number
  isNative: boolean
  logoUrl: string
  /** 0: not known */
  priceUsd: number
}

export type Tag = {
  /** UUID */
  id: string
  code: string
  name: string
  description: string
  color: string
}

export type Token = {
  /** EVM address, EIP-55 checksum */
  address: `0x${string}`
  chainId: number
  decimals: number
  symbol: string
  name: string
  logoUrl: string
}

export type TokenHolding = {
  /** EVM address, EIP-55 checksum */
  address: `0x${string}`
  chainId: number
  symbol: string
  name: string
  decimals: number
  logoUrl: string
  /** Plain decimal, no exponent */
  amount: string
  /** Integer in the token's smallest unit */
  amountRaw: string
  priceUsd: string | null
  valueUsd: string | null
  isNative: boolean
  /** A protocol row stands for it, and it counts only there */
  isProtocolToken: boolean
}

export type Value = {
  /** Whole base assets */
  native: number
  usd: number | null
}

export type VerificationContext = {
  chainId: number
  vaults: {
    /** UUID */
    opportunityId: string
    /** EVM address, EIP-55 checksum */
    address: `0x${string}`
    /** EVM address, EIP-55 checksum */
    asset: `0x${string}`
    /** EVM address, EIP-55 checksum */
    share: `0x${string}`
    kind: string
    /** Further contracts of the vault, in the order of the names that its kind gives them */
    contracts: `0x${string}`[]
  }[]
  routers: ({
    /** EVM address, EIP-55 checksum */
    address: `0x${string}`
    kind: 'uniswap-v2' | 'uniswap-v3' | 'swap-router-02' | 'deposit-router'
  })[]
  wrappers: `0x${string}`[]
  depositRouter: `0x${string}` | null
  wrappedNative: `0x${string}` | null
  quoter: `0x${string}` | null
  settlement: `0x${string}` | null
  relayer: `0x${string}` | null
  streamFactory: `0x${string}` | null
  /** Keys that sign new plans; retired ones are left out */
  signers: `0x${string}`[]
  gasCap: string | null
}

export type WalletHoldings = {
  address: string
  ecosystem: 'evm' | 'solana' | 'ton'
  /** Plain decimal, no exponent */
  totalUsd: string
  tokens: TokenHolding[]
  protocols: ProtocolHoldings[]
  asOf: {
    chainId: number
    blockNumber: number
    blockHash: string
    /** RFC 3339, UTC */
    timestamp: string
  }[]
  /** What could not be read or priced; where there is none, all of it is told */
  errors: PortfolioProblem[]
  /** Listed chains of which this installation reads no node */
  unwatched: number[]
}

export type WalletSnapshot = {
  /** RFC 3339, UTC */
  timestamp: string
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  updatedAt: string
  /** Integer in the token's smallest unit */
  rewardsAccumulated: string
  /** Integer in the token's smallest unit */
  rewardsAccumulatedBase: string
  tvl: string | null
  baseTvl: string | null
  apr: string | null
  baseApr: string | null
  customMetrics: Record<string, unknown>
}

export type WalletStream = {
  /** UUID */
  streamId: string
  /** EVM address, EIP-55 checksum */
  userAddress: `0x${string}`
  snapshots: WalletSnapshot[]
  stream: Stream
}

export type Webhook = {
  /** UUID */
  id: string
  url: string
  /** Empty: events of all types */
  types: string[]
  enabled: boolean
  /** Takes events of the past too */
  late: boolean
  /** Why the service disabled it; empty where it did not */
  disabledReason: string
  /** RFC 3339, UTC */
  createdAt: string
  lastDeliveryAt: string | null
  /** Tries that failed since the last one that did not */
  failing: number
}

export type WebhookWithSecret = {
  /** UUID */
  id: string
  url: string
  /** Empty: events of all types */
  types: string[]
  enabled: boolean
  /** Takes events of the past too */
  late: boolean
  /** Why the service disabled it; empty where it did not */
  disabledReason: string
  /** RFC 3339, UTC */
  createdAt: string
  lastDeliveryAt: string | null
  /** Tries that failed since the last one that did not */
  failing: number
  /** `whsec_` and base64: verifies `webhook-signature`. Shown this once */
  secret: string
}

export type BuildSwapOrderParams = {
  /** EVM address, any case */
  userAddress: `0x${string}`
  chainId: number
  /** Token, or native */
  tokenIn: `0x${string}` | 'native'
  /** Token, or native */
  tokenOut: `0x${string}` | 'native'
  /** Smallest units, above 0 */
  amountIn: string | bigint
  /** Hundredths of a percent */
  slippageBps: number
  /** Builder code */
  distributorId: string
  /** The same as userAddress, which gets all of it */
  receiver?: `0x${string}` | undefined
  /** Until then it may be filled; 1800 unless given */
  validForSeconds?: number | undefined
  /** It may be filled in parts; false unless given */
  partiallyFillable?: boolean | undefined
  /** The opportunity tokenOut is for; it must accept that token */
  opportunityId?: string | undefined
}

export type CreateCancelDepositInteractionParams = {
  /** UUID */
  opportunityId: string
  /** EVM address, any case */
  userAddress: `0x${string}`
  /** Builder code */
  distributorId?: string | undefined
  /** One request; absent: all of them */
  requestId?: string | undefined
  /** false: do not simulate; the status is skipped; true unless given */
  simulate?: boolean | undefined
}

export type CreateClaimDepositInteractionParams = {
  /** UUID */
  opportunityId: string
  /** EVM address, any case */
  userAddress: `0x${string}`
  /** Builder code */
  distributorId?: string | undefined
  /** One request; absent: all of them */
  requestId?: string | undefined
  /** false: do not simulate; the status is skipped; true unless given */
  simulate?: boolean | undefined
}

export type CreateDepositInteractionParams = {
  /** UUID */
  opportunityId: string
  /** EVM address, any case */
  userAddress: `0x${string}`
  /** Token, or native */
  tokenIn: `0x${string}` | 'native'
  /** Smallest units, above 0 */
  amount: string | bigint
  /** Builder code */
  distributorId: string
  /** swap: any token, swapped first; a token that the vault takes itself is deposited as it is; "direct" unless given. One of direct, swap */
  mode?: 'direct' | 'swap' | undefined
  /** 50 unless given */
  slippageBps?: number | undefined
  /** Empty: none */
  referralCode?: string | undefined
  /** false: do not simulate; the status is skipped; true unless given */
  simulate?: boolean | undefined
  /** Seconds for which the plan may be signed: from now to its validUntil and to the deadline of a swap; 600 unless given */
  deadlineSeconds?: number | undefined
  /** Through the deposit router: reverts below the quoted shares less slippageBps. ERC-4626 vaults only; false unless given */
  protect?: boolean | undefined
}

export type CreateMembershipParams = {
  /** The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton) */
  address: string
  /** One of evm, solana, ton */
  walletEcosystem: 'evm' | 'solana' | 'ton'
  /** Signature of the message: hex for evm, of any length for a contract wallet (`0x` too); base58, base64 or hex for solana; for ton the JSON text (or its base64) of what TON Connect answered, with `type` signData */
  signature: string
  /** The nonce that came with the message */
  nonce: string
  /** Who the user signed up through */
  distributorId?: string | undefined
}

export type CreateMembershipAgreementParams = {
  /** The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton) */
  address: string
  /** One of evm, solana, ton */
  walletEcosystem: 'evm' | 'solana' | 'ton'
  /** Where the wallet is asked to sign; http or https. Its host is shown to the signer. */
  url: string
  /** Where a contract wallet lives; evm only; "1" unless given */
  chainId?: string | number | undefined
}

export type CreateStreamParams = {
  /** 1 fixed rate, 2 fixed APR, 3 daily budget */
  type: number
  /** RFC 3339 date-time, with Z or an offset */
  startTimestamp: string | Date
  endTimestamp?: string | Date | null | undefined
  totalAmount?: string | bigint | null | undefined
  rewardTokenId?: string | null | undefined
  pointId?: string | null | undefined
  walletAddress?: `0x${string}` | null | undefined
  customArgs: {
    /** UUID */
    targetTokenId: string
    tokensPerUSD?: string | number | null | undefined
    apr?: string | number | null | undefined
    tokensPerDay?: string | number | null | undefined
  }
  adapters?: readonly {
    type: string
    params: Record<string, unknown>
  }[] | null | undefined
}

export type CreateStreamPointParams = {
  symbol: string
  name: string
  decimals?: number | null | undefined
  logoUrl?: string | null | undefined
}

export type CreateStreamWithdrawalParams = {
  /** UUID */
  id: string
  to?: `0x${string}` | null | undefined
  amount?: string | bigint | null | undefined
  signatureExpirationSeconds?: number | null | undefined
}

export type CreateWebhookParams = {
  /** https, at a public address, port 443 or 8443 */
  url: string
  /** Types of events; empty: all */
  types?: readonly string[] | undefined
  /** Events of the past too */
  late?: boolean | undefined
  /** `whsec_` and the base64 of 24 to 64 bytes; made by the service unless given */
  secret?: string | undefined
}

export type CreateWithdrawInteractionParams = {
  /** UUID */
  opportunityId: string
  /** EVM address, any case */
  userAddress: `0x${string}`
  /** Receipt-token units, above 0 */
  amount: string | bigint
  /** Builder code */
  distributorId: string
  /** Token, or native */
  tokenOut?: `0x${string}` | 'native' | undefined
  /** 50 unless given */
  slippageBps?: number | undefined
  /** false: do not simulate; the status is skipped; true unless given */
  simulate?: boolean | undefined
}

export type DeleteWebhookParams = {
  /** UUID */
  webhookId: string
}

export type GetActionParams = {
  /** UUID */
  actionId: string
}

export type GetActiveAdminOperationParams = {
  /** UUID */
  id: string
}

export type GetAttributionParams = {
  /** Transaction hash */
  txHash: `0x${string}`
  /** Narrows the look-up and inspects the calldata */
  chainId?: number | null | undefined
}

export type GetAttributionProofParams = {
  /** Transaction hash */
  txHash: `0x${string}`
  chainId: number
}

export type GetChainsParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
}

export type GetDistributorDepositsParams = {
  /** Builder code */
  distributorId: string
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
  /** UUID */
  opportunityId?: string | undefined
  /** UUID */
  productId?: string | undefined
}

export type GetDistributorLPsParams = {
  /** Builder code */
  distributorId: string
  /** RFC 3339 date-time, with Z or an offset */
  startDate: string | Date
  /** RFC 3339 date-time, with Z or an offset */
  endDate: string | Date
  /** Seconds; 0 is 900 */
  step?: number | null | undefined
  /** Only these opportunities; repeated or separated by commas, at most 200 */
  opportunityIds?: string | readonly string[] | undefined
  /** Only opportunities of these products; repeated or separated by commas, at most 200 */
  productIds?: string | readonly string[] | undefined
}

export type GetDistributorMetricsParams = {
  /** Builder code */
  distributorId: string
  /** RFC 3339 date-time, with Z or an offset */
  startDate: string | Date
  /** RFC 3339 date-time, with Z or an offset */
  endDate: string | Date
  /** Seconds; 0 is 900 */
  step?: number | null | undefined
  /** Only these opportunities; repeated or separated by commas, at most 200 */
  opportunityIds?: string | readonly string[] | undefined
  /** Only opportunities of these products; repeated or separated by commas, at most 200 */
  productIds?: string | readonly string[] | undefined
  /** Also the 50 wallets with the most attributed TVL; costs 5 units more */
  includeTopWallets?: boolean | undefined
  /** Also the USD-days of each bucket and of the range, for at most 2000 vaults × days; costs 2 units more */
  includeUsdDays?: boolean | undefined
  /** Also the verified deposits and withdrawals of the range together; costs 2 units more */
  includeFlows?: boolean | undefined
  /** Also the audits kept of whole months (UTC) of the range, at most the newest 3; for a secret key of the distributor's organization; costs 5 units more */
  includeAudit?: boolean | undefined
}

export type GetEventsParams = {
  /** A cursor: `next`, or that of an event. Absent: from the oldest event that is kept. `latest`: from now on */
  after?: string | undefined
  /** Only events of these types; absent: all; repeated or separated by commas, at most 200 */
  types?: string | readonly string[] | undefined
  limit?: number | undefined
  waitSeconds?: number | undefined
}

export type GetIndexingStatusParams = {
  chainId?: number | undefined
  /** EVM address, any case */
  vaultAddress?: `0x${string}` | undefined
}

export type GetKeyParams = Record<never, never>

export type GetMembershipParams = {
  /** The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton) */
  address: string
  walletEcosystem?: 'evm' | 'solana' | 'ton' | undefined
}

export type GetMerkleProofsParams = {
  /** EVM address, any case */
  wallet: `0x${string}`
  /** Ids of streams; repeated or separated by commas, at most 200 */
  streamIds: string | readonly string[]
}

export type GetOpportunityParams = {
  /** UUID */
  id: string
  /** Adds TVL, LP count and APY with their movement over the trailing 1, 7 and 30 days */
  includeDeltas?: boolean | undefined
}

export type GetOpportunityFilterOptionsParams = Record<never, never>

export type GetOpportunityHistoricalParams = {
  chainId: number
  /** EVM address, any case */
  vaultAddress: `0x${string}`
  /** The first instant, at most 365 days ago */
  startDate: string | Date
  /** The last instant; absent or in the future means now */
  endDate?: string | Date | undefined
  /** Seconds of a bucket; a range has at most 10,000 buckets */
  step?: number | undefined
  /** Seconds a rate looks back, whatever the step */
  apyInterval?: number | undefined
}

export type GetOpportunityHistoricalAPRParams = {
  chainId: number
  /** EVM address, any case */
  vaultAddress: `0x${string}`
  /** The first instant, at most 365 days ago */
  startDate: string | Date
  /** The last instant; absent or in the future means now */
  endDate?: string | Date | undefined
  /** Seconds of a bucket; a range has at most 10,000 buckets */
  step?: number | undefined
  /** Seconds a rate looks back, whatever the step */
  apyInterval?: number | undefined
  /** With the two readings of each point; at most 1,000 buckets then */
  includeInputs?: boolean | undefined
}

export type GetOpportunityHistoricalAPYParams = {
  chainId: number
  /** EVM address, any case */
  vaultAddress: `0x${string}`
  /** The first instant, at most 365 days ago */
  startDate: string | Date
  /** The last instant; absent or in the future means now */
  endDate?: string | Date | undefined
  /** Seconds of a bucket; a range has at most 10,000 buckets */
  step?: number | undefined
  /** Seconds a rate looks back, whatever the step */
  apyInterval?: number | undefined
  /** With the two readings of each point; at most 1,000 buckets then */
  includeInputs?: boolean | undefined
}

export type GetOpportunityHistoricalLPsParams = {
  chainId: number
  /** EVM address, any case */
  vaultAddress: `0x${string}`
  /** RFC 3339 date-time, with Z or an offset */
  startDate: string | Date
  /** RFC 3339 date-time, with Z or an offset */
  endDate: string | Date
  /** Seconds, a multiple of 900 */
  step?: number | null | undefined
}

export type GetOpportunityHistoricalSharePriceParams = {
  chainId: number
  /** EVM address, any case */
  vaultAddress: `0x${string}`
  /** The first instant, at most 365 days ago */
  startDate: string | Date
  /** The last instant; absent or in the future means now */
  endDate?: string | Date | undefined
  /** Seconds of a bucket; a range has at most 10,000 buckets */
  step?: number | undefined
  /** Seconds a rate looks back, whatever the step */
  apyInterval?: number | undefined
}

export type GetOpportunityHistoricalTVLParams = {
  chainId: number
  /** EVM address, any case */
  vaultAddress: `0x${string}`
  /** The first instant, at most 365 days ago */
  startDate: string | Date
  /** The last instant; absent or in the future means now */
  endDate?: string | Date | undefined
  /** Seconds of a bucket; a range has at most 10,000 buckets */
  step?: number | undefined
  /** Seconds a rate looks back, whatever the step */
  apyInterval?: number | undefined
}

export type GetProtocolsParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
}

export type GetStreamClaimsParams = {
  /** UUID */
  id: string
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
}

export type GetStreamPointsParams = {
  /** UUID */
  id?: string | undefined
  /** UUID */
  orgId?: string | undefined
  symbol?: string | undefined
  name?: string | undefined
}

export type GetStreamTokensParams = {
  chainId?: number | undefined
}

export type GetStreamWalletParams = {
  /** UUID */
  id: string
  /** EVM address, any case */
  address: `0x${string}`
}

export type GetStreamWalletsParams = {
  /** UUID */
  id: string
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
}

export type GetStreamsParams = {
  /** UUID */
  id?: string | undefined
  /** UUID */
  orgId?: string | undefined
  /** Adds snapshots, newest first: the newest 100 of a stream and 2,000 in all, of the newest streams first; a stream of which some are left out has snapshotsTruncated. Each 500 of them cost a unit more */
  withSnapshots?: boolean | undefined
  /** false leaves the counts of wallets null */
  usersCount?: boolean | undefined
}

export type GetStreamsForWalletParams = {
  /** EVM address, any case */
  address: `0x${string}`
  withSnapshots?: boolean | undefined
}

export type GetSwapParams = {
  /** EVM address, any case */
  user: `0x${string}`
  chainId: number
  /** Builder code */
  distributorId: string
  /** Token, or native */
  tokenIn: `0x${string}` | 'native'
  /** Token, or native */
  tokenOut: `0x${string}` | 'native'
  /** Smallest units, above 0 */
  amountIn: string | bigint
  /** Hundredths of a percent */
  slippageBps: number
  /** false: check no balance and simulate nothing, for a quote screen */
  simulate?: boolean | undefined
}

export type GetSwapDetailsParams = {
  /** Whose tokens to show */
  chainId?: number | undefined
}

export type GetSwapOrderStatusParams = {
  /** UUID */
  orderId: string
}

export type GetSwapTokensParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 300; below 1 is 20 */
  limit?: number | undefined
  chainId?: number | undefined
  /** Part of the address, name or symbol; with a chainId also the whole address of any token */
  search?: string | undefined
}

export type GetTokenByAddressParams = {
  chainId: number
  /** EVM address, any case */
  address: `0x${string}`
}

export type GetTokensParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
  chainId?: number | undefined
  /** Part of the address, name or symbol, upper and lower case alike */
  search?: string | undefined
}

export type GetVerificationContextParams = {
  chainId: number
}

export type GetWalletActivityParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
  /** EVM addresses, any case; separated by commas, at most 1,000 */
  addresses: `0x${string}` | readonly `0x${string}`[]
}

export type GetWalletPortfolioParams = {
  /** An EVM, Solana or TON address; its form tells which */
  address: string
  /** Receipt tokens are listed too; they count in their protocol rows */
  includeProtocolTokens?: boolean | undefined
  /** Start of a range that earnings are asked for; needs `earnedTo` */
  earnedFrom?: string | Date | undefined
  /** End of that range, not part of it: at most 60 s ahead of now and 366 days after `earnedFrom` */
  earnedTo?: string | Date | undefined
}

export type GetWalletRequestsParams = {
  /** EVM address, any case */
  address: `0x${string}`
}

export type IncreaseStreamBudgetParams = {
  /** UUID */
  id: string
  /** Integer in the token's smallest unit */
  amount: string | bigint
  signatureExpirationSeconds?: number | null | undefined
}

export type ListInteractionsParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
  /** Absent returns both */
  interactionType?: 'deposit' | 'withdraw' | undefined
  /** Builder code */
  distributorId?: string | undefined
  /** UUID */
  opportunityId?: string | undefined
  /** UUID */
  productId?: string | undefined
  /** One of date, usdValue, amount, opportunity, distributor, wallet, type */
  sortBy?: 'date' | 'usdValue' | 'amount' | 'opportunity' | 'distributor' | 'wallet' | 'type' | undefined
  /** One of asc, desc */
  sortOrder?: 'asc' | 'desc' | undefined
  /** A cursor of GetEvents, `next`, or the id of an entry; not with `sortBy` or `page` */
  after?: string | undefined
}

export type ListOpportunitiesParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
  /** Part of the name, the description, or the address of a token or the vault, upper and lower case alike */
  search?: string | undefined
  /** The slug, letter for letter: share links carry it */
  slug?: string | undefined
  /** Chain ids of the deposit tokens; separated by commas, at most 200 */
  chainIds?: string | number | readonly (string | number)[] | undefined
  /** A deposit token as `<address>-<chainId>` */
  depositToken?: `0x${string}-${number}` | undefined
  /** Symbols of deposit tokens, upper and lower case alike; separated by commas, at most 200 */
  depositTokenSymbols?: string | readonly string[] | undefined
  /** Codes of tags; separated by commas, at most 200 */
  tags?: string | readonly string[] | undefined
  /** Ids of curators; an opportunity with any of them; separated by commas, at most 200 */
  curatorId?: string | readonly string[] | undefined
  /** Ids of providers; a lending protocol counts as the provider of what is built on it; an opportunity with any of them; separated by commas, at most 200 */
  providerId?: string | readonly string[] | undefined
  /** Ids of partners; an opportunity with any of them; separated by commas, at most 200 */
  partnerId?: string | readonly string[] | undefined
  /** Ids of lending protocols; an opportunity with any of them; separated by commas, at most 200 */
  lendingProtocolId?: string | readonly string[] | undefined
  /** Least TVL in US dollars, inclusive; above 0 it leaves out what has no TVL */
  tvlMin?: number | undefined
  /** Most TVL in US dollars, inclusive; leaves out what has no TVL */
  tvlMax?: number | undefined
  /** Least estimated APR in percent, inclusive */
  minApr?: number | undefined
  /** Most estimated APR in percent, inclusive */
  maxApr?: number | undefined
  /** true: featured ones; false: the others */
  featured?: boolean | null | undefined
  /** When true, only opportunities with direct deposits; false filters nothing */
  directInteractionEnabled?: boolean | undefined
  /** When true, only opportunities with deposits through a swap; false filters nothing */
  routedSwapEnabled?: boolean | undefined
  /** When true, only opportunities with deposits open; false filters nothing */
  depositEnabled?: boolean | undefined
  /** When true, only opportunities with withdrawals open; false filters nothing */
  withdrawEnabled?: boolean | undefined
  /** When true, only opportunities with deposits in two steps; false filters nothing */
  asyncDeposit?: boolean | undefined
  /** When true, only opportunities with withdrawals in two steps; false filters nothing */
  asyncWithdraw?: boolean | undefined
  /** Adds TVL, LP count and APY with their movement over the trailing 1, 7 and 30 days */
  includeDeltas?: boolean | undefined
  /** One of tvl, name, type, apr, curator, provider, tvlD1, tvlD7, tvlD30, lpsD1, lpsD7, lpsD30, growthApyD1, growthApyD7, growthApyD30 */
  sortBy?: 'tvl' | 'name' | 'type' | 'apr' | 'curator' | 'provider' | 'tvlD1' | 'tvlD7' | 'tvlD30' | 'lpsD1' | 'lpsD7' | 'lpsD30' | 'growthApyD1' | 'growthApyD7' | 'growthApyD30' | undefined
  /** One of asc, desc */
  sortOrder?: 'asc' | 'desc' | undefined
}

export type ListOpportunitiesByDistributorParams = {
  /** Builder code */
  distributorId: string
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
  /** Part of the name, the description, or the address of a token or the vault, upper and lower case alike */
  search?: string | undefined
  /** The slug, letter for letter: share links carry it */
  slug?: string | undefined
  /** Chain ids of the deposit tokens; separated by commas, at most 200 */
  chainIds?: string | number | readonly (string | number)[] | undefined
  /** A deposit token as `<address>-<chainId>` */
  depositToken?: `0x${string}-${number}` | undefined
  /** Symbols of deposit tokens, upper and lower case alike; separated by commas, at most 200 */
  depositTokenSymbols?: string | readonly string[] | undefined
  /** Codes of tags; separated by commas, at most 200 */
  tags?: string | readonly string[] | undefined
  /** Ids of curators; an opportunity with any of them; separated by commas, at most 200 */
  curatorId?: string | readonly string[] | undefined
  /** Ids of providers; a lending protocol counts as the provider of what is built on it; an opportunity with any of them; separated by commas, at most 200 */
  providerId?: string | readonly string[] | undefined
  /** Ids of partners; an opportunity with any of them; separated by commas, at most 200 */
  partnerId?: string | readonly string[] | undefined
  /** Ids of lending protocols; an opportunity with any of them; separated by commas, at most 200 */
  lendingProtocolId?: string | readonly string[] | undefined
  /** Least TVL in US dollars, inclusive; above 0 it leaves out what has no TVL */
  tvlMin?: number | undefined
  /** Most TVL in US dollars, inclusive; leaves out what has no TVL */
  tvlMax?: number | undefined
  /** Least estimated APR in percent, inclusive */
  minApr?: number | undefined
  /** Most estimated APR in percent, inclusive */
  maxApr?: number | undefined
  /** true: featured ones; false: the others */
  featured?: boolean | null | undefined
  /** When true, only opportunities with direct deposits; false filters nothing */
  directInteractionEnabled?: boolean | undefined
  /** When true, only opportunities with deposits through a swap; false filters nothing */
  routedSwapEnabled?: boolean | undefined
  /** When true, only opportunities with deposits open; false filters nothing */
  depositEnabled?: boolean | undefined
  /** When true, only opportunities with withdrawals open; false filters nothing */
  withdrawEnabled?: boolean | undefined
  /** When true, only opportunities with deposits in two steps; false filters nothing */
  asyncDeposit?: boolean | undefined
  /** When true, only opportunities with withdrawals in two steps; false filters nothing */
  asyncWithdraw?: boolean | undefined
  /** Adds TVL, LP count and APY with their movement over the trailing 1, 7 and 30 days */
  includeDeltas?: boolean | undefined
  /** One of tvl, name, type, apr, curator, provider, tvlD1, tvlD7, tvlD30, lpsD1, lpsD7, lpsD30, growthApyD1, growthApyD7, growthApyD30 */
  sortBy?: 'tvl' | 'name' | 'type' | 'apr' | 'curator' | 'provider' | 'tvlD1' | 'tvlD7' | 'tvlD30' | 'lpsD1' | 'lpsD7' | 'lpsD30' | 'growthApyD1' | 'growthApyD7' | 'growthApyD30' | undefined
  /** One of asc, desc */
  sortOrder?: 'asc' | 'desc' | undefined
}

export type ListWebhookDeliveriesParams = {
  /** UUID */
  webhookId: string
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 100; below 1 is 20 */
  limit?: number | undefined
}

export type ListWebhooksParams = Record<never, never>

export type PostStreamsBulkParams = {
  /** From 1; below 1 is 1 */
  page?: number | undefined
  /** Items a page, 1 to 500 */
  limit?: number | undefined
  ids?: readonly string[] | null | undefined
  organizationIds?: readonly string[] | null | undefined
  targetChainIds?: readonly number[] | null | undefined
  targetTokens?: readonly {
    chainId: number
    /** EVM address, any case */
    address: `0x${string}`
  }[] | null | undefined
  withSnapshots?: boolean | null | undefined
  usersCount?: boolean | null | undefined
}

export type ReplayWebhookParams = {
  /** UUID */
  webhookId: string
  /** A cursor of GetEvents */
  after: string
}

export type ReportSwapExecutionParams = {
  /** UUID */
  actionId?: string | undefined
  /** UUID */
  orderId?: string | undefined
  chainId: number
  /** Transaction hash */
  txHash: `0x${string}`
}

export type RotateWebhookSecretParams = {
  /** UUID */
  webhookId: string
  /** 86400 unless given */
  overlapSeconds?: number | undefined
  /** `whsec_` and the base64 of 24 to 64 bytes; made by the service unless given */
  secret?: string | undefined
}

export type StreamEventsParams = {
  /** `wallet:0x…` (of all chains), `opportunity:<uuid>` or `order:<uuid>` */
  subject: string
}

export type SubmitSwapOrderParams = {
  /** UUID */
  orderId: string
  /** Of the typed data: r, s and v (65 bytes) of a key; of any length for a contract wallet (ERC-1271) */
  signature: `0x${string}`
}

export type TestWebhookParams = {
  /** UUID */
  webhookId: string
}

export type UpdateWebhookParams = {
  /** UUID */
  webhookId: string
  /** https, at a public address, port 443 or 8443 */
  url?: string | undefined
  /** Types of events; empty: all */
  types?: readonly string[] | undefined
  enabled?: boolean | undefined
  /** Events of the past too */
  late?: boolean | undefined
}

export type VerifyTrackingParams = {
  chainId: number
  /** Transaction hash */
  txHash: `0x${string}`
}

export type BuildSwapOrderResult = BuiltSwapOrder

export type CreateCancelDepositInteractionResult = Interaction

export type CreateClaimDepositInteractionResult = Interaction

export type CreateDepositInteractionResult = Interaction

export type CreateMembershipResult = {
  isMember: boolean
  error: string
}

export type CreateMembershipAgreementResult = {
  /** The text to sign, byte for byte */
  message: string
  /** Goes back with the signature; works once, for ten minutes */
  nonce: string
}

export type CreateStreamResult = {
  message: string
  stream: Stream
  txParams?: StreamTxParams
  /** Integer in the token's smallest unit */
  feeAmount: string
}

export type CreateStreamPointResult = {
  point: StreamPoint
}

export type CreateStreamWithdrawalResult = StreamAdminOperation

export type CreateWebhookResult = WebhookWithSecret

export type CreateWithdrawInteractionResult = Interaction

export type DeleteWebhookResult = Webhook

export type GetActionResult = {
  /** UUID */
  actionId: string
  kind: 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit' | 'swap'
  status: 'built' | 'submitted' | 'verified' | 'reverted' | 'expired'
  opportunityId: string | null
  chainId: number
  /** EVM address, EIP-55 checksum */
  walletAddress: `0x${string}`
  distributorId: string | null
  /** RFC 3339, UTC */
  createdAt: string
  /** RFC 3339, UTC */
  validUntil: string
  /** Transactions seen to carry the action, oldest block first, at most 100 */
  transactions: ({
    /** Transaction hash */
    txHash: `0x${string}`
    blockNumber: number | null
    state: 'pending' | 'mined' | 'confirmed' | 'reverted'
  })[]
  /** Verified entries of these transactions, of this wallet */
  interactions: ({
    /** UUID */
    id: string
    /** UUID */
    opportunityId: string
    interaction: 'deposit' | 'withdraw'
    /** Transaction hash */
    txHash: `0x${string}`
    chainId: number
    blockTimestamp: string | null
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    amountToken: string | null
    amountInUsd: string | null
    tokenSymbol: string | null
    tokenIconUrl: string | null
    /** A router made the deposit for the wallet */
    isSwap: boolean
    distributorId: string
    logIndex: number
    blockNumber: number
    /** Integer in the token's smallest unit */
    amountRaw: string
    finality: 'confirmed' | 'final'
    attribution: 'signed' | 'unsigned' | 'legacy'
  })[]
}

export type GetActiveAdminOperationResult = StreamAdminOperation

export type GetAttributionResult = {
  /** Transaction hash */
  txHash: `0x${string}`
  chainId: number | null
  attributed: boolean
  distributorId: string | null
  codes: string[]
  source: 'interaction' | 'watcher' | 'calldata' | null
  action: {
    /** UUID */
    actionId: string
    kind: string
    status: 'built' | 'submitted' | 'verified' | 'reverted' | 'expired'
    /** RFC 3339, UTC */
    createdAt: string
  } | null
  interactions: ({
    /** UUID */
    id: string
    /** UUID */
    opportunityId: string
    interaction: 'deposit' | 'withdraw'
    /** Transaction hash */
    txHash: `0x${string}`
    chainId: number
    blockTimestamp: string | null
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    amountToken: string | null
    amountInUsd: string | null
    tokenSymbol: string | null
    tokenIconUrl: string | null
    /** A router made the deposit for the wallet */
    isSwap: boolean
    distributorId: string
    logIndex: number
    blockNumber: number
    /** Integer in the token's smallest unit */
    amountRaw: string
    finality: 'confirmed' | 'final'
    attribution: 'signed' | 'unsigned' | 'legacy'
  })[]
  watched: ({
    chainId: number
    blockNumber: number
    /** Transaction hash */
    blockHash: `0x${string}`
    /** RFC 3339, UTC */
    timestamp: string
    /** EVM address, EIP-55 checksum */
    from: `0x${string}`
    to: `0x${string}` | null
    distributorId: string | null
    codes: string[]
    schema: string | null
    signatureValid: boolean | null
    evidence: 'trace' | 'calldata'
    retracted: boolean
  })[]
  calldata: {
    found: boolean
    schema: 'erc8021-0' | 'erc8021-1' | 'erc8021-2' | 'legacy' | null
    placement: 'transaction' | 'userOperation' | 'innerCall' | null
    app: string | null
    wallet: string | null
    services: string[]
    codes: string[]
    registries: Record<string, unknown> | null
    metadata: Record<string, unknown> | null
    suffix: `0x${string}` | null
    start: number | null
    end: number | null
    signature: {
      present: boolean
      valid: boolean
      signer: `0x${string}` | null
    }
    problems: string[]
    /** Further suffixes inwards */
    stacked: ({
      found: boolean
      schema: 'erc8021-0' | 'erc8021-1' | 'erc8021-2' | 'legacy' | null
      placement: 'transaction' | 'userOperation' | 'innerCall' | null
      app: string | null
      wallet: string | null
      services: string[]
      codes: string[]
      registries: Record<string, unknown> | null
      metadata: Record<string, unknown> | null
      suffix: `0x${string}` | null
      start: number | null
      end: number | null
      signature: {
        present: boolean
        valid: boolean
        signer: `0x${string}` | null
      }
      problems: string[]
    })[]
  } | null
  /** Counted, and not listed: a response is at most 256 KiB */
  omitted: {
    codes: number
    interactions: number
    watched: number
    stacked: number
  }
}

export type GetAttributionProofResult = {
  /** 1 */
  version: number
  chainId: number
  /** Transaction hash */
  txHash: `0x${string}`
  blockHash: `0x${string}`
  header: `0x${string}`
  transaction: {
    /** The place in the block, from 0 */
    index: number
    /** The nodes of the trie from the root to the leaf, in RLP */
    path: `0x${string}`[]
  }
  receipt: {
    /** The place in the block, from 0 */
    index: number
    /** The nodes of the trie from the root to the leaf, in RLP */
    path: `0x${string}`[]
  }
  entries: ({
    /** Chain, block hash, transaction hash, log, distributor and wallet, by colons */
    id: string
    /** The place of the vault's event among the logs of the receipt, from 0 */
    logIndex: number
    distributorId: string
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    /** Integer in the token's smallest unit */
    amountRaw: string
    rule: 'signed' | 'unsigned'
    restsOn: ('path' | 'trace' | 'state' | 'history' | 'configuration')[]
  })[]
}

export type GetChainsResult = {
  data: Chain[]
  pagination: Pagination
}

export type GetDistributorDepositsResult = {
  deposits: ({
    /** UUID */
    id: string
    /** UUID */
    opportunityId: string
    interaction: 'deposit' | 'withdraw'
    /** Transaction hash */
    txHash: `0x${string}`
    chainId: number
    blockTimestamp: string | null
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    amountToken: string | null
    amountInUsd: string | null
    tokenSymbol: string | null
    tokenIconUrl: string | null
    /** A router made the deposit for the wallet */
    isSwap: boolean
    distributorId: string
    logIndex: number
    blockNumber: number
    /** Integer in the token's smallest unit */
    amountRaw: string
    finality: 'confirmed' | 'final'
    attribution: 'signed' | 'unsigned' | 'legacy'
  })[]
  pagination: PaginationNav
}

export type GetDistributorLPsResult = {
  timeseries: {
    /** RFC 3339, UTC */
    timestamp: string
    activeLps: number
    participatedLps: number
  }[]
}

export type GetDistributorMetricsResult = {
  timeseries: {
    /** RFC 3339, UTC */
    timestamp: string
    /** At the end of the bucket: a chart; pay by USD-days */
    tvl: string
    /** Of the bucket, cut to the range; only with includeUsdDays */
    usdDays?: string
  }[]
  usdDays?: {
    /** US dollars × days over the range, each vault cut once after 18 digits: the figure to pay by. It may exceed the sum of the points by less than 10^-18 a point and vault */
    total: string
    /** Up to when all chains of the opportunities asked for are confirmed, at most the end of the range; a chain that is further counts further */
    to: string
    /** Every block of the range is final, and every snapshot of it is read; a later reorganisation changes nothing */
    isFinal: boolean
    /** How long shares were held without a known price, which adds nothing; summed over vaults */
    unpricedSeconds: number
    /** How long shares were held while a price could not be checked against mints: they count by the least held since the snapshot; summed over vaults */
    unguardedSeconds: number
    /** Snapshots after which vaults sold shares below their price: it was staged, or the vault lost */
    staged: number
  }
  flows?: Flows
  asOf: {
    /** UUID */
    opportunityId: string
    /** RFC 3339, UTC */
    asOf: string
  }[]
  topWallets: {
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    /** Plain decimal, no exponent */
    totalTvl: string
    /** RFC 3339, UTC */
    asOf: string
  }[] | null
  audit?: {
    months: ({
      /** UTC */
      month: string
      rulesVersion: number
      findings: ({
        code: 'inAndOut' | 'loop' | 'replayedSignature' | 'unsignedShare' | 'belowFloor' | 'paidByOneSender' | 'approvalCode' | 'foreignCaller' | 'staged' | 'bucketEnd'
        count: number
        /** The USD-days that it touches */
        usdDays: string
        transactions: `0x${string}`[]
      })[]
      /** Points of the findings */
      score: number
    })[]
  } | null
}

export type GetEventsResult = {
  data: Event[]
  /** The cursor to go on from */
  next: string
}

export type GetIndexingStatusResult = {
  chains: ({
    chainId: number
    name: string
    headBlock: number
    indexedBlock: number
    finalizedBlock: number | null
    lagBlocks: number
    lagSeconds: number
    state: 'not-started' | 'backfilling' | 'live' | 'stalled' | 'paused'
    reorgs24h: number
    updatedAt: string | null
    evidence: 'trace' | 'calldata'
    traceFrom: number | null
  })[]
  vaults: ({
    chainId: number
    /** EVM address, EIP-55 checksum */
    vaultAddress: `0x${string}`
    opportunityId: string | null
    protocol: string
    state: 'not-started' | 'backfilling' | 'live' | 'stalled' | 'paused' | 'unsupported'
    firstSnapshotAt: string | null
    lastSnapshotAt: string | null
    reason: string | null
    retryAfterSeconds: number | null
    drift: {
      checkedAt: string | null
      samples: number
      mismatches: number
    }
  })[]
  attributionSigners: ({
    /** EVM address, EIP-55 checksum */
    address: `0x${string}`
    /** RFC 3339, UTC */
    from: string
    to: string | null
  })[]
}

export type GetKeyResult = Key

export type GetMembershipResult = {
  isMember: boolean
}

export type GetMerkleProofsResult = {
  proofs: MerkleProof[]
}

export type GetOpportunityResult = Opportunity

export type GetOpportunityFilterOptionsResult = {
  chains: Chain[]
  providers: OrganizationOption[]
  curators: OrganizationOption[]
  partners: OrganizationOption[]
  lendingProtocols: OrganizationOption[]
  tags: Tag[]
  depositTokenSymbols: {
    symbol: string
    logoUrl: string
  }[]
  sortOptions: ({
    value: 'tvl' | 'name' | 'type' | 'apr' | 'curator' | 'provider' | 'tvlD1' | 'tvlD7' | 'tvlD30' | 'lpsD1' | 'lpsD7' | 'lpsD30' | 'growthApyD1' | 'growthApyD7' | 'growthApyD30'
    label: string
  })[]
}

export type GetOpportunityHistoricalResult = {
  baseAsset?: Token
  data: ({
    /** RFC 3339, UTC */
    timestamp: string
    blockNumber: number
    tvl: Value
    sharePrice: Value
    apy: Rate | null
  })[]
  /** Always false: no point of the range is left out */
  historyTruncated: boolean
}

export type GetOpportunityHistoricalAPRResult = {
  data: {
    /** RFC 3339, UTC */
    timestamp: string
    blockNumber: number
    apr: Rate
    /** Seconds between the two readings, at least `apyInterval` */
    effectiveIntervalSeconds: number
    inputs?: {
      from: Reading
      to: Reading
    }
  }[]
  method: Method
}

export type GetOpportunityHistoricalAPYResult = {
  data: {
    /** RFC 3339, UTC */
    timestamp: string
    blockNumber: number
    apy: Rate
    /** Seconds between the two readings, at least `apyInterval` */
    effectiveIntervalSeconds: number
    inputs?: {
      from: Reading
      to: Reading
    }
  }[]
  method: Method
}

export type GetOpportunityHistoricalLPsResult = {
  data: {
    /** RFC 3339, UTC */
    timestamp: string
    distributor: {
      activeLps: number
      participatedLps: number
    }
    all: {
      activeLps: number
      participatedLps: number
    }
  }[]
}

export type GetOpportunityHistoricalSharePriceResult = {
  baseAsset?: Token
  data: {
    /** RFC 3339, UTC */
    timestamp: string
    blockNumber: number
    sharePrice: Value
  }[]
}

export type GetOpportunityHistoricalTVLResult = {
  baseAsset?: Token
  data: {
    /** RFC 3339, UTC */
    timestamp: string
    blockNumber: number
    tvl: Value
  }[]
}

export type GetProtocolsResult = {
  data: Protocol[]
  pagination: Pagination
}

export type GetStreamClaimsResult = {
  data: StreamClaim[]
  pagination: PaginationNav
}

export type GetStreamPointsResult = {
  points: StreamPoint[]
}

export type GetStreamTokensResult = {
  tokens: StreamToken[]
}

export type GetStreamWalletResult = {
  wallet: WalletStream
}

export type GetStreamWalletsResult = {
  data: {
    userAddress: string
    lastSnapshot: WalletSnapshot
  }[]
  pagination: PaginationNav
}

export type GetStreamsResult = {
  streams: Stream[]
}

export type GetStreamsForWalletResult = {
  streams: WalletStream[]
}

export type GetSwapResult = Interaction

export type GetSwapDetailsResult = SwapDetails

export type GetSwapOrderStatusResult = SwapOrder

export type GetSwapTokensResult = {
  data: SwapToken[]
  pagination: PaginationNav
}

export type GetTokenByAddressResult = Token

export type GetTokensResult = {
  data: Token[]
  pagination: Pagination
}

export type GetVerificationContextResult = VerificationContext

export type GetWalletActivityResult = {
  activity: ({
    /** UUID */
    id: string
    /** UUID */
    opportunityId: string
    interaction: 'deposit' | 'withdraw'
    /** Transaction hash */
    txHash: `0x${string}`
    chainId: number
    blockTimestamp: string | null
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    amountToken: string | null
    amountInUsd: string | null
    tokenSymbol: string | null
    tokenIconUrl: string | null
    /** A router made the deposit for the wallet */
    isSwap: boolean
    distributorId: string
    logIndex: number
    blockNumber: number
    /** Integer in the token's smallest unit */
    amountRaw: string
    finality: 'confirmed' | 'final'
    attribution: 'signed' | 'unsigned' | 'legacy'
  })[]
  pagination: PaginationNav
}

export type GetWalletPortfolioResult = {
  portfolio: {
    productsEarnings: Earning[]
    inRange?: EarnedOfWallet
    holdings: {
      /** Plain decimal, no exponent */
      totalUsd: string
      wallets: WalletHoldings[]
    }
  }
}

export type GetWalletRequestsResult = {
  requests: ({
    /** UUID */
    opportunityId: string
    kind: 'deposit' | 'redeem'
    requestId: string
    state: 'pending' | 'claimable' | 'claimed' | 'cancelling' | 'cancelled'
    assets: string | null
    shares: string | null
    /** Integer in the token's smallest unit */
    claimable: string
    distributorId: string | null
    /** RFC 3339, UTC */
    requestedAt: string
    /** Transaction hash */
    txHash: `0x${string}`
  })[]
}

export type IncreaseStreamBudgetResult = StreamAdminOperation

export type ListInteractionsResult = {
  data: ({
    /** UUID */
    id: string
    /** UUID */
    opportunityId: string
    interaction: 'deposit' | 'withdraw'
    /** Transaction hash */
    txHash: `0x${string}`
    chainId: number
    blockTimestamp: string | null
    /** EVM address, EIP-55 checksum */
    walletAddress: `0x${string}`
    amountToken: string | null
    amountInUsd: string | null
    tokenSymbol: string | null
    tokenIconUrl: string | null
    /** A router made the deposit for the wallet */
    isSwap: boolean
    distributorId: string
    logIndex: number
    blockNumber: number
    /** Integer in the token's smallest unit */
    amountRaw: string
    finality: 'confirmed' | 'final'
    attribution: 'signed' | 'unsigned' | 'legacy'
  })[]
  pagination?: Pagination
  /** With `after`: the cursor to go on from */
  next?: string
}

export type ListOpportunitiesResult = {
  data: Opportunity[]
  pagination: Pagination
}

export type ListOpportunitiesByDistributorResult = {
  data: Opportunity[]
  pagination: Pagination
}

export type ListWebhookDeliveriesResult = {
  data: Delivery[]
  pagination: Pagination
}

export type ListWebhooksResult = {
  data: Webhook[]
}

export type PostStreamsBulkResult = {
  streams: Stream[]
  pagination?: PaginationNav
}

export type ReplayWebhookResult = Webhook

export type ReportSwapExecutionResult = SwapExecution

export type RotateWebhookSecretResult = WebhookWithSecret

export type StreamEventsResult = Event

export type SubmitSwapOrderResult = SwapOrder

export type TestWebhookResult = Delivery

export type UpdateWebhookResult = Webhook

export type VerifyTrackingResult = {
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
  /** Empty exactly when the signature is valid */
  error: string
  proof: {
    chainId: number
    blockNumber: number
    /** Transaction hash */
    blockHash: `0x${string}`
    transactionIndex: number
    /** false: the transaction reverted, and its attribution has no effect */
    success: boolean
    inspection: {
      found: boolean
      schema: 'erc8021-0' | 'erc8021-1' | 'erc8021-2' | 'legacy' | null
      placement: 'transaction' | 'userOperation' | 'innerCall' | null
      app: string | null
      wallet: string | null
      services: string[]
      codes: string[]
      registries: Record<string, unknown> | null
      metadata: Record<string, unknown> | null
      suffix: `0x${string}` | null
      start: number | null
      end: number | null
      signature: {
        present: boolean
        valid: boolean
        signer: `0x${string}` | null
      }
      problems: string[]
      /** Further suffixes inwards */
      stacked: ({
        found: boolean
        schema: 'erc8021-0' | 'erc8021-1' | 'erc8021-2' | 'legacy' | null
        placement: 'transaction' | 'userOperation' | 'innerCall' | null
        app: string | null
        wallet: string | null
        services: string[]
        codes: string[]
        registries: Record<string, unknown> | null
        metadata: Record<string, unknown> | null
        suffix: `0x${string}` | null
        start: number | null
        end: number | null
        signature: {
          present: boolean
          valid: boolean
          signer: `0x${string}` | null
        }
        problems: string[]
      })[]
    }
    events: {
      /** EVM address, EIP-55 checksum */
      address: `0x${string}`
      logIndex: number
      name: string
      args: Record<string, unknown>
    }[]
  }
}
