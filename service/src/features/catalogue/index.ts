/**
 * The catalogue: chains, tokens, protocols, organizations, distributors, products, vaults and the opportunities made of
 * them. Owns the tables of migration 0002, the operations that list them, the import of a catalogue file, and the job
 * that reads what each vault allows and holds. Others ask the snapshot of their process; they never query the tables.
 */
export { type AnswerCache, createAnswerCache, type Shelf } from './answerCache.js'
export type { Capabilities, Capability } from './capability.js'
export { type Catalogue, type CatalogueContext, openCatalogue } from './catalogue.js'
export { type CatalogueFile, slugId } from './import/catalogueFile.js'
export { cleanText, cleanTokenText, textLengths } from './import/cleanText.js'
export { describeProbe, draftEntry } from './import/draftEntry.js'
export {
  CatalogueImportError,
  type ImportCounts,
  type ImportProblem,
  importCatalogue,
} from './import/importCatalogue.js'
export { formatAddress, toChain, toToken } from './item.js'
export { type CatalogueJobContext, pushDeltas, runCapabilityAndTvl } from './jobs.js'
export {
  type CatalogueSnapshot,
  findDistributor,
  findOpportunity,
  findOpportunityByVault,
  findProduct,
  findToken,
  findVault,
} from './memory/snapshot.js'
export { catalogueOperations } from './operations.js'
export type { OpportunityRecord } from './opportunityRecord.js'
export {
  type ChainRecord,
  chainKey,
  type DistributorRecord,
  type OrganizationRecord,
  type ProductRecord,
  type TokenRecord,
  type VaultRecord,
} from './records.js'
export { ChainSchema, type Deltas, type Movement, TokenSchema } from './schema.js'
export { bumpVersion } from './store.js'
export {
  createDistributor,
  createOrganization,
  type DistributorRow,
  findDistributorRow,
  findOrganization,
  listChainSettings,
  listDistributors,
  listOrganizations,
  type OrganizationRow,
  recordChain,
  updateSignedOnly,
} from './storeOperator.js'
export type { DeltasPush } from './storePushes.js'
export { listSigners, listSignersOn, recordSigner } from './storeSigners.js'
export { compareText } from './text.js'
