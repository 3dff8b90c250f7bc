/**
 * The catalogue as an operator's commands change it without a file: chains, organizations and distributors, whose
 * attribution has to be signed, the first look at vaults that were imported, and the facts that plans are compared with.
 */
export { toVerificationContext } from '../getVerificationContext.js'
export { readNewVaults } from '../jobs.js'
export {
  countCatalogue,
  createDistributor,
  createOrganization,
  findOrganization,
  listDistributors,
  listOrganizations,
  listSignedOnly,
  recordChain,
  removeChain,
  updateSignedOnly,
} from './storeOperator.js'
