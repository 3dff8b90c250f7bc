// Generated from service/openapi.json by `npm run client`. Do not edit.
import { get, getPages, live, post, postPages } from '../operation.js'
import type * as types from './types.js'

/**
 * Build a swap order
 *
 * Returns an order to sign (EIP-712) that may be filled while the user is away, the exact approval it needs, and the transaction that ends it. Its minimum output is the present quote less the slippage; the whole output goes to the wallet that signs. Nothing is sent.
 *
 * Costs 5 units; takes any key.
 */
export const buildSwapOrder = /*#__PURE__*/ post<types.BuildSwapOrderParams, types.BuildSwapOrderResult>(
  'BuildSwapOrder',
  '/v2/swap/orders/build',
)

/**
 * Build the cancellation of a pending deposit
 *
 * Returns the transaction that cancels a pending deposit; where a vault cancels in two steps, the same call returns the second once it is due. Of a vault of the kind maple it takes back the redemption that waits in the queue. Works on opportunities no longer offered.
 *
 * Costs 10 units; takes any key.
 */
export const createCancelDepositInteraction = /*#__PURE__*/ post<types.CreateCancelDepositInteractionParams, types.CreateCancelDepositInteractionResult>(
  'CreateCancelDepositInteraction',
  '/v2/actions/cancel-deposit/{opportunityId}',
)

/**
 * Build the claim of a settled deposit
 *
 * Returns the transaction that claims the shares of a pending deposit the vault has settled. Works on opportunities no longer offered.
 *
 * Costs 10 units; takes any key.
 */
export const createClaimDepositInteraction = /*#__PURE__*/ post<types.CreateClaimDepositInteractionParams, types.CreateClaimDepositInteractionResult>(
  'CreateClaimDepositInteraction',
  '/v2/actions/claim-deposit/{opportunityId}',
)

/**
 * Build a deposit
 *
 * Returns the transactions of a deposit in signing order: exact approvals where they are needed, then the deposit with the attribution suffix. Checked and simulated before it is returned; nothing is sent.
 *
 * Costs 10 units; takes any key.
 */
export const createDepositInteraction = /*#__PURE__*/ post<types.CreateDepositInteractionParams, types.CreateDepositInteractionResult>(
  'CreateDepositInteraction',
  '/v2/actions/deposit/{opportunityId}',
)

/**
 * Makes a wallet a member
 *
 * The signature is checked against the agreement kept under the nonce, which works once.
 *
 * Costs 2 units; takes any key.
 */
export const createMembership = /*#__PURE__*/ post<types.CreateMembershipParams, types.CreateMembershipResult>(
  'CreateMembership',
  '/v2/membership/',
)

/**
 * The message a wallet signs to become a member
 *
 * EVM messages follow EIP-4361, Solana messages Sign In With Solana. Sign the message as it stands, then send the signature with the nonce.
 *
 * Costs 2 units; takes any key.
 */
export const createMembershipAgreement = /*#__PURE__*/ post<types.CreateMembershipAgreementParams, types.CreateMembershipAgreementResult>(
  'CreateMembershipAgreement',
  '/v2/membership/agreement',
)

/**
 * Create a reward stream
 *
 * A stream of points is created at once. For a stream that pays a token the creation is signed: its admin sends it, and the stream is listed once it is confirmed.
 *
 * Costs 10 units; takes a secret key.
 */
export const createStream = /*#__PURE__*/ post<types.CreateStreamParams, types.CreateStreamResult>(
  'CreateStream',
  '/v2/streams/',
)

/**
 * Create points
 *
 * A unit a stream can give that is on no chain. Its symbol is unique in the organization.
 *
 * Costs 10 units; takes a secret key.
 */
export const createStreamPoint = /*#__PURE__*/ post<types.CreateStreamPointParams, types.CreateStreamPointResult>(
  'CreateStreamPoint',
  '/v2/streams/points',
)

