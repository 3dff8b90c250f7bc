/**
 * The vaults an operator has configured, and the protocols they belong to. Owns the tables `protocols`, `vaults` and
 * `vault_pauses`: the import and the commands write them by this door. Says which addresses a vault has, who holds shares for
 * others only, and what a vault's growth is measured by.
 */
export {
  holdsForOthers,
  isLookedThrough,
  isVaultAddress,
  keepsNothing,
  listNonHolders,
  listOwnAddresses,
  listVaultAddresses,
} from './addresses.js'
export {
  type GrowthSource,
  type GrowthSourceName,
  type GrowthSpan,
  growthSourceNames,
  toGrowthSpans,
} from './growthSources.js'
export { changeGrowthSources, findVaultSettings, pausesOf, pauseVault, resumeVault } from './storeHistory.js'
export {
  correctDecimals,
  ensureTokenVault,
  type HolderSetting,
  listAssets,
  listProtocolIds,
  listProtocols,
  listShares,
  listVaults,
  protocolsTable,
  vaultsOf,
  vaultsTable,
  writeProtocols,
  writeVaults,
} from './storeVaults.js'
