/**
 * The attribution debugger: shows the attributions in a transaction and whether they count. Also tells the status of an action,
 * by one rule for all operations. Owns `action_sightings` (in which transactions actions were found) and `input_scans`; reads the
 * raw store, the ledger, the actions and, when asked, the chain. A job scans the inputs of chains that are set to it.
 */
export { decideActionStatus } from './actionStatus.js'
export { readCarrier } from './carriers.js'
export { checkAttribution, explainMissing } from './checkAttribution.js'
export type { ExplainedEvent, Explanation } from './explanation.js'
export { getAttributionProof } from './getAttributionProof.js'
export { scanInputs } from './jobInputs.js'
export { openJudge } from './judge.js'
export { attributionOperations } from './operations.js'
export { findCarrierState } from './standing.js'
export { sightingObservations } from './storeSightings.js'
export { type AttributionContext, findTransaction, getSupportedChain, type JudgeContext } from './transaction.js'
