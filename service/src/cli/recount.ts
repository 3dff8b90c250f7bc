import { type FileVault, recountUsdDays } from '../features/audit/index.js'
import { parseTs, systemClock } from '../kernel/clock.js'
import { readExport } from './exportFiles.js'
import { type Command, parseFlags, printTable, requireFlag, UsageError } from './terminal.js'

const usage = `openearn recount FILE… --distributor ID --from DATE-TIME --to DATE-TIME

Counts attributed USD-days of a distributor again from exported files alone (lot-changes, snapshots, identities, share-mints,
share-readings, prices and rules; CSV or Parquet, in any order), without a database. The digits are those of
\`openearn report distributor\` over the same time, up to now at most.`

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
      ['CHAIN', 'VAULT', 'USD-DAYS', 'UNPRICED HOURS', 'UNGUARDED HOURS'],
      rows.map(({ chainId, vault, usdDays, unpricedMs, unguardedMs }) => [
        ...[String(chainId), vault, usdDays, toHours(unpricedMs), toHours(unguardedMs)],
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
  const kinds = {
    changes: (row: Row) => 'before' in row && 'after' in row && row['distributor_id'] === input.distributorId,
    snapshots: (row: Row) => 'total_supply' in row,
    identities: (row: Row) => 'agrees' in row,
    mints: (row: Row) => 'shares' in row && 'assets' in row && !('wallet' in row),
    readings: (row: Row) => 'price_numerator' in row && !('total_supply' in row),
    prices: (row: Row) => 'observed_at' in row && String(row['source']).startsWith('share:'),
    rules: (row: Row) => 'holds_from' in row,
  }
  const isOfSome = (row: Row) => Object.values(kinds).some((isOf) => isOf(row))
  const rows = (await Promise.all(files.map((file) => readExport(file, isOfSome)))).flat()
  const { changes, snapshots, identities, mints, readings, prices, rules } = kinds
  return recountUsdDays(
    {
      ...{ changes: rows.filter(changes), snapshots: rows.filter(snapshots), mints: rows.filter(mints) },
      ...{ readings: rows.filter(readings), identities: rows.filter(identities) },
      ...{ prices: rows.filter(prices), rules: rows.filter(rules) },
    },
    input,
  )
}

type Row = Record<string, unknown>

const toHours = (ms: number): string => (ms / 3_600_000).toFixed(1)
