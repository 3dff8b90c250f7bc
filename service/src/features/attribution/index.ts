/**
 * The attribution debugger: shows the attributions in a transaction and whether they count. Owns no
 * table; reads the raw store, the ledger, the actions and, when asked, the chain.
 */
export { checkAttribution } from './checkAttribution.js'
export type { Explanation } from './explanation.js'
export { openJudge } from './judge.js'
export { attributionOperations } from './operations.js'
export { type AttributionContext, getSupportedChain, type JudgeContext, lookAt } from './transaction.js'
