import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExportName, exportNames } from '../features/audit/index.js'
import { formatTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { formats, writeExport } from './exportFiles.js'
import { answer, type Command, parseFlags, requireFlag, UsageError } from './terminal.js'

const usage = `openearn export ${exportNames.join('|')} --out FOLDER [--format ${formats.join('|')}]

Writes a file and notes its SHA-256 and number of rows in manifest.json beside it, so that anyone can check that the
file is whole.`

const names: readonly string[] = exportNames

export const exportCommand: Command = {
  usage,
  run: async ([name, ...words]) => {
    if (name === undefined || !isExportName(name)) throw new UsageError(`export: say one of ${names.join(', ')}`)
    const { values } = parseFlags(words, { out: { type: 'string' }, format: { type: 'string' } })
    const out = requireFlag(values.out, 'out')
    const format = formats.find((each) => each === (values.format ?? 'csv'))
    if (!format) throw new UsageError(`--format must be ${formats.join(' or ')}`)
    const fileName = `${name}.${format}`
    await withContext(async ({ db, clock }) => {
      await mkdir(out, { recursive: true })
      const { rows, sha256 } = await writeExport(db, name, join(out, fileName), format)
      await writeManifest(out, { file: fileName, rows, sha256, exportedAt: formatTs(clock.now()) })
      answer({ file: join(out, fileName), rows, sha256 }, [`${name}: ${rows} rows, SHA-256 ${sha256}`])
    })
  },
}

export type Exported = { file: string; rows: number; sha256: string; exportedAt: string }

/** Adds a file to the folder's manifest.json, which lists all files exported there. */
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
