/**
 * What an auditor takes away: exports, a distributor's report, and the hash of everything derived. Owns no table.
 */
export { type DistributorReportRow, reportDistributor } from './reportDistributor.js'
export { computeStateHash } from './storeHash.js'
export { type ExportName, listExportColumns, streamExport } from './storeReport.js'
