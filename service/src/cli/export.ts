import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dailyNames, type ExportName, type ExportRange, exportNames, timelessNames } from '../features/audit/index.js'
import { findNext } from '../features/events/index.js'
import { daySeconds, formatTs, parseTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { formats, writeExport } from './exportFiles.js'
import { answer, type Command, parseFlags, requireFlag, UsageError } from './terminal.js'

const usage = `openearn export ${exportNames.join('|')} --out FOLDER [--format ${formats.join('|')}] [--from RFC3339|last --to RFC3339]

Writes a file and notes its SHA-256 and number of rows in manifest.json beside it, so that anyone can check that the
file is whole. With --from and --to it has the rows of blocks from an instant on and before another one (prices: observed then) and
both in its name; --from last goes on where the last such file in the folder ended. A row that only becomes known later is in no
later range: manifest.json has \`next\`, from which GetEvents tells all that came since. An entry may be in both, with one id.`

const names: readonly string[] = exportNames

export const exportCommand: Command = {
  usage,
  run: async ([name, ...words]) => {
    if (name === undefined || !isExportName(name)) throw new UsageError(`export: say one of ${names.join(', ')}`)
    const { values } = parseFlags(words, {
      ...{ out: { type: 'string' }, format: { type: 'string' } },
      ...{ from: { type: 'string' }, to: { type: 'string' } },
    })
    const out = requireFlag(values.out, 'out')
    const format = formats.find((each) => each === (values.format ?? 'csv'))
    if (!format) throw new UsageError(`--format must be ${formats.join(' or ')}`)
    const range = await parseRange(out, { name, format, from: values.from, to: values.to })
    const fileName = range
      ? `${rangePrefix(name)}${nameOf(range.from)}-${nameOf(range.to)}.${format}`
      : `${name}.${format}`
    await withContext(async ({ db, clock }) => {
      await mkdir(out, { recursive: true })
      // Read first: what comes meanwhile is told after it, and may be in the file as well.
      const next = await findNext(db)
      const { rows, sha256 } = await writeExport(db, name, join(out, fileName), format, range)
      const times = range ? { from: formatTs(range.from), to: formatTs(range.to) } : {}
      await writeManifest(out, { file: fileName, rows, sha256, exportedAt: formatTs(clock.now()), ...times, next })
      answer({ file: join(out, fileName), rows, sha256, next }, [`${name}: ${rows} rows, SHA-256 ${sha256}`])
    })
  },
}

const rangePrefix = (name: ExportName) => `${name}-`

/** An instant in the name of a file: no system refuses it. */
const nameOf = (at: Date): string => formatTs(at).replaceAll(/[-:.]/g, '')

async function parseRange(
  folder: string,
  { name, format, from, to }: { name: ExportName; format: string; from?: string | undefined; to?: string | undefined },
): Promise<ExportRange | undefined> {
  if (from === undefined && to === undefined) return undefined
  if (timelessNames.includes(name))
    throw new UsageError(`export ${name} has the present: --from and --to do not go with it`)
  if (from === undefined || to === undefined) throw new UsageError('--from and --to go together')
  const start = from === 'last' ? await findLastTo(folder, { name, format }) : parseTs(from)
  const end = parseTs(to)
  if (!start) throw new UsageError('--from must be a time such as 2026-11-01T00:00:00Z, or last')
  if (!end) throw new UsageError('--to must be a time such as 2026-11-08T00:00:00Z')
  if (dailyNames.includes(name) && [start, end].some((at) => at.getTime() % (daySeconds * 1_000) !== 0))
    throw new UsageError(
      `export ${name} has whole days: --from and --to must be midnights, such as 2026-11-01T00:00:00Z`,
    )
  if (start >= end) throw new UsageError(`--to must be after ${formatTs(start)}`)
  return { from: start, to: end }
}

/** Where the last range of an export in a folder ended. */
async function findLastTo(folder: string, { name, format }: { name: ExportName; format: string }): Promise<Date> {
  const ends = (await readManifest(folder)).flatMap(({ file, to }) =>
    file.startsWith(rangePrefix(name)) && file.endsWith(`.${format}`) && to !== undefined ? (parseTs(to) ?? []) : [],
  )
  const [last] = ends.sort((one, other) => other.getTime() - one.getTime())
  if (last) return last
  throw new UsageError(`--from last: ${join(folder, 'manifest.json')} names no range of ${name} as ${format}`)
}

export type Exported = {
  file: string
  rows: number
  sha256: string
  exportedAt: string
  /** Of a range. */
  from?: string
  to?: string
  /** The cursor of GetEvents from which all that is not in the file is told. */
  next?: string
}

/** The files that a folder's manifest.json lists. */
async function readManifest(folder: string): Promise<Exported[]> {
  const path = join(folder, 'manifest.json')
  const before: unknown = await readFile(path, 'utf8').then(JSON.parse, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return {}
    throw error
  })
  const known = typeof before === 'object' && before !== null && 'files' in before ? before.files : []
  const isExported = (each: unknown): each is Exported =>
    typeof each === 'object' && each !== null && 'file' in each && typeof each.file === 'string'
  return Array.isArray(known) ? known.filter(isExported) : []
}

/** Adds a file to the folder's manifest.json, which lists all files exported there. */
export async function writeManifest(folder: string, exported: Exported): Promise<void> {
  const others = (await readManifest(folder)).filter(({ file }) => file !== exported.file)
  const text = JSON.stringify({ files: [...others, exported] }, undefined, 2)
  await writeFile(join(folder, 'manifest.json'), `${text}\n`)
}

function isExportName(name: string): name is ExportName {
  return names.includes(name)
}
