/**
 * Exports, a distributor's report, and the log of changes by commands. Owns `operator_changes`.
 */
export { recordChanges } from './changes.js'
export { dailyNames, listExportColumns, streamExport } from './exports.js'
export { type FileVault, recountUsdDays } from './recountFiles.js'
export { type DistributorReportRow, reportDistributor } from './reportDistributor.js'
export { listChanges, type OperatorChange } from './storeChanges.js'
export { type ExportName, type ExportRange, exportNames, timelessNames } from './storeReport.js'
