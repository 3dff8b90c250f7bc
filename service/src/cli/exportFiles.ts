import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { fileWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import { type ExportName, type ExportRange, listExportColumns, streamExport } from '../features/audit/index.js'
import { formatTs } from '../kernel/clock.js'
import type { Database } from '../postgres/pool.js'

/** The files exports are written to and read from. */

export const formats = ['csv', 'parquet'] as const
export type Format = (typeof formats)[number]

type Written = { rows: number; sha256: string }

/** Streams an export, or a range of it, into a file; returns its number of rows and SHA-256. */
export function writeExport(
  db: Database,
  name: ExportName,
  file: string,
  format: Format,
  range?: ExportRange,
): Promise<Written> {
  return format === 'csv' ? writeCsv(db, name, file, range) : writeParquet(db, name, file, range)
}

/** A file of comma-separated values, its column names first. */
export async function writeCsv(db: Database, name: ExportName, file: string, range?: ExportRange): Promise<Written> {
  const hash = createHash('sha256')
  let rows = 0
  async function* lines(): AsyncGenerator<string> {
    const emit = (text: string) => {
      hash.update(text)
      return text
    }
    yield emit(`${(await listExportColumns(db, name)).join(',')}\n`)
    for await (const chunk of streamExport(db, name, range)) {
      rows += chunk.length
      yield emit(chunk.map(formatRow).join(''))
    }
  }
  await pipeline(lines, createWriteStream(file))
  return { rows, sha256: hash.digest('hex') }
}

/** A line of CSV as RFC 4180 has it. */
export function formatRow(row: Record<string, unknown>): string {
  return `${Object.values(row).map(formatCell).join(',')}\n`
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = value instanceof Date ? formatTs(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Columns of whole numbers that fit 64 bits, and of instants. All others are text: amounts have up to 78 digits. */
const wholes: ReadonlySet<string> = new Set([
  ...['chain_id', 'block_number', 'log_index', 'transaction_index', 'price_exponent', 'asset_decimals'],
  ...['price_observation_id', 'receipt_decimals', 'version'],
  ...['paid_exponent', 'unpriced_seconds', 'unguarded_seconds'],
])
const instants: ReadonlySet<string> = new Set(['block_timestamp', 'observed_at', 'valid_until', 'holds_from', 'until'])

const typeOf = (column: string) =>
  wholes.has(column) ? ('INT64' as const) : instants.has(column) ? ('TIMESTAMP' as const) : ('STRING' as const)

function toParquet(column: string, value: unknown): unknown {
  if (value === null || value === undefined || value instanceof Date) return value ?? null
  return wholes.has(column) ? BigInt(String(value)) : String(value)
}

/** Rows of a group: as many as are held in memory at once. */
const groupRows = 50_000

async function writeParquet(db: Database, name: ExportName, file: string, range?: ExportRange): Promise<Written> {
  const columns = await listExportColumns(db, name)
  const columnData = columns.map((column) => ({ name: column, type: typeOf(column), nullable: true, data: [] }))
  const writer = new ParquetWriter({ writer: fileWriter(file), schema: schemaFromColumnData({ columnData }) })
  let rows = 0
  let group: Record<string, unknown>[] = []
  const flush = async () => {
    const data = columns.map((column) => ({ name: column, data: group.map((row) => toParquet(column, row[column])) }))
    if (group.length > 0) await writer.write({ columnData: data })
    group = []
  }
  for await (const chunk of streamExport(db, name, range)) {
    rows += chunk.length
    group.push(...chunk)
    if (group.length >= groupRows) await flush()
  }
  await flush()
  await writer.finish()
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return { rows, sha256: hash.digest('hex') }
}

/** The rows of an exported file, by the names of their columns; only those that are wanted. */
export async function readExport(
  file: string,
  isWanted: (row: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>[]> {
  if (file.endsWith('.parquet')) {
    const rows: Record<string, unknown>[] = await parquetReadObjects({ file: await asyncBufferFromFile(file) })
    return rows.filter(isWanted)
  }
  const rows: Record<string, unknown>[] = []
  let names: string[] | undefined
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    const cells = parseLine(line)
    if (!names) names = cells
    else {
      const row = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']))
      if (isWanted(row)) rows.push(row)
    }
  }
  return rows
}

/** The cells of a line; none of the columns that are read has a line break in it. */
function parseLine(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  )
}
