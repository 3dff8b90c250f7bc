import type { Database } from '../../postgres/pool.js'
import { type ExportName, type ExportRange, listStoredColumns, type Rows, streamStored } from './storeReport.js'
import { streamWalletDays, walletDayColumns } from './walletDays.js'

/** Exports whose rows are of whole days (UTC). */
export const dailyNames: readonly ExportName[] = ['wallet-days']

/** The names of an export's columns, in their order. */
export async function listExportColumns(db: Database, name: ExportName): Promise<readonly string[]> {
  return name === 'wallet-days' ? walletDayColumns : listStoredColumns(db, name)
}

/** The rows of an export, in chunks. */
export function streamExport(db: Database, name: ExportName, range?: ExportRange): AsyncIterable<Rows> {
  return name === 'wallet-days' ? streamWalletDays(db, range) : streamStored(db, name, range)
}
