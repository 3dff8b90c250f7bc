/**
 * Plans: the ordered transactions of an action, their approvals, suffix, simulation, gas and batch, shared by every
 * slice that builds. Owns `actions`.
 */
export { buildApprovals } from './approvals.js'
export { describeCall, describeSwap, describeWrapping } from './describe.js'
export { getOwnDistributor } from './distributor.js'
export { type Draft, finishAction, getDeadline, validSecondsDefault } from './finishAction.js'
export { DistributorId, parseAmount, positiveRaw, slippageBounds, tokenInput } from './inputs.js'
export type { Step } from './plan.js'
export { prepareSteps } from './prepareSteps.js'
export { insufficientBalance, refuse } from './refusal.js'
export { type Interaction, InteractionSchema, PreparedSchema } from './schema.js'
export { simulatePlan } from './simulation.js'
export { type ActionRow, actionKinds, listActions } from './store.js'
export { actionObservations, recordActionLook } from './storeLooks.js'
export type { ActionContext, HttpApi, Target } from './target.js'
