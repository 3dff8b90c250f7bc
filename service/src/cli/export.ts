import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type ExportName, listExportColumns, streamExport } from '../features/audit/index.js'
import { formatTs } from '../kernel/clock.js'
import type { Queryable } from '../postgres/pool.js'
import { answer, type Command, parseFlags, requireFlag, UsageError, withContext } from './command.js'

const usage = `openearn export ledger|balances|snapshots --out FOLDER [--format csv]

Writes a CSV file and notes its SHA-256 and number of rows in manifest.json beside it, so that anyone can check that the
file is whole.`

const names: readonly string[] = ['ledger', 'balances', 'snapshots']

export const exportCommand: Command = {
  summary: 'write the ledger, balances or snapshots to a file',
  usage,
  run: async ([name, ...words]) => {
    if (name === undefined || !isExportName(name)) throw new UsageError(`export: say one of ${names.join(', ')}`)
    const { values } = parseFlags(words, { out: { type: 'string' }, format: { type: 'string' } })
    const out = requireFlag(values.out, 'out')
    if ((values.format ?? 'csv') !== 'csv') throw new UsageError('--format must be csv')
    await withContext(async ({ db, clock }) => {
      await mkdir(out, { recursive: true })
      const { rows, sha256 } = await writeCsv(db, name, join(out, `${name}.csv`))
      await writeManifest(out, { file: `${name}.csv`, rows, sha256, exportedAt: formatTs(clock.now()) })
      answer({ file: join(out, `${name}.csv`), rows, sha256 }, [`${name}: ${rows} rows, SHA-256 ${sha256}`])
    })
  },
}

export type Exported = { file: string; rows: number; sha256: string; exportedAt: string }

/** Puts a file into the folder's manifest.json, beside the others exported there. */
export async function writeManifest(folder: string, exported: Exported): Promise<void> {
  const path = join(folder, 'manifest.json')
  const before: unknown = await readFile(path, 'utf8').then(JSON.parse, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return {}
    throw error
  })
  const known = typeof before === 'object' && before !== null && 'files' in before ? before.files : []
  const isOther = (each: unknown) =>
    typeof each === 'object' && each !== null && 'file' in each && each.file !== exported.file
  const files = [...(Array.isArray(known) ? known.filter(isOther) : []), exported]
  await writeFile(path, `${JSON.stringify({ files }, undefined, 2)}\n`)
}

function isExportName(name: string): name is ExportName {
  return names.includes(name)
}

/** Streams an export into a file, its column names first; answers its rows and SHA-256. */
export async function writeCsv(
  db: Queryable,
  name: ExportName,
  file: string,
): Promise<{ rows: number; sha256: string }> {
  const hash = createHash('sha256')
  let rows = 0
  async function* lines(): AsyncGenerator<string> {
    const emit = (text: string) => {
      hash.update(text)
      return text
    }
    yield emit(`${(await listExportColumns(db, name)).join(',')}\n`)
    for await (const chunk of streamExport(db, name)) {
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