/**
 * Sign a withdrawal from a stream
 *
 * Withdraws holdings above the amount that the stream must keep: its budget while it runs, the allocated amount once it is fully processed. The admin sends txParams.
 *
 * Costs 10 units; takes a secret key.
 */
export const createStreamWithdrawal = /*#__PURE__*/ post<types.CreateStreamWithdrawalParams, types.CreateStreamWithdrawalResult>(
  'CreateStreamWithdrawal',
  '/v2/streams/{id}/withdrawals',
)

/**
 * Create a webhook
 *
 * Sends your organization each event from now on, signed by Standard Webhooks 1.0.0, in order for each subject, until it is taken with a status of 2xx: for up to five days. At most 20 an organization. A repetition under an Idempotency-Key shows no secret.
 *
 * Costs 10 units; takes a secret key.
 */
export const createWebhook = /*#__PURE__*/ post<types.CreateWebhookParams, types.CreateWebhookResult>(
  'CreateWebhook',
  '/v2/webhooks',
)

/**
 * Build a withdrawal
 *
 * Returns the transactions that redeem an amount of receipt tokens, with the attribution suffix. Checked and simulated before it is returned; nothing is sent.
 *
 * Costs 10 units; takes any key.
 */
export const createWithdrawInteraction = /*#__PURE__*/ post<types.CreateWithdrawInteractionParams, types.CreateWithdrawInteractionResult>(
  'CreateWithdrawInteraction',
  '/v2/actions/withdraw/{opportunityId}',
)

/**
 * Delete a webhook
 *
 * Removes a webhook with its queue and its deliveries, and returns it as it was.
 *
 * Costs 10 units; takes a secret key.
 */
export const deleteWebhook = /*#__PURE__*/ post<types.DeleteWebhookParams, types.DeleteWebhookResult>(
  'DeleteWebhook',
  '/v2/webhooks/{webhookId}/delete',
)

/**
 * Follow an action
 *
 * The status of a plan, the transactions that carry it, and their ledger entries. Actions of other organizations are not found. A transaction is found by its vault event, by ReportSwapExecution, GetAttribution or VerifyTracking with its chain, and, on chains set to scan inputs, in every new block. Before an action is `expired` the service looks for it itself, once its time is over; where nobody can be asked it stays `built`. A transaction that reverts leaves no event: where inputs are not scanned and nobody told of it, its action may end as `expired`.
 *
 * Costs 1 units; takes any key.
 */
export const getAction = /*#__PURE__*/ get<types.GetActionParams, types.GetActionResult>(
  'GetAction',
  '/v2/actions/{actionId}',
)

/**
 * The operation that blocks a stream
 *
 * With the parameters that were signed for it, and whether they were executed.
 *
 * Costs 2 units; takes a secret key.
 */
export const getActiveAdminOperation = /*#__PURE__*/ get<types.GetActiveAdminOperationParams, types.GetActiveAdminOperationResult>(
  'GetActiveAdminOperation',
  '/v2/streams/{id}/admin-operations/active',
)

/**
 * Show who brought a transaction
 *
 * Records of the ledger and the watcher about a transaction; with a chain, its calldata is also inspected for ERC-8021 suffixes and the legacy tracker. Needs no key.
 *
 * Costs 0 units; takes no key.
 */
export const getAttribution = /*#__PURE__*/ get<types.GetAttributionParams, types.GetAttributionResult>(
  'GetAttribution',
  '/v2/attribution/{txHash}',
)

/**
 * Prove who brought a transaction
 *
 * The header of its block, and the transaction and its receipt with the nodes of their tries, so that its ledger entries are checked from the block hash alone (`verifyProof` of the sdk). Entries that the block does not decide by itself are left out: of earlier requests, of the legacy tracker, and of shares that were split.
 *
 * Costs 10 units; takes any key.
 */
export const getAttributionProof = /*#__PURE__*/ get<types.GetAttributionProofParams, types.GetAttributionProofResult>(
  'GetAttributionProof',
  '/v2/attribution/{txHash}/proof',
)

