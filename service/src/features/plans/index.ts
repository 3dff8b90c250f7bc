/**
 * Plans: the ordered transactions of an action, their approvals, suffix, simulation, gas and batch, shared by every
 * slice that builds. Owns `actions`, `action_sightings` (in which transactions they were found) and `input_scans`.
 */
export { buildApprovals } from './approvals.js'
export { describeCall, describeSwap, describeUnwrap, describeWrap, type Party } from './describe.js'
export { getOwnDistributor } from './distributor.js'
export { openFastSign } from './fastSign.js'
export { type Draft, finishAction, getDeadline, validSecondsDefault } from './finishAction.js'
export { DistributorId, parseAmount, positiveRaw, slippageBounds, tokenInput } from './inputs.js'
export type { Step } from './plan.js'
export { prepareSteps } from './prepareSteps.js'
export { insufficientBalance, refuse } from './refusal.js'
export { type Interaction, InteractionSchema, PreparedSchema } from './schema.js'
export { type PlanSimulation, simulatePlan } from './simulation.js'
export { type ActionKind, type ActionRow, actionKinds, findAction, listActions } from './store.js'
export {
  type ActionSighting,
  actionObservations,
  createInputScan,
  findInputScan,
  listSightings,
  listSightingsIn,
  moveInputScan,
  recordActionLook,
  recordSighting,
} from './storeSightings.js'
export type { ActionContext, HttpApi, Target } from './target.js'
