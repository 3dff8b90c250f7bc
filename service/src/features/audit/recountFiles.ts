import { computeUsdDays } from './usdDays.js'

/** A row of an exported file; members of other kinds of files are absent. */
export type FileRow = Readonly<Record<string, unknown>>

export type FileVault = { chainId: number; vault: string; opportunityId: string; usdDays: string; unpricedMs: number }

const msOf = (value: unknown) => (value instanceof Date ? value : new Date(String(value))).getTime()
const isSaid = (value: unknown) => value !== null && value !== undefined && value !== ''

/** How a row names its vault. */
const vaultOf = (row: FileRow) => `${row['chain_id']} ${row['vault']}`

/**
 * Attributed USD-days of a distributor by vault, from exported changes of lots and snapshots alone, in any order: what
 * `openearn report distributor` counts from the database.
 */
export function recountUsdDays(
  files: { changes: readonly FileRow[]; snapshots: readonly FileRow[] },
  input: { distributorId: string; from: Date; to: Date },
): FileVault[] {
  const { distributorId, from, to } = input
  const vaults = new Map<string, { changes: FileRow[]; snapshots: FileRow[] }>()
  for (const row of files.changes) {
    if (row['distributor_id'] !== distributorId) continue
    const known = vaults.get(vaultOf(row)) ?? { changes: [], snapshots: [] }
    known.changes.push(row)
    vaults.set(vaultOf(row), known)
  }
  for (const row of files.snapshots) vaults.get(vaultOf(row))?.snapshots.push(row)
  const rows: FileVault[] = []
  for (const { changes, snapshots } of vaults.values()) {
    const [first] = changes
    if (!first) continue
    const { usdDays, unpricedMs } = computeUsdDays({
      shares: sumChanges(changes),
      prices: snapshots
        .toSorted((a, b) => Number(a['block_number']) - Number(b['block_number']))
        .map((row) => ({
          atMs: msOf(row['block_timestamp']),
          value: {
            numerator: BigInt(String(row['price_numerator'])),
            exponent: Number(row['price_exponent']),
            priceUsd: isSaid(row['price_usd']) ? String(row['price_usd']) : null,
          },
        }))
        .filter(({ atMs }) => atMs < to.getTime()),
      assetDecimals: Number(snapshots[0]?.['asset_decimals'] ?? 0),
      fromMs: from.getTime(),
      toMs: to.getTime(),
    })
    const opportunityId = isSaid(first['opportunity_id']) ? String(first['opportunity_id']) : ''
    rows.push({ chainId: Number(first['chain_id']), vault: String(first['vault']), opportunityId, usdDays, unpricedMs })
  }
  return rows.sort((a, b) => a.chainId - b.chainId || (a.vault < b.vault ? -1 : 1))
}

/** The sum of all lots after each instant at which one changed. */
function sumChanges(changes: readonly FileRow[]): { atMs: number; value: bigint }[] {
  const moved = new Map<number, bigint>()
  for (const row of changes) {
    const at = msOf(row['block_timestamp'])
    moved.set(at, (moved.get(at) ?? 0n) + BigInt(String(row['after'])) - BigInt(String(row['before'])))
  }
  let held = 0n
  return [...moved]
    .sort(([a], [b]) => a - b)
    .map(([atMs, delta]) => {
      held += delta
      return { atMs, value: held }
    })
}