/**
 * List chains
 *
 * The chains in use, by id.
 *
 * Costs 1 units; takes any key.
 */
export const getChains = /*#__PURE__*/ getPages<types.GetChainsParams, types.GetChainsResult, types.GetChainsResult['data'][number]>(
  'GetChains',
  '/v2/chains/',
  'data',
)

/**
 * List a distributor's deposits
 *
 * Verified deposits attributed to the distributor, newest first.
 *
 * Costs 2 units; takes any key.
 */
export const getDistributorDeposits = /*#__PURE__*/ getPages<types.GetDistributorDepositsParams, types.GetDistributorDepositsResult, types.GetDistributorDepositsResult['deposits'][number]>(
  'GetDistributorDeposits',
  '/v2/deposit/{distributorId}',
  'deposits',
)

/**
 * Count a distributor's LPs
 *
 * Wallets that hold positions a distributor brought, at the end of each bucket, and those that ever did, from confirmed blocks: a chart; pay by USD-days. A wallet in several vaults counts once. At most 50,000 buckets.
 *
 * Costs 5 units; takes any key.
 */
export const getDistributorLPs = /*#__PURE__*/ get<types.GetDistributorLPsParams, types.GetDistributorLPsResult>(
  'GetDistributorLPs',
  '/v2/metrics/distributor/{distributorId}/lps',
)

/**
 * Read a distributor's TVL
 *
 * The TVL attributed to a distributor at the end of each bucket, from confirmed blocks, in US dollars: a chart, which capital of one block can change; pay by USD-days. Optionally the USD-days (value × days, by the paid price) of each bucket and of the range, the deposits and withdrawals of the range together, and the 50 wallets with the most, as of the latest data. At most 50,000 buckets.
 *
 * Costs 5 units; takes any key.
 */
export const getDistributorMetrics = /*#__PURE__*/ get<types.GetDistributorMetricsParams, types.GetDistributorMetricsResult>(
  'GetDistributorMetrics',
  '/v2/metrics/distributor/{distributorId}',
)

/**
 * Read events
 *
 * What became true, and what stopped being true, each once and in order. Keep `next` with what you did, and send it as `after`. Where nothing is new, the call waits up to `waitSeconds`.
 *
 * Costs 1 units; takes a secret key.
 */
export const getEvents = /*#__PURE__*/ get<types.GetEventsParams, types.GetEventsResult>(
  'GetEvents',
  '/v2/events',
)

/**
 * Show how far chains and vaults are indexed
 *
 * The state of each watched chain and each vault, and the addresses of the keys that signed attributions, present and retired. `drift` compares samples with the chain: balances of holders, and deposits, withdrawals and requests of ranges of blocks. A stalled chain is as far behind as its last block is old. The `reason` of a vault explains why its chain is stalled; for a live vault, why its share prices and rates are withheld, and that its asset has no price; and it counts moves of shares that exceeded a known balance. `evidence` shows whether the nodes of a chain return traces (`trace`), or only calldata decides; from the block `traceFrom` on every transaction that needed a trace has one.
 *
 * Costs 1 units; takes any key.
 */
export const getIndexingStatus = /*#__PURE__*/ get<types.GetIndexingStatusParams, types.GetIndexingStatusResult>(
  'GetIndexingStatus',
  '/v2/indexing-status/',
)

/**
 * Show the key of this call
 *
 * Of whom it is, what it may do, and how much of its budget is used. Costs nothing, also when all is used.
 *
 * Costs 0 units; takes any key.
 */
export const getKey = /*#__PURE__*/ get<types.GetKeyParams, types.GetKeyResult>(
  'GetKey',
  '/v2/key',
)

/**
 * Is this wallet a member?
 *
 * A wallet must be a member before deposits and withdrawals are built for it.
 *
 * Costs 1 units; takes any key.
 */
export const getMembership = /*#__PURE__*/ get<types.GetMembershipParams, types.GetMembershipResult>(
  'GetMembership',
  '/v2/membership/',
)

