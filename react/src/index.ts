/**
 * React hooks over an OpenEarn service: what it knows by TanStack Query, and flows with a wallet as plain data.
 * `EarnProvider` gives them the service and the wallet.
 */
export { EarnProvider, type EarnProviderProps, useEarn } from './context.js'
export { createMemoryStore, createPageStore, type FlowStore, type Kept, type PageStorage } from './flowStore.js'
export {
  type CancelParams,
  type ClaimParams,
  type ClaimRewardsParams,
  type DepositParams,
  type FlowHandle,
  type FlowOptions,
  type JoinParams,
  type OrderHandle,
  type OrderParams,
  type SwapParams,
  useCancel,
  useClaim,
  useClaimRewards,
  useDeposit,
  useJoin,
  useOrder,
  useSwap,
  useWithdraw,
  type WithdrawParams,
} from './flows.js'
export {
  activityQuery,
  type HistoryParams,
  historyQuery,
  interactionsQuery,
  type Listed,
  opportunitiesQuery,
  opportunityQuery,
  portfolioQuery,
  requestsQuery,
  rewardsQuery,
  statusQuery,
} from './queries.js'
export {
  type ReadOptions,
  useActivity,
  useEarnStatus,
  useHistory,
  useInteractions,
  useOpportunities,
  useOpportunity,
  usePortfolio,
  useRequests,
  useRewards,
} from './reads.js'
