/**
 * The price that holders are paid by: never above the one at which a vault has sold shares since its newest snapshot
 * (docs/methodology.md). Owns `share_readings`, `share_reading_gaps` and `share_reading_progress`, and the job that reads share
 * prices where shares were minted that name none.
 */
export { runShareReadings } from './jobReadings.js'
export { listStaged, type StagedVault } from './listStaged.js'
export { type PaidOrigin, tracePaidPrices } from './paidSteps.js'
export { holdUsdFrom, listPaidUsd, openShareLookup, type ShareLookup } from './paidUsd.js'
export {
  type BasedValues,
  listPaidValues,
  type PaidValue,
  type PaidValues,
  readPaidValues,
  toLevels,
  valuePaidPrices,
} from './paidValues.js'
export {
  type MintRow,
  paidPriceVersion,
  type ReadingRow,
  type SnapshotRow,
  shareReadingsOf,
} from './storePaid.js'
export { readingObservations, recordAwaited } from './storeReadings.js'