/**
 * List proofs of claims
 *
 * The cumulative amount that a wallet may claim in each stream, with the proof for its contract.
 *
 * Costs 3 units; takes any key.
 */
export const getMerkleProofs = /*#__PURE__*/ get<types.GetMerkleProofsParams, types.GetMerkleProofsResult>(
  'GetMerkleProofs',
  '/v2/streams/merkle_proofs',
)

/**
 * Get an opportunity
 *
 * One active opportunity.
 *
 * Costs 1 units; takes any key.
 */
export const getOpportunity = /*#__PURE__*/ get<types.GetOpportunityParams, types.GetOpportunityResult>(
  'GetOpportunity',
  '/v2/opportunities/{id}',
)

/**
 * List filter values
 *
 * The values that at least one active opportunity has, and what a list can be sorted by.
 *
 * Costs 1 units; takes any key.
 */
export const getOpportunityFilterOptions = /*#__PURE__*/ get<types.GetOpportunityFilterOptionsParams, types.GetOpportunityFilterOptionsResult>(
  'GetOpportunityFilterOptions',
  '/v2/opportunities/filter-options',
)

/**
 * Show a vault's history
 *
 * TVL, share price and base APY of a vault over time. Buckets lie on the Unix-epoch grid of `step`; a point is the last snapshot of its bucket within the range, and a bucket without one has no point. `apy` is null where APY is withheld.
 *
 * Costs 3 units; takes any key.
 */
export const getOpportunityHistorical = /*#__PURE__*/ get<types.GetOpportunityHistoricalParams, types.GetOpportunityHistoricalResult>(
  'GetOpportunityHistorical',
  '/v2/opportunities/{chainId}/{vaultAddress}/historical',
)

/**
 * Show a vault's APR over time
 *
 * Simple growth of the share price a year, in percent. Buckets lie on the Unix-epoch grid of `step`; a point is the last snapshot of its bucket within the range, and a bucket without one has no point. Each is measured from the newest reading that is at least `apyInterval` older; one without such a reading is left out.
 *
 * Costs 3 units; takes any key.
 */
export const getOpportunityHistoricalAPR = /*#__PURE__*/ get<types.GetOpportunityHistoricalAPRParams, types.GetOpportunityHistoricalAPRResult>(
  'GetOpportunityHistoricalAPR',
  '/v2/opportunities/{chainId}/{vaultAddress}/historical/apr',
)

/**
 * Show a vault's APY over time
 *
 * Compound growth a year, in percent, of the growth source of the vault: its share price in the base asset, or with the source `nav` in US dollars. Buckets lie on the Unix-epoch grid of `step`; a point is the last snapshot of its bucket within the range, and a bucket without one has no point. Each is measured from the newest reading that is at least `apyInterval` older; one without such a reading is left out.
 *
 * Costs 3 units; takes any key.
 */
export const getOpportunityHistoricalAPY = /*#__PURE__*/ get<types.GetOpportunityHistoricalAPYParams, types.GetOpportunityHistoricalAPYResult>(
  'GetOpportunityHistoricalAPY',
  '/v2/opportunities/{chainId}/{vaultAddress}/historical/apy',
)

/**
 * Count a vault's LPs
 *
 * Holders of a vault's receipt token at the end of each bucket, and those that ever held: of positions that distributors brought, and of all: a chart; pay by USD-days. Buckets lie wholly inside the range; at most 10,000.
 *
 * Costs 3 units; takes any key.
 */
export const getOpportunityHistoricalLPs = /*#__PURE__*/ get<types.GetOpportunityHistoricalLPsParams, types.GetOpportunityHistoricalLPsResult>(
  'GetOpportunityHistoricalLPs',
  '/v2/opportunities/{chainId}/{vaultAddress}/historical/lps',
)

/**
 * Show a vault's share price over time
 *
 * Base assets and US dollars of a share. Buckets lie on the Unix-epoch grid of `step`; a point is the last snapshot of its bucket within the range, and a bucket without one has no point.
 *
 * Costs 3 units; takes any key.
 */
