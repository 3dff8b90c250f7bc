/** Tools for whoever builds on the service: reading and checking attribution, and checking a plan before it is signed. */
export * as attribution from './attribution/index.js'
export type {
  PlanContext,
  PlannedTransaction,
  PlanRequest,
  PlanVerdict,
  SwapContext,
  SwapPlanContext,
  SwapRequest,
  SwapRouter,
  Verdict,
} from './verify/types.js'
export { type PlannedBatch, verifyBatch } from './verify/verifyBatch.js'
export { verifyPlan } from './verify/verifyPlan.js'
export { type SwapOrderRequest, verifySwapOrder } from './verify/verifySwapOrder.js'
