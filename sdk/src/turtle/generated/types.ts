// Generated from service/openapi.json by `npm run client`. Do not edit.
import type * as client from '../../client/generated/types.js'

export type * from '../../client/generated/types.js'

export type CreateCancelDepositInteractionData = {
  path: {
    /** UUID */
    opportunityId: string
  }
  query?: undefined
  body: {
    /** EVM address, any case */
    userAddress: string
    /** Builder code */
    distributorId?: string | undefined
    /** One request; absent: all of them */
    requestId?: string | undefined
    /** false: do not simulate; the status is skipped; true unless given */
    simulate?: boolean | undefined
  }
  url: '/v2/actions/cancel-deposit/{opportunityId}'
}
export type CreateCancelDepositInteractionResponses = { 200: client.CreateCancelDepositInteractionResult }
export type CreateCancelDepositInteractionResponse = CreateCancelDepositInteractionResponses[keyof CreateCancelDepositInteractionResponses]
export type CreateCancelDepositInteractionError = client.Error

export type CreateClaimDepositInteractionData = {
  path: {
    /** UUID */
    opportunityId: string
  }
  query?: undefined
  body: {
    /** EVM address, any case */
    userAddress: string
    /** Builder code */
    distributorId?: string | undefined
    /** One request; absent: all of them */
    requestId?: string | undefined
    /** false: do not simulate; the status is skipped; true unless given */
    simulate?: boolean | undefined
  }
  url: '/v2/actions/claim-deposit/{opportunityId}'
}
export type CreateClaimDepositInteractionResponses = { 200: client.CreateClaimDepositInteractionResult }
export type CreateClaimDepositInteractionResponse = CreateClaimDepositInteractionResponses[keyof CreateClaimDepositInteractionResponses]
export type CreateClaimDepositInteractionError = client.Error