export const getOpportunityHistoricalSharePrice = /*#__PURE__*/ get<types.GetOpportunityHistoricalSharePriceParams, types.GetOpportunityHistoricalSharePriceResult>(
  'GetOpportunityHistoricalSharePrice',
  '/v2/opportunities/{chainId}/{vaultAddress}/historical/share-price',
)

/**
 * Show a vault's TVL over time
 *
 * The TVL of a vault, in its base asset and in US dollars. Buckets lie on the Unix-epoch grid of `step`; a point is the last snapshot of its bucket within the range, and a bucket without one has no point.
 *
 * Costs 3 units; takes any key.
 */
export const getOpportunityHistoricalTVL = /*#__PURE__*/ get<types.GetOpportunityHistoricalTVLParams, types.GetOpportunityHistoricalTVLResult>(
  'GetOpportunityHistoricalTVL',
  '/v2/opportunities/{chainId}/{vaultAddress}/historical/tvl',
)

/**
 * List protocols
 *
 * The protocols vaults are built with, by name.
 *
 * Costs 1 units; takes any key.
 */
export const getProtocols = /*#__PURE__*/ getPages<types.GetProtocolsParams, types.GetProtocolsResult, types.GetProtocolsResult['data'][number]>(
  'GetProtocols',
  '/v2/protocols/',
  'data',
)

/**
 * List the claims of a stream
 *
 * Confirmed claims of its rewards, newest first. Amounts are in smallest units of the reward.
 *
 * Costs 2 units; takes any key.
 */
export const getStreamClaims = /*#__PURE__*/ getPages<types.GetStreamClaimsParams, types.GetStreamClaimsResult, types.GetStreamClaimsResult['data'][number]>(
  'GetStreamClaims',
  '/v2/streams/{id}/claims',
  'data',
)

/**
 * List points
 *
 * Points of all organizations. Names compare exactly, symbols without case.
 *
 * Costs 2 units; takes any key.
 */
export const getStreamPoints = /*#__PURE__*/ get<types.GetStreamPointsParams, types.GetStreamPointsResult>(
  'GetStreamPoints',
  '/v2/streams/points',
)

/**
 * List tokens of streams
 *
 * Tokens that can be the target of a stream or, where allowed, its reward.
 *
 * Costs 2 units; takes any key.
 */
export const getStreamTokens = /*#__PURE__*/ get<types.GetStreamTokensParams, types.GetStreamTokensResult>(
  'GetStreamTokens',
  '/v2/streams/tokens',
)

/**
 * Show the rewards of a wallet in a stream
 *
 * Its snapshots, newest first, and the stream.
 *
 * Costs 2 units; takes any key.
 */
export const getStreamWallet = /*#__PURE__*/ get<types.GetStreamWalletParams, types.GetStreamWalletResult>(
  'GetStreamWallet',
  '/v2/streams/{id}/wallets/{address}',
)

/**
 * List the wallets of a stream
 *
 * Wallets of the newest snapshot, the highest rewards first.
 *
 * Costs 2 units; takes any key.
 */
export const getStreamWallets = /*#__PURE__*/ getPages<types.GetStreamWalletsParams, types.GetStreamWalletsResult, types.GetStreamWalletsResult['data'][number]>(
  'GetStreamWallets',
  '/v2/streams/{id}/wallets',
  'data',
)

/**
 * List reward streams
 *
 * Confirmed streams of all organizations, oldest first.
 *
 * Costs 2 units; takes any key.
 */
export const getStreams = /*#__PURE__*/ get<types.GetStreamsParams, types.GetStreamsResult>(
  'GetStreams',
  '/v2/streams/',
)

/**
 * List a wallet's streams
 *
 * The streams a wallet has a snapshot in; without withSnapshots only the latest of each.
 *
 * Costs 2 units; takes any key.
 */
