/**
 * The catalogue: chains, tokens, protocols, organizations, distributors, products, vaults and the opportunities made of
 * them. Owns the tables of its migration, the operations that list them, the import of a catalogue file, which writes
 * chains, tokens, protocols and vaults as well, and the job that reads what each vault allows and holds. Others ask the
 * snapshot of their process; only statements that need one instant of both read the tables.
 */
export { type CatalogueContext, openCatalogue } from './catalogue.js'
export { isListedToken } from './getTokens.js'
export { toToken } from './item.js'
export { createCapabilityJob, pushDeltas, pushStreamAprs } from './jobs.js'
export {
  type CatalogueSnapshot,
  findDistributor,
  findOpportunity,
  findOpportunityByVault,
  findToken,
  findVault,
} from './memory/snapshot.js'
export { getNativeToken } from './nativeToken.js'
export { catalogueOperations } from './operations.js'
export { findDistributorRow } from './operator/storeOperator.js'
export type { OpportunityRecord } from './opportunityRecord.js'
export { readToken } from './readToken.js'
export type { ChainRecord, DistributorRecord, StreamAprs, TokenRecord, VaultRecord } from './records.js'
export { type Deltas, TokenSchema } from './schema.js'
export { bumpVersion as announceCatalogue, opportunitiesOf } from './store.js'
export type { DeltasPush } from './storePushes.js'
export { listSigners, recordSigner } from './storeSigners.js'
