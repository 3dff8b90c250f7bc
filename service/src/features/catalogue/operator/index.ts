/**
 * The catalogue as an operator's commands change it without a file: chains, organizations and distributors, whose
 * attribution has to be signed, and the first look at vaults that were imported.
 */
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