export const getStreamsForWallet = /*#__PURE__*/ get<types.GetStreamsForWalletParams, types.GetStreamsForWalletResult>(
  'GetStreamsForWallet',
  '/v2/streams/wallets/{address}',
)

/**
 * Build a swap
 *
 * Returns the transactions of a swap in signing order: exact approvals where they are needed, then the swap by the best route once gas is paid for, with its minimum output and the attribution suffix. Checked and simulated before it is returned; nothing is sent.
 *
 * Costs 10 units; takes any key.
 */
export const getSwap = /*#__PURE__*/ get<types.GetSwapParams, types.GetSwapResult>(
  'GetSwap',
  '/v2/swap/',
)

/**
 * List chains with swaps
 *
 * The chains that support swaps, and with a chainId the popular tokens there.
 *
 * Costs 1 units; takes any key.
 */
export const getSwapDetails = /*#__PURE__*/ get<types.GetSwapDetailsParams, types.GetSwapDetailsResult>(
  'GetSwapDetails',
  '/v2/swap/details',
)

/**
 * Follow a swap order
 *
 * The state of an order, by the events of its settlement contract at the head of the chain. A fill or a cancellation is final once it is confirmed. Orders of other organizations are not found.
 *
 * Costs 1 units; takes any key.
 */
export const getSwapOrderStatus = /*#__PURE__*/ get<types.GetSwapOrderStatusParams, types.GetSwapOrderStatusResult>(
  'GetSwapOrderStatus',
  '/v2/swap/orders/{orderId}',
)

/**
 * List tokens to swap
 *
 * Tokens of the chains that support swaps. A search for an unlisted address with a chainId reads the token from the chain.
 *
 * Costs 1 units; takes any key.
 */
export const getSwapTokens = /*#__PURE__*/ getPages<types.GetSwapTokensParams, types.GetSwapTokensResult, types.GetSwapTokensResult['data'][number]>(
  'GetSwapTokens',
  '/v2/swap/tokens',
  'data',
)

/**
 * Get a token
 *
 * One token by its chain and address.
 *
 * Costs 1 units; takes any key.
 */
export const getTokenByAddress = /*#__PURE__*/ get<types.GetTokenByAddressParams, types.GetTokenByAddressResult>(
  'GetTokenByAddress',
  '/v2/tokens/{chainId}/{address}',
)

/**
 * List tokens
 *
 * The tokens known, receipt tokens of vaults included, by chain, symbol and address.
 *
 * Costs 1 units; takes any key.
 */
export const getTokens = /*#__PURE__*/ getPages<types.GetTokensParams, types.GetTokensResult, types.GetTokensResult['data'][number]>(
  'GetTokens',
  '/v2/tokens/',
  'data',
)

/**
 * List the contracts and signers of a chain that plans are compared with
 *
 * The vaults, routers, wrappers and further contracts that the plans of a chain call, the keys that sign its attributions, and the most gas of a transaction. `verifyPlan` of the sdk compares each plan with them. A file of your own (`openearn trust export`) says the same without the word of this service.
 *
 * Costs 1 units; takes any key.
 */
export const getVerificationContext = /*#__PURE__*/ get<types.GetVerificationContextParams, types.GetVerificationContextResult>(
  'GetVerificationContext',
  '/v2/verification',
)

/**
 * List wallets' activity
 *
 * Verified deposits and withdrawals of up to 1,000 wallets, newest first.
 *
 * Costs 2 units; takes any key.
 */
export const getWalletActivity = /*#__PURE__*/ getPages<types.GetWalletActivityParams, types.GetWalletActivityResult, types.GetWalletActivityResult['activity'][number]>(
  'GetWalletActivity',
  '/v2/wallets/activity/',
  'activity',
)

