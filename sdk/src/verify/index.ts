/** Tools for integrators: reading and checking attribution, and checking a plan before it is signed. */
export * as attribution from '../attribution/index.js'
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
} from './types.js'
export { type AgreementRequest, verifyAgreement } from './verifyAgreement.js'
export { type PlannedBatch, verifyBatch } from './verifyBatch.js'
export { verifyPlan } from './verifyPlan.js'
export { type StreamContext, type StreamRequest, verifyStream } from './verifyStream.js'
export { type SwapOrderRequest, verifySwapOrder } from './verifySwapOrder.js'
