/**
 * Flows: what a user does with a wallet, from the first request to the last state, as plain data and one function that
 * advances it. The chain decides what became of a flow; storage holds what was intended. Everything that reaches the wallet
 * is compared in the call that hands it on (`../wallet/ask.ts`).
 */

export * from '../poll/index.js'
export { askAccounts } from '../wallet/ask.js'
export type { Provider } from '../wallet/provider.js'
export type { Trusts, World } from '../wallet/world.js'
export { advance } from './advance.js'
export {
  beginCancel,
  beginClaim,
  beginClaimRewards,
  beginDeposit,
  beginJoin,
  beginOrder,
  beginSwap,
  beginWithdraw,
} from './begin.js'
export type { ClaimFlow } from './claimFlow.js'
export type { Flow } from './flow.js'
export type { JoinFlow } from './joinFlow.js'
export { cancelOrder } from './orderFlow.js'
export type { OrderFlow } from './orderState.js'
export { type Running, type RunOptions, run, type Store } from './run.js'
export { isLast, isOwn, type PlanFlow, type PlanStatus, type Problem, pauseOf, type Word } from './state.js'
