// Generated from service/openapi.json by `npm run client`. Do not edit.
import { get, post } from '../operation.js'
import type * as types from './types.js'

/** Build the cancellation of a pending deposit */
export const createCancelDepositInteraction = /*#__PURE__*/ post<types.CreateCancelDepositInteractionData, types.CreateCancelDepositInteractionResponse>('/v2/actions/cancel-deposit/{opportunityId}')

/** Build the claim of a settled deposit */
export const createClaimDepositInteraction = /*#__PURE__*/ post<types.CreateClaimDepositInteractionData, types.CreateClaimDepositInteractionResponse>('/v2/actions/claim-deposit/{opportunityId}')

/** Build a deposit */
export const createDepositInteraction = /*#__PURE__*/ post<types.CreateDepositInteractionData, types.CreateDepositInteractionResponse>('/v2/actions/deposit/{opportunityId}')

/** Makes a wallet a member */
export const createMembershipV2 = /*#__PURE__*/ post<types.CreateMembershipV2Data, types.CreateMembershipV2Response>('/v2/membership/')

/** The message a wallet signs to become a member */
export const createMembershipAgreementV2 = /*#__PURE__*/ post<types.CreateMembershipAgreementV2Data, types.CreateMembershipAgreementV2Response>('/v2/membership/agreement')

/** Create a reward stream */
export const createStream = /*#__PURE__*/ post<types.CreateStreamData, types.CreateStreamResponse>('/v2/streams/')

/** Create points */
export const createStreamPoint = /*#__PURE__*/ post<types.CreateStreamPointData, types.CreateStreamPointResponse>('/v2/streams/points')

/** Build a withdrawal */
export const createWithdrawInteraction = /*#__PURE__*/ post<types.CreateWithdrawInteractionData, types.CreateWithdrawInteractionResponse>('/v2/actions/withdraw/{opportunityId}')

/** List chains */
export const getChains = /*#__PURE__*/ get<types.GetChainsData, types.GetChainsResponse>('/v2/chains/')

/** List a distributor's deposits */
export const getDistributorDepositsV2 = /*#__PURE__*/ get<types.GetDistributorDepositsV2Data, types.GetDistributorDepositsV2Response>('/v2/deposit/{distributorId}')

/** Count a distributor's LPs */
export const getDistributorLps = /*#__PURE__*/ get<types.GetDistributorLpsData, types.GetDistributorLpsResponse>('/v2/metrics/distributor/{distributorId}/lps')

/** Read a distributor's TVL */
export const getDistributorMetrics = /*#__PURE__*/ get<types.GetDistributorMetricsData, types.GetDistributorMetricsResponse>('/v2/metrics/distributor/{distributorId}')

/** Is this wallet a member? */
export const getMembership = /*#__PURE__*/ get<types.GetMembershipData, types.GetMembershipResponse>('/v2/membership/')

/** List proofs of claims */
export const turtleStreamsGetMerkleProofs = /*#__PURE__*/ get<types.TurtleStreamsGetMerkleProofsData, types.TurtleStreamsGetMerkleProofsResponse>('/v2/streams/merkle_proofs')

/** Get an opportunity */
export const getOpportunity = /*#__PURE__*/ get<types.GetOpportunityData, types.GetOpportunityResponse>('/v2/opportunities/{id}')

/** List filter values */
export const getOpportunityFilterOptions = /*#__PURE__*/ get<types.GetOpportunityFilterOptionsData, types.GetOpportunityFilterOptionsResponse>('/v2/opportunities/filter-options')

/** Show a vault's history */
export const getOpportunityHistorical = /*#__PURE__*/ get<types.GetOpportunityHistoricalData, types.GetOpportunityHistoricalResponse>('/v2/opportunities/{chainId}/{vaultAddress}/historical')

/** Show a vault's APR over time */
export const getOpportunityHistoricalApr = /*#__PURE__*/ get<types.GetOpportunityHistoricalAprData, types.GetOpportunityHistoricalAprResponse>('/v2/opportunities/{chainId}/{vaultAddress}/historical/apr')

/** Show a vault's APY over time */
export const getOpportunityHistoricalApy = /*#__PURE__*/ get<types.GetOpportunityHistoricalApyData, types.GetOpportunityHistoricalApyResponse>('/v2/opportunities/{chainId}/{vaultAddress}/historical/apy')

