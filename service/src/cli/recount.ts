import { type FileVault, recountUsdDays } from '../features/audit/index.js'
import { parseTs, systemClock } from '../kernel/clock.js'
import { readExport } from './exportFiles.js'
import { type Command, parseFlags, printTable, requireFlag, UsageError } from './terminal.js'

const usage = `openearn recount FILE… --distributor ID --from DATE-TIME --to DATE-TIME

Counts attributed USD-days of a distributor again from exported files alone (lot-changes and snapshots, CSV or Parquet, in
any order), without a database. The digits are those of \`openearn report distributor\` over the same time, up to now at most.`

const filesMax = 100

export const recount: Command = {
  usage,
  run: async (words) => {
    const flags = { distributor: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' } } as const
    const { values, positionals } = parseFlags(words, flags, filesMax)
    const distributorId = requireFlag(values.distributor, 'distributor')
    const from = parseTs(requireFlag(values.from, 'from'))
    const to = parseTs(requireFlag(values.to, 'to'))
    if (!from || !to || from > to) throw new UsageError('--from and --to must be RFC 3339 date-times, in order')
    if (positionals.length === 0) throw new UsageError(`recount: name the files\n${usage}`)
    const now = systemClock.now()
    const rows = await recountFiles(positionals, {
      distributorId,
      from,
      to: new Date(Math.min(to.getTime(), now.getTime())),
    })
    printTable(
      ['CHAIN', 'VAULT', 'USD-DAYS', 'UNPRICED HOURS'],
      rows.map(({ chainId, vault, usdDays, unpricedMs }) => [
        ...[String(chainId), vault, usdDays, (unpricedMs / 3_600_000).toFixed(1)],
      ]),
      rows,
    )
  },
}

/** The same for files by name. The columns of a file show its content. */
export async function recountFiles(
  files: readonly string[],
  input: { distributorId: string; from: Date; to: Date },
): Promise<FileVault[]> {
  const isChange = (row: Record<string, unknown>) => 'before' in row && 'after' in row
  const isSnapshot = (row: Record<string, unknown>) => 'price_numerator' in row
  const read = await Promise.all(
    files.map((file) =>
      readExport(file, (row) => isSnapshot(row) || (isChange(row) && row['distributor_id'] === input.distributorId)),
    ),
  )
  const rows = read.flat()
  return recountUsdDays({ changes: rows.filter(isChange), snapshots: rows.filter(isSnapshot) }, input)
}
