import { computeLeast, computeUsdDays, type Span, withholdPrices } from '../../derive/usdDays.js'
import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import { groupBy } from '../../kernel/groups.js'
import {
  type MintRow,
  paidPriceVersion,
  type ReadingRow,
  type ShareLookup,
  type SnapshotRow,
  toLevels,
  tracePaidPrices,
  valuePaidPrices,
} from '../paid/index.js'

/** A row of an exported file; members of other kinds of files are absent. */
export type FileRow = Readonly<Record<string, unknown>>

/** Rows of exports, each in any order. */
export type ExportedFiles = Readonly<
  Record<'changes' | 'snapshots' | 'mints' | 'readings' | 'identities' | 'prices' | 'rules', readonly FileRow[]>
>

export type FileVault = {
  chainId: number
  vault: string
  opportunityId: string
  usdDays: string
  unpricedMs: number
  unguardedMs: number
}

const atOf = (value: unknown) => (value instanceof Date ? value : new Date(String(value)))
const isSaid = (value: unknown) => value !== null && value !== undefined && value !== ''
const textOf = (value: unknown) => String(value)
const textOrNull = (value: unknown) => (isSaid(value) ? String(value) : null)

/** How a row names its vault. */
const vaultOf = (row: FileRow) => `${row['chain_id']} ${row['vault']}`

/**
 * Attributed USD-days of a distributor by vault, from exports alone: what `openearn report distributor` counts from the
 * database. Throws where the export of the rules is missing: it says from when on which price is paid by.
 */
export async function recountUsdDays(
  files: ExportedFiles,
  input: { distributorId: string; from: Date; to: Date },
): Promise<FileVault[]> {
  const { distributorId, from, to } = input
  const rule = files.rules.find((row) => Number(row['version']) === paidPriceVersion)
  if (!rule) throw new Error('name the export of the rules too (openearn export rules): it says which price is paid by')
  const rulesMs = atOf(rule['holds_from']).getTime()
  const own = groupByVault(files.changes.filter((row) => row['distributor_id'] === distributorId))
  const lookup = openFiles(files)
  const rows: FileVault[] = []
  for (const [key, changes] of own) {
    const [first] = changes
    const { paid, units } = lookup.read(key, { from, to })
    if (!first) continue
    const { values, snapshots } = await valuePaidPrices(lookup, paid, { to, carries: false, rulesMs })
    const levels = changes
      .filter((row) => atOf(row['block_timestamp']) < to)
      .toSorted((a, b) => numberOf(a, 'block_number') - numberOf(b, 'block_number') || compareIn(a, b))
      .map((row) => ({
        ...{ atMs: atOf(row['block_timestamp']).getTime(), key: textOf(row['wallet']) },
        ...{ before: BigInt(textOf(row['before'])), after: BigInt(textOf(row['after'])) },
      }))
    const snapshotsMs = snapshots.map(({ at }) => at.getTime())
    const { total } = computeUsdDays({
      shares: sumChanges(levels),
      least: values.every(({ isGuarded }) => isGuarded) ? [] : computeLeast(levels, snapshotsMs),
      prices: withholdPrices(toLevels(values), listWithheld(files, key)),
      assetDecimals: units.assetDecimals,
      bounds: [from.getTime(), to.getTime()],
    })
    const usdDays = formatUnits(total.usdDays, usdDecimals)
    const opportunityId = textOrNull(first['opportunity_id']) ?? ''
    rows.push({ chainId: Number(first['chain_id']), vault: textOf(first['vault']), opportunityId, ...total, usdDays })
  }
  return rows.sort((a, b) => a.chainId - b.chainId || (a.vault < b.vault ? -1 : 1))
}

const numberOf = (row: FileRow, name: string) => Number(row[name])
const compareIn = (a: FileRow, b: FileRow) => numberOf(a, 'transaction_index') - numberOf(b, 'transaction_index')

const groupByVault = (rows: readonly FileRow[]) => groupBy(rows, vaultOf)

/**
 * When a vault is not known to be what is configured: from the last reading that agreed before one that does not up to the next
 * one that agrees. Where a reading has no time, the snapshots around it stand in.
 */