/**
 * Get a wallet's portfolio
 *
 * The holdings of a wallet on all configured chains, and its earnings in each opportunity. Each value counts once; all values of a chain are of the block in `asOf`. Failed reads and missing prices are named in `errors`, and `totalUsd` is the sum of the priced values. With `earnedFrom` and `earnedTo` each row of earnings has `inRange`: what was earned in between, and `inRange` tells all rows together (two cost units more).
 *
 * Costs 10 units; takes any key.
 */
export const getWalletPortfolio = /*#__PURE__*/ get<types.GetWalletPortfolioParams, types.GetWalletPortfolioResult>(
  'GetWalletPortfolio',
  '/v2/wallet/{address}/portfolio',
)

/**
 * List a wallet's requests
 *
 * Asynchronous deposits and redemptions of a wallet, oldest first, and the amounts that can be claimed.
 *
 * Costs 2 units; takes any key.
 */
export const getWalletRequests = /*#__PURE__*/ get<types.GetWalletRequestsParams, types.GetWalletRequestsResult>(
  'GetWalletRequests',
  '/v2/wallets/{address}/requests',
)

/**
 * Sign an increase of a stream's budget
 *
 * The amount is net; the fee comes on top. The admin sends txParams.
 *
 * Costs 10 units; takes a secret key.
 */
export const increaseStreamBudget = /*#__PURE__*/ post<types.IncreaseStreamBudgetParams, types.IncreaseStreamBudgetResult>(
  'IncreaseStreamBudget',
  '/v2/streams/{id}/budget-increases',
)

/**
 * List interactions
 *
 * Verified deposits and withdrawals: at or past the chain's confirmation depth, and not taken back by a reorganisation. The date sort is by block time, chain, block and log. With `after` the answer has `next` in place of `pagination`: entries in the order in which they were told as confirmed, oldest first, and the place to go on from. Entries that were taken back are told by GetEvents alone.
 *
 * Costs 2 units; takes any key.
 */
export const listInteractions = /*#__PURE__*/ getPages<types.ListInteractionsParams, types.ListInteractionsResult, types.ListInteractionsResult['data'][number]>(
  'ListInteractions',
  '/v2/interactions/',
  'data',
)

/**
 * List opportunities
 *
 * Active opportunities. Values in one filter are alternatives, different filters all apply. Opportunities without the value sorted by come last in both orders.
 *
 * Costs 1 units; takes any key.
 */
export const listOpportunities = /*#__PURE__*/ getPages<types.ListOpportunitiesParams, types.ListOpportunitiesResult, types.ListOpportunitiesResult['data'][number]>(
  'ListOpportunities',
  '/v2/opportunities/',
  'data',
)

/**
 * List a distributor's opportunities
 *
 * Active opportunities among those the distributor is configured to show, by itself or as products.
 *
 * Costs 1 units; takes any key.
 */
export const listOpportunitiesByDistributor = /*#__PURE__*/ getPages<types.ListOpportunitiesByDistributorParams, types.ListOpportunitiesByDistributorResult, types.ListOpportunitiesByDistributorResult['data'][number]>(
  'ListOpportunitiesByDistributor',
  '/v2/opportunities/distributors/{distributorId}',
  'data',
)

/**
 * List deliveries
 *
 * The tries of a webhook, newest first, kept for 30 days.
 *
 * Costs 1 units; takes a secret key.
 */
export const listWebhookDeliveries = /*#__PURE__*/ getPages<types.ListWebhookDeliveriesParams, types.ListWebhookDeliveriesResult, types.ListWebhookDeliveriesResult['data'][number]>(
  'ListWebhookDeliveries',
  '/v2/webhooks/{webhookId}/deliveries',
  'data',
)

/**
 * List webhooks
 *
 * The webhooks of your organization, oldest first.
 *
 * Costs 1 units; takes a secret key.
 */
export const listWebhooks = /*#__PURE__*/ get<types.ListWebhooksParams, types.ListWebhooksResult>(
  'ListWebhooks',
  '/v2/webhooks',
)

/**
 * List reward streams by filters
 *
 * Filters are joined by and, their values by or. Without page and limit (or its aliases) the response has no pagination.
 *
 * Costs 2 units; takes any key.
 */