export type CreateDepositInteractionData = {
  path: {
    /** UUID */
    opportunityId: string
  }
  query?: undefined
  body: {
    /** EVM address, any case */
    userAddress: string
    /** Token, or native */
    tokenIn: string
    /** Smallest units, above 0 */
    amount: string | bigint
    /** Builder code */
    distributorId: string
    /** swap: any token, swapped first; a token that the vault takes itself is deposited as it is; "direct" unless given. One of direct, swap */
    mode?: string | undefined
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
  url: '/v2/actions/deposit/{opportunityId}'
}
export type CreateDepositInteractionResponses = { 200: client.CreateDepositInteractionResult }
export type CreateDepositInteractionResponse = CreateDepositInteractionResponses[keyof CreateDepositInteractionResponses]
export type CreateDepositInteractionError = client.Error

export type CreateMembershipV2Data = {
  path?: undefined
  query?: undefined
  body: {
    /** The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton) */
    address: string
    /** One of evm, solana, ton */
    walletEcosystem: string
    /** Signature of the message: hex for evm, of any length for a contract wallet (`0x` too); base58, base64 or hex for solana; for ton the JSON text (or its base64) of what TON Connect answered, with `type` signData */
    signature: string
    /** The nonce that came with the message */
    nonce: string
    /** Who the user signed up through */
    distributorId?: string | undefined
  }
  url: '/v2/membership/'
}
export type CreateMembershipV2Responses = { 200: client.CreateMembershipResult }
export type CreateMembershipV2Response = CreateMembershipV2Responses[keyof CreateMembershipV2Responses]
export type CreateMembershipV2Error = client.Error

export type CreateMembershipAgreementV2Data = {
  path?: undefined
  query?: undefined
  body: {
    /** The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton) */
    address: string
    /** One of evm, solana, ton */
    walletEcosystem: string
    /** Where the wallet is asked to sign; http or https. Its host is shown to the signer. */
    url: string
    /** Where a contract wallet lives; evm only; "1" unless given */
    chainId?: string | number | undefined
  }
  url: '/v2/membership/agreement'
}
export type CreateMembershipAgreementV2Responses = { 200: client.CreateMembershipAgreementResult }
export type CreateMembershipAgreementV2Response = CreateMembershipAgreementV2Responses[keyof CreateMembershipAgreementV2Responses]
export type CreateMembershipAgreementV2Error = client.Error

export type CreateStreamData = {
  path?: undefined
  query?: undefined
  body: {
    /** 1 fixed rate, 2 fixed APR, 3 daily budget */
    type: number
    /** RFC 3339 date-time, with Z or an offset */
    startTimestamp: string | Date
    endTimestamp?: string | Date | null | undefined
    totalAmount?: string | bigint | null | undefined
    rewardTokenId?: string | null | undefined
    pointId?: string | null | undefined
    walletAddress?: string | null | undefined
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
  url: '/v2/streams/'
}
export type CreateStreamResponses = { 200: client.CreateStreamResult }
export type CreateStreamResponse = CreateStreamResponses[keyof CreateStreamResponses]
export type CreateStreamError = client.Error

export type CreateStreamPointData = {
  path?: undefined
  query?: undefined
  body: {
    symbol: string
    name: string
    decimals?: number | null | undefined
    logoUrl?: string | null | undefined
  }
  url: '/v2/streams/points'
}
export type CreateStreamPointResponses = { 200: client.CreateStreamPointResult }
export type CreateStreamPointResponse = CreateStreamPointResponses[keyof CreateStreamPointResponses]
export type CreateStreamPointError = client.Error

export type CreateWithdrawInteractionData = {
  path: {
    /** UUID */
    opportunityId: string
  }
  query?: undefined
  body: {
    /** EVM address, any case */
    userAddress: string
    /** Receipt-token units, above 0 */
    amount: string | bigint
    /** Builder code */
    distributorId: string
    /** Token, or native */
    tokenOut?: string | undefined
    /** 50 unless given */
    slippageBps?: number | undefined
    /** false: do not simulate; the status is skipped; true unless given */
    simulate?: boolean | undefined
  }
  url: '/v2/actions/withdraw/{opportunityId}'
}
export type CreateWithdrawInteractionResponses = { 200: client.CreateWithdrawInteractionResult }
export type CreateWithdrawInteractionResponse = CreateWithdrawInteractionResponses[keyof CreateWithdrawInteractionResponses]
export type CreateWithdrawInteractionError = client.Error

export type GetChainsData = {
  path?: undefined
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 100; below 1 is 20 */
    limit?: number | undefined
  } | undefined
  body?: undefined
  url: '/v2/chains/'
}
export type GetChainsResponses = { 200: client.GetChainsResult }
export type GetChainsResponse = GetChainsResponses[keyof GetChainsResponses]
export type GetChainsError = client.Error

export type GetDistributorDepositsV2Data = {
  path: {
    /** Builder code */
    distributorId: string
  }
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 100; below 1 is 20 */
    limit?: number | undefined
    /** UUID */
    opportunityId?: string | undefined
    /** UUID */
    productId?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/deposit/{distributorId}'
}
export type GetDistributorDepositsV2Responses = { 200: client.GetDistributorDepositsResult }
export type GetDistributorDepositsV2Response = GetDistributorDepositsV2Responses[keyof GetDistributorDepositsV2Responses]
export type GetDistributorDepositsV2Error = client.Error

export type GetDistributorLpsData = {
  path: {
    /** Builder code */
    distributorId: string
  }
  query: {
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
  body?: undefined
  url: '/v2/metrics/distributor/{distributorId}/lps'
}
export type GetDistributorLpsResponses = { 200: client.GetDistributorLPsResult }
export type GetDistributorLpsResponse = GetDistributorLpsResponses[keyof GetDistributorLpsResponses]
export type GetDistributorLpsError = client.Error

export type GetDistributorMetricsData = {
  path: {
    /** Builder code */
    distributorId: string
  }
  query: {
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
  body?: undefined
  url: '/v2/metrics/distributor/{distributorId}'
}
export type GetDistributorMetricsResponses = { 200: client.GetDistributorMetricsResult }
export type GetDistributorMetricsResponse = GetDistributorMetricsResponses[keyof GetDistributorMetricsResponses]
export type GetDistributorMetricsError = client.Error

export type GetMembershipData = {
  path?: undefined
  query: {
    /** The wallet: 0x and 40 hex digits (evm), base58 (solana), raw or friendly form (ton) */
    address: string
    walletEcosystem?: 'evm' | 'solana' | 'ton' | undefined
  }
  body?: undefined
  url: '/v2/membership/'
}
export type GetMembershipResponses = { 200: client.GetMembershipResult }
export type GetMembershipResponse = GetMembershipResponses[keyof GetMembershipResponses]
export type GetMembershipError = client.Error

export type TurtleStreamsGetMerkleProofsData = {
  path?: undefined
  query: {
    /** EVM address, any case */
    wallet: string
    /** Ids of streams; repeated or separated by commas, at most 200 */
    streamIds: string | readonly string[]
  }
  body?: undefined
  url: '/v2/streams/merkle_proofs'
}
export type TurtleStreamsGetMerkleProofsResponses = { 200: client.GetMerkleProofsResult }
export type TurtleStreamsGetMerkleProofsResponse = TurtleStreamsGetMerkleProofsResponses[keyof TurtleStreamsGetMerkleProofsResponses]
export type TurtleStreamsGetMerkleProofsError = client.Error

export type GetOpportunityData = {
  path: {
    /** UUID */
    id: string
  }
  query?: {
    /** Adds TVL, LP count and APY with their movement over the trailing 1, 7 and 30 days */
    includeDeltas?: boolean | undefined
  } | undefined
  body?: undefined
  url: '/v2/opportunities/{id}'
}
export type GetOpportunityResponses = { 200: client.GetOpportunityResult }
export type GetOpportunityResponse = GetOpportunityResponses[keyof GetOpportunityResponses]
export type GetOpportunityError = client.Error

export type GetOpportunityFilterOptionsData = {
  path?: undefined
  query?: undefined
  body?: undefined
  url: '/v2/opportunities/filter-options'
}
export type GetOpportunityFilterOptionsResponses = { 200: client.GetOpportunityFilterOptionsResult }
export type GetOpportunityFilterOptionsResponse = GetOpportunityFilterOptionsResponses[keyof GetOpportunityFilterOptionsResponses]
export type GetOpportunityFilterOptionsError = client.Error

export type GetOpportunityHistoricalData = {
  path: {
    chainId: number
    /** EVM address, any case */
    vaultAddress: string
  }
  query: {
    /** The first instant, at most 365 days ago */
    startDate: string | Date
    /** The last instant; absent or in the future means now */
    endDate?: string | Date | undefined
    /** Seconds of a bucket; a range has at most 10,000 buckets */
    step?: number | undefined
    /** Seconds a rate looks back, whatever the step */
    apyInterval?: number | undefined
  }
  body?: undefined
  url: '/v2/opportunities/{chainId}/{vaultAddress}/historical'
}
export type GetOpportunityHistoricalResponses = { 200: client.GetOpportunityHistoricalResult }
export type GetOpportunityHistoricalResponse = GetOpportunityHistoricalResponses[keyof GetOpportunityHistoricalResponses]
export type GetOpportunityHistoricalError = client.Error

export type GetOpportunityHistoricalAprData = {
  path: {
    chainId: number
    /** EVM address, any case */
    vaultAddress: string
  }
  query: {
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
  body?: undefined
  url: '/v2/opportunities/{chainId}/{vaultAddress}/historical/apr'
}
export type GetOpportunityHistoricalAprResponses = { 200: client.GetOpportunityHistoricalAPRResult }
export type GetOpportunityHistoricalAprResponse = GetOpportunityHistoricalAprResponses[keyof GetOpportunityHistoricalAprResponses]
export type GetOpportunityHistoricalAprError = client.Error

export type GetOpportunityHistoricalApyData = {
  path: {
    chainId: number
    /** EVM address, any case */
    vaultAddress: string
  }
  query: {
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
  body?: undefined
  url: '/v2/opportunities/{chainId}/{vaultAddress}/historical/apy'
}
export type GetOpportunityHistoricalApyResponses = { 200: client.GetOpportunityHistoricalAPYResult }
export type GetOpportunityHistoricalApyResponse = GetOpportunityHistoricalApyResponses[keyof GetOpportunityHistoricalApyResponses]
export type GetOpportunityHistoricalApyError = client.Error

export type GetOpportunityHistoricalSharePriceData = {
  path: {
    chainId: number
    /** EVM address, any case */
    vaultAddress: string
  }
  query: {
    /** The first instant, at most 365 days ago */
    startDate: string | Date
    /** The last instant; absent or in the future means now */
    endDate?: string | Date | undefined
    /** Seconds of a bucket; a range has at most 10,000 buckets */
    step?: number | undefined
    /** Seconds a rate looks back, whatever the step */
    apyInterval?: number | undefined
  }
  body?: undefined
  url: '/v2/opportunities/{chainId}/{vaultAddress}/historical/share-price'
}
export type GetOpportunityHistoricalSharePriceResponses = { 200: client.GetOpportunityHistoricalSharePriceResult }
export type GetOpportunityHistoricalSharePriceResponse = GetOpportunityHistoricalSharePriceResponses[keyof GetOpportunityHistoricalSharePriceResponses]
export type GetOpportunityHistoricalSharePriceError = client.Error

export type GetOpportunityHistoricalTvlData = {
  path: {
    chainId: number
    /** EVM address, any case */
    vaultAddress: string
  }
  query: {
    /** The first instant, at most 365 days ago */
    startDate: string | Date
    /** The last instant; absent or in the future means now */
    endDate?: string | Date | undefined
    /** Seconds of a bucket; a range has at most 10,000 buckets */
    step?: number | undefined
    /** Seconds a rate looks back, whatever the step */
    apyInterval?: number | undefined
  }
  body?: undefined
  url: '/v2/opportunities/{chainId}/{vaultAddress}/historical/tvl'
}
export type GetOpportunityHistoricalTvlResponses = { 200: client.GetOpportunityHistoricalTVLResult }
export type GetOpportunityHistoricalTvlResponse = GetOpportunityHistoricalTvlResponses[keyof GetOpportunityHistoricalTvlResponses]
export type GetOpportunityHistoricalTvlError = client.Error

export type GetProtocolsData = {
  path?: undefined
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 100; below 1 is 20 */
    limit?: number | undefined
  } | undefined
  body?: undefined
  url: '/v2/protocols/'
}
export type GetProtocolsResponses = { 200: client.GetProtocolsResult }
export type GetProtocolsResponse = GetProtocolsResponses[keyof GetProtocolsResponses]
export type GetProtocolsError = client.Error

export type GetStreamPointsData = {
  path?: undefined
  query?: {
    /** UUID */
    id?: string | undefined
    /** UUID */
    orgId?: string | undefined
    symbol?: string | undefined
    name?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/streams/points'
}
export type GetStreamPointsResponses = { 200: client.GetStreamPointsResult }
export type GetStreamPointsResponse = GetStreamPointsResponses[keyof GetStreamPointsResponses]
export type GetStreamPointsError = client.Error

export type GetStreamTokensData = {
  path?: undefined
  query?: {
    chainId?: number | undefined
  } | undefined
  body?: undefined
  url: '/v2/streams/tokens'
}
export type GetStreamTokensResponses = { 200: client.GetStreamTokensResult }
export type GetStreamTokensResponse = GetStreamTokensResponses[keyof GetStreamTokensResponses]
export type GetStreamTokensError = client.Error

export type GetStreamWalletData = {
  path: {
    /** UUID */
    id: string
    /** EVM address, any case */
    address: string
  }
  query?: undefined
  body?: undefined
  url: '/v2/streams/{id}/wallets/{address}'
}
export type GetStreamWalletResponses = { 200: client.GetStreamWalletResult }
export type GetStreamWalletResponse = GetStreamWalletResponses[keyof GetStreamWalletResponses]
export type GetStreamWalletError = client.Error

export type GetStreamWalletsData = {
  path: {
    /** UUID */
    id: string
  }
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 100; below 1 is 20 */
    limit?: number | undefined
  } | undefined
  body?: undefined
  url: '/v2/streams/{id}/wallets'
}
export type GetStreamWalletsResponses = { 200: client.GetStreamWalletsResult }
export type GetStreamWalletsResponse = GetStreamWalletsResponses[keyof GetStreamWalletsResponses]
export type GetStreamWalletsError = client.Error

export type GetStreamsData = {
  path?: undefined
  query?: {
    /** UUID */
    id?: string | undefined
    /** UUID */
    orgId?: string | undefined
    /** Adds snapshots, newest first: the newest 100 of a stream and 2,000 in all, of the newest streams first; a stream of which some are left out has snapshotsTruncated. Each 500 of them cost a unit more */
    withSnapshots?: boolean | undefined
    /** false leaves the counts of wallets null */
    usersCount?: boolean | undefined
  } | undefined
  body?: undefined
  url: '/v2/streams/'
}
export type GetStreamsResponses = { 200: client.GetStreamsResult }
export type GetStreamsResponse = GetStreamsResponses[keyof GetStreamsResponses]
export type GetStreamsError = client.Error

export type GetStreamsForWalletData = {
  path: {
    /** EVM address, any case */
    address: string
  }
  query?: {
    withSnapshots?: boolean | undefined
  } | undefined
  body?: undefined
  url: '/v2/streams/wallets/{address}'
}
export type GetStreamsForWalletResponses = { 200: client.GetStreamsForWalletResult }
export type GetStreamsForWalletResponse = GetStreamsForWalletResponses[keyof GetStreamsForWalletResponses]
export type GetStreamsForWalletError = client.Error

export type GetEarnSwapV2Data = {
  path?: undefined
  query: {
    /** EVM address, any case */
    user: string
    chainId: number
    /** Builder code */
    distributorId: string
    /** Token, or native */
    tokenIn: string
    /** Token, or native */
    tokenOut: string
    /** Smallest units, above 0 */
    amountIn: string | bigint
    /** Hundredths of a percent */
    slippageBps: number
    /** false: check no balance and simulate nothing, for a quote screen */
    simulate?: boolean | undefined
  }
  body?: undefined
  url: '/v2/swap/'
}
export type GetEarnSwapV2Responses = { 200: client.GetSwapResult }
export type GetEarnSwapV2Response = GetEarnSwapV2Responses[keyof GetEarnSwapV2Responses]
export type GetEarnSwapV2Error = client.Error

export type GetSwapDetailsData = {
  path?: undefined
  query?: {
    /** Whose tokens to show */
    chainId?: number | undefined
  } | undefined
  body?: undefined
  url: '/v2/swap/details'
}
export type GetSwapDetailsResponses = { 200: client.GetSwapDetailsResult }
export type GetSwapDetailsResponse = GetSwapDetailsResponses[keyof GetSwapDetailsResponses]
export type GetSwapDetailsError = client.Error

export type GetSwapTokensData = {
  path?: undefined
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 300; below 1 is 20 */
    limit?: number | undefined
    chainId?: number | undefined
    /** Part of the address, name or symbol; with a chainId also the whole address of any token */
    search?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/swap/tokens'
}
export type GetSwapTokensResponses = { 200: client.GetSwapTokensResult }
export type GetSwapTokensResponse = GetSwapTokensResponses[keyof GetSwapTokensResponses]
export type GetSwapTokensError = client.Error

export type GetTokenByAddressData = {
  path: {
    chainId: number
    /** EVM address, any case */
    address: string
  }
  query?: undefined
  body?: undefined
  url: '/v2/tokens/{chainId}/{address}'
}
export type GetTokenByAddressResponses = { 200: client.GetTokenByAddressResult }
export type GetTokenByAddressResponse = GetTokenByAddressResponses[keyof GetTokenByAddressResponses]
export type GetTokenByAddressError = client.Error

export type GetTokensData = {
  path?: undefined
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 100; below 1 is 20 */
    limit?: number | undefined
    chainId?: number | undefined
    /** Part of the address, name or symbol, upper and lower case alike */
    search?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/tokens/'
}
export type GetTokensResponses = { 200: client.GetTokensResult }
export type GetTokensResponse = GetTokensResponses[keyof GetTokensResponses]
export type GetTokensError = client.Error

export type GetWalletActivityData = {
  path?: undefined
  query: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 100; below 1 is 20 */
    limit?: number | undefined
    /** EVM addresses, any case; separated by commas, at most 1,000 */
    addresses: string | readonly string[]
  }
  body?: undefined
  url: '/v2/wallets/activity/'
}
export type GetWalletActivityResponses = { 200: client.GetWalletActivityResult }
export type GetWalletActivityResponse = GetWalletActivityResponses[keyof GetWalletActivityResponses]
export type GetWalletActivityError = client.Error

export type ProtocolsWalletGetWalletPortfolioData = {
  path: {
    /** An EVM, Solana or TON address; its form tells which */
    address: string
  }
  query?: {
    /** Receipt tokens are listed too; they count in their protocol rows */
    includeProtocolTokens?: boolean | undefined
    /** Start of a range that earnings are asked for; needs `earnedTo` */
    earnedFrom?: string | Date | undefined
    /** End of that range, not part of it: at most 60 s ahead of now and 366 days after `earnedFrom` */
    earnedTo?: string | Date | undefined
  } | undefined
  body?: undefined
  url: '/v2/wallet/{address}/portfolio'
}
export type ProtocolsWalletGetWalletPortfolioResponses = { 200: client.GetWalletPortfolioResult }
export type ProtocolsWalletGetWalletPortfolioResponse = ProtocolsWalletGetWalletPortfolioResponses[keyof ProtocolsWalletGetWalletPortfolioResponses]
export type ProtocolsWalletGetWalletPortfolioError = client.Error

export type ListInteractionsData = {
  path?: undefined
  query?: {
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
    sortBy?: string | undefined
    /** One of asc, desc */
    sortOrder?: string | undefined
    /** A cursor of GetEvents, `next`, or the id of an entry; not with `sortBy` or `page` */
    after?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/interactions/'
}
export type ListInteractionsResponses = { 200: client.ListInteractionsResult }
export type ListInteractionsResponse = ListInteractionsResponses[keyof ListInteractionsResponses]
export type ListInteractionsError = client.Error

export type ListOpportunitiesData = {
  path?: undefined
  query?: {
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
    depositToken?: string | undefined
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
    sortBy?: string | undefined
    /** One of asc, desc */
    sortOrder?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/opportunities/'
}
export type ListOpportunitiesResponses = { 200: client.ListOpportunitiesResult }
export type ListOpportunitiesResponse = ListOpportunitiesResponses[keyof ListOpportunitiesResponses]
export type ListOpportunitiesError = client.Error

export type ListOpportunitiesByDistributorData = {
  path: {
    /** Builder code */
    distributorId: string
  }
  query?: {
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
    depositToken?: string | undefined
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
    sortBy?: string | undefined
    /** One of asc, desc */
    sortOrder?: string | undefined
  } | undefined
  body?: undefined
  url: '/v2/opportunities/distributors/{distributorId}'
}
export type ListOpportunitiesByDistributorResponses = { 200: client.ListOpportunitiesByDistributorResult }
export type ListOpportunitiesByDistributorResponse = ListOpportunitiesByDistributorResponses[keyof ListOpportunitiesByDistributorResponses]
export type ListOpportunitiesByDistributorError = client.Error

export type PostStreamsBulkData = {
  path?: undefined
  query?: {
    /** From 1; below 1 is 1 */
    page?: number | undefined
    /** Items a page, 1 to 500 */
    limit?: number | undefined
  } | undefined
  body: {
    ids?: readonly string[] | null | undefined
    organizationIds?: readonly string[] | null | undefined
    targetChainIds?: readonly number[] | null | undefined
    targetTokens?: readonly {
      chainId: number
      /** EVM address, any case */
      address: string
    }[] | null | undefined
    withSnapshots?: boolean | null | undefined
    usersCount?: boolean | null | undefined
  }
  url: '/v2/streams/bulk'
}
export type PostStreamsBulkResponses = { 200: client.PostStreamsBulkResult }
export type PostStreamsBulkResponse = PostStreamsBulkResponses[keyof PostStreamsBulkResponses]
export type PostStreamsBulkError = client.Error

export type VerifyTrackingData = {
  path?: undefined
  query: {
    chainId: number
    /** Transaction hash */
    txHash: string
  }
  body?: undefined
  url: '/v2/actions/verify'
}
export type VerifyTrackingResponses = { 200: client.VerifyTrackingResult }
export type VerifyTrackingResponse = VerifyTrackingResponses[keyof VerifyTrackingResponses]
export type VerifyTrackingError = client.Error
