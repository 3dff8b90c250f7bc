/**
 * Exports, a distributor's report, its statements and the audit of its months, and the log of changes by commands. Owns `operator_changes` and `statements`.
 */
export { auditDistributor, type DistributorAudit } from './auditDistributor.js'
export { readAuditLimits, weightOf } from './auditLimits.js'
export { recordChanges } from './changes.js'
export { type CoverageRow, reportCoverage } from './coverage.js'
export { dailyNames, listExportColumns, streamExport } from './exports.js'
export { runAudits, toKept } from './jobAudits.js'
export { type FileVault, recountUsdDays } from './recountFiles.js'
export { type DistributorReportRow, reportDistributor } from './reportDistributor.js'
export { type MadeStatement, makeStatement, parseMonth, type StatementAsk } from './statement.js'
export { exportsOfStatement } from './statementFiles.js'
export { listChanges, type OperatorChange } from './storeChanges.js'
export { type ExportName, type ExportRange, exportNames, timelessNames } from './storeReport.js'