export const postStreamsBulk = /*#__PURE__*/ postPages<types.PostStreamsBulkParams, types.PostStreamsBulkResult, types.PostStreamsBulkResult['streams'][number]>(
  'PostStreamsBulk',
  '/v2/streams/bulk',
  'streams',
  ['page', 'limit'],
)

/**
 * Send events again
 *
 * Sends the events after a cursor again, with the same ids, at half of the rate.
 *
 * Costs 10 units; takes a secret key.
 */
export const replayWebhook = /*#__PURE__*/ post<types.ReplayWebhookParams, types.ReplayWebhookResult>(
  'ReplayWebhook',
  '/v2/webhooks/{webhookId}/replay',
)

/**
 * Report a transaction of a swap
 *
 * Reads the state of a transaction from the chain: confirmed where it succeeded, is deep enough and carries the action or fills the order, failed where it is deep enough and does not, else pending. Exactly one id. The chain decides the state of an order, never a report.
 *
 * Costs 1 units; takes any key.
 */
export const reportSwapExecution = /*#__PURE__*/ post<types.ReportSwapExecutionParams, types.ReportSwapExecutionResult>(
  'ReportSwapExecution',
  '/v2/swap/executions',
)

/**
 * Replace the secret of a webhook
 *
 * Until the overlap ends each event carries a signature by the old secret as well. A repetition under an Idempotency-Key shows no secret.
 *
 * Costs 10 units; takes a secret key.
 */
export const rotateWebhookSecret = /*#__PURE__*/ post<types.RotateWebhookSecretParams, types.RotateWebhookSecretResult>(
  'RotateWebhookSecret',
  '/v2/webhooks/{webhookId}/secret',
)

/**
 * Follow events live
 *
 * Server-sent events of one subject, as they are told; read it with `fetch`, as the key is a header. The `id` of each is its cursor, and a `Last-Event-ID` goes on after it. An event `gone` says that this cursor is lost. The stream ends after 10 minutes: connect again after `retry` milliseconds. Each minute costs a unit more.
 *
 * Costs 1 units; takes any key.
 */
export const streamEvents = /*#__PURE__*/ live<types.StreamEventsParams, types.StreamEventsResult>(
  'StreamEvents',
  '/v2/events/live',
)

/**
 * Submit a signed swap order
 *
 * Takes the signature of an order that was built: of the key of its wallet, or one that its contract wallet confirms (ERC-1271). The balance and the allowance are checked. The same signature sent again returns the present state of the order.
 *
 * Costs 5 units; takes any key.
 */
export const submitSwapOrder = /*#__PURE__*/ post<types.SubmitSwapOrderParams, types.SubmitSwapOrderResult>(
  'SubmitSwapOrder',
  '/v2/swap/orders',
)

/**
 * Send a test event
 *
 * Sends an event `webhook.test` at once, whether the webhook is enabled or not, and returns the delivery.
 *
 * Costs 10 units; takes a secret key.
 */
export const testWebhook = /*#__PURE__*/ post<types.TestWebhookParams, types.TestWebhookResult>(
  'TestWebhook',
  '/v2/webhooks/{webhookId}/test',
)

/**
 * Change a webhook
 *
 * One that is enabled again goes on with the events that it missed, as far as they are kept.
 *
 * Costs 10 units; takes a secret key.
 */
export const updateWebhook = /*#__PURE__*/ post<types.UpdateWebhookParams, types.UpdateWebhookResult>(
  'UpdateWebhook',
  '/v2/webhooks/{webhookId}',
)

/**
 * Verify the attribution of a transaction
 *
 * The attribution of a mined transaction, its content, whether a key of ours signed it for this very call, and the proof.
 *
 * Costs 3 units; takes any key.
 */
export const verifyTracking = /*#__PURE__*/ get<types.VerifyTrackingParams, types.VerifyTrackingResult>(
  'VerifyTracking',
  '/v2/actions/verify',
)