function listWithheld({ identities, snapshots }: ExportedFiles, key: string): Span[] {
  const isOwn = (row: FileRow) => vaultOf(row) === key
  const read = identities.filter(isOwn).toSorted((a, b) => numberOf(a, 'block_number') - numberOf(b, 'block_number'))
  const agrees = (row: FileRow) => textOf(row['agrees']) === 'true'
  if (read.every(agrees)) return []
  const grid = snapshots.filter(isOwn).map((row) => [numberOf(row, 'block_number'), msOf(row)] as const)
  const timesOf = (row: FileRow, isNear: (block: number) => boolean) =>
    isSaid(row['block_timestamp']) ? [msOf(row)] : grid.flatMap(([block, ms]) => (isNear(block) ? [ms] : []))
  return read.flatMap((row, index) => {
    if (agrees(row)) return []
    const [before, after] = [read.slice(0, index).findLast(agrees), read.slice(index).find(agrees)]
    const from = before ? timesOf(before, (block) => block <= numberOf(before, 'block_number')) : []
    const to = after ? timesOf(after, (block) => block >= numberOf(after, 'block_number')) : []
    return [{ fromMs: Math.max(Number.NEGATIVE_INFINITY, ...from), toMs: Math.min(Number.POSITIVE_INFINITY, ...to) }]
  })
}

const msOf = (row: FileRow) => atOf(row['block_timestamp']).getTime()

/** The facts of vaults and the sources of prices, as files have them. */
function openFiles(files: ExportedFiles) {
  const [snapshots, mints, readings] = [files.snapshots, files.mints, files.readings].map(groupByVault)
  const sorted = (rows: readonly FileRow[] = []) =>
    rows.toSorted((a, b) => numberOf(a, 'block_number') - numberOf(b, 'block_number') || byLog(a, b))
  const observations = new Map(
    files.prices
      .filter((row) => textOf(row['source']).startsWith('share:'))
      .map((row) => [Number(row['id']), row] as const),
  )
  const read = (key: string, { from, to }: { from: Date; to: Date }) => {
    const all = sorted(snapshots?.get(key)).filter((row) => atOf(row['block_timestamp']) <= to)
    const begin = all.findLastIndex((row) => atOf(row['block_timestamp']) <= from)
    const own = all.slice(Math.max(begin, 0))
    const facts = {
      snapshots: own.map(toSnapshot),
      mints: sorted(mints?.get(key))
        .filter((row) => atOf(row['block_timestamp']) <= to)
        .map(toMint),
      readings: sorted(readings?.get(key)).map(toReading),
    }
    const units = { assetDecimals: Number(own[0]?.['asset_decimals'] ?? 0) }
    const receiptDecimals = Number(own[0]?.['receipt_decimals'] ?? 0)
    return { paid: tracePaidPrices(facts, { skipsDust: false }), units: { ...units, receiptDecimals } }
  }
  const lookup: ShareLookup = {
    listObservations: async (ids) =>
      ids.flatMap((id) => {
        const row = observations.get(id)
        if (!row) return []
        const vault = textOf(row['source']).slice('share:'.length)
        return [{ id, chainId: Number(row['chain_id']), vault, at: atOf(row['observed_at']) }]
      }),
    readShare: async ({ chainId, vault, ...range }) => read(`${chainId} ${vault}`, range),
  }
  return { ...lookup, read }
}

const byLog = (a: FileRow, b: FileRow) => (numberOf(a, 'log_index') || 0) - (numberOf(b, 'log_index') || 0)

const toSnapshot = (row: FileRow): SnapshotRow => ({
  ...{ at: atOf(row['block_timestamp']), blockNumber: numberOf(row, 'block_number') },
  ...{ blockHash: textOf(row['block_hash']), numerator: textOf(row['price_numerator']), isDust: false },
  ...{ exponent: numberOf(row, 'price_exponent'), totalSupply: textOf(row['total_supply']) },
  priceUsd: textOrNull(row['price_usd']),
  observationId: isSaid(row['price_observation_id']) ? Number(row['price_observation_id']) : null,
})

const toMint = (row: FileRow): MintRow => ({
  ...{ at: atOf(row['block_timestamp']), blockNumber: numberOf(row, 'block_number') },
  ...{ blockHash: textOf(row['block_hash']), transactionHash: textOf(row['transaction_hash']) },
  ...{ logIndex: numberOf(row, 'log_index'), shares: textOf(row['shares']), assets: textOrNull(row['assets']) },
})

const toReading = (row: FileRow): ReadingRow => ({
  ...{ blockNumber: numberOf(row, 'block_number'), blockHash: textOf(row['block_hash']) },
  ...{ numerator: textOf(row['price_numerator']), exponent: numberOf(row, 'price_exponent') },
})

/** The sum of all lots after each instant at which one changed. */
function sumChanges(
  changes: readonly { atMs: number; before: bigint; after: bigint }[],
): { atMs: number; value: bigint }[] {
  let value = 0n
  return changes.map(({ atMs, before, after }) => {
    value += after - before
    return { atMs, value }
  })
}
