/**
 * The ordered pipeline of a chain and its rebuild: raw store, derivation, the rows of positions and ledger, cursor, in
 * one transaction. It stands above the slices until they hand it their projections; then it is `sync/`.
 */
export { applyBlocks } from './apply.js'
export { createPipeline, type PipelineOptions, type Reaction } from './pipeline.js'
export { type RebuildProgress, type RebuildResult, rebuildChain } from './rebuild.js'
export { type RefetchProgress, refetchRange } from './refetch.js'
export { rewindChain } from './rewind.js'
export { loadConfig } from './storeConfig.js'