/** Show a vault's share price over time */
export const getOpportunityHistoricalSharePrice = /*#__PURE__*/ get<types.GetOpportunityHistoricalSharePriceData, types.GetOpportunityHistoricalSharePriceResponse>('/v2/opportunities/{chainId}/{vaultAddress}/historical/share-price')

/** Show a vault's TVL over time */
export const getOpportunityHistoricalTvl = /*#__PURE__*/ get<types.GetOpportunityHistoricalTvlData, types.GetOpportunityHistoricalTvlResponse>('/v2/opportunities/{chainId}/{vaultAddress}/historical/tvl')

/** List protocols */
export const getProtocols = /*#__PURE__*/ get<types.GetProtocolsData, types.GetProtocolsResponse>('/v2/protocols/')

/** List points */
export const getStreamPoints = /*#__PURE__*/ get<types.GetStreamPointsData, types.GetStreamPointsResponse>('/v2/streams/points')

/** List tokens of streams */
export const getStreamTokens = /*#__PURE__*/ get<types.GetStreamTokensData, types.GetStreamTokensResponse>('/v2/streams/tokens')

/** Show the rewards of a wallet in a stream */
export const getStreamWallet = /*#__PURE__*/ get<types.GetStreamWalletData, types.GetStreamWalletResponse>('/v2/streams/{id}/wallets/{address}')

/** List the wallets of a stream */
export const getStreamWallets = /*#__PURE__*/ get<types.GetStreamWalletsData, types.GetStreamWalletsResponse>('/v2/streams/{id}/wallets')

/** List reward streams */
export const getStreams = /*#__PURE__*/ get<types.GetStreamsData, types.GetStreamsResponse>('/v2/streams/')

/** List a wallet's streams */
export const getStreamsForWallet = /*#__PURE__*/ get<types.GetStreamsForWalletData, types.GetStreamsForWalletResponse>('/v2/streams/wallets/{address}')

/** Build a swap */
export const getEarnSwapV2 = /*#__PURE__*/ get<types.GetEarnSwapV2Data, types.GetEarnSwapV2Response>('/v2/swap/')

/** List chains with swaps */
export const getSwapDetails = /*#__PURE__*/ get<types.GetSwapDetailsData, types.GetSwapDetailsResponse>('/v2/swap/details')

/** List tokens to swap */
export const getSwapTokens = /*#__PURE__*/ get<types.GetSwapTokensData, types.GetSwapTokensResponse>('/v2/swap/tokens')

/** Get a token */
export const getTokenByAddress = /*#__PURE__*/ get<types.GetTokenByAddressData, types.GetTokenByAddressResponse>('/v2/tokens/{chainId}/{address}')

/** List tokens */
export const getTokens = /*#__PURE__*/ get<types.GetTokensData, types.GetTokensResponse>('/v2/tokens/')

/** List wallets' activity */
export const getWalletActivity = /*#__PURE__*/ get<types.GetWalletActivityData, types.GetWalletActivityResponse>('/v2/wallets/activity/')

/** Get a wallet's portfolio */
export const protocolsWalletGetWalletPortfolio = /*#__PURE__*/ get<types.ProtocolsWalletGetWalletPortfolioData, types.ProtocolsWalletGetWalletPortfolioResponse>('/v2/wallet/{address}/portfolio')

/** List interactions */
export const listInteractions = /*#__PURE__*/ get<types.ListInteractionsData, types.ListInteractionsResponse>('/v2/interactions/')

/** List opportunities */
export const listOpportunities = /*#__PURE__*/ get<types.ListOpportunitiesData, types.ListOpportunitiesResponse>('/v2/opportunities/')

/** List a distributor's opportunities */
export const listOpportunitiesByDistributor = /*#__PURE__*/ get<types.ListOpportunitiesByDistributorData, types.ListOpportunitiesByDistributorResponse>('/v2/opportunities/distributors/{distributorId}')

/** List reward streams by filters */
export const postStreamsBulk = /*#__PURE__*/ post<types.PostStreamsBulkData, types.PostStreamsBulkResponse>('/v2/streams/bulk')

/** Verify the attribution of a transaction */
export const verifyTracking = /*#__PURE__*/ get<types.VerifyTrackingData, types.VerifyTrackingResponse>('/v2/actions/verify')
