import { createHash } from 'node:crypto'
import type { StatementChange, StatementFacts } from './statementFacts.js'

export const exportsOfStatement = [
  ...(['lot-changes', 'snapshots', 'identities', 'share-mints', 'share-readings', 'prices', 'rules'] as const),
]

/** A statement as files: the same facts give the same bytes. */
export type StatementFiles = { name: string; sha256: string; document: string; rowsCsv: string; manifest: string }

const columns = [
  ...['distributor_id', 'month', 'revision', 'chain_id', 'vault', 'opportunity_id', 'usd_days', 'unpriced_seconds'],
  ...['unguarded_seconds', 'staged', 'attributed', 'unattributed', 'drift', 'supply'],
]

/** SHA-256 of a text in hex. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Writes a statement as JSON, CSV, and a manifest with their SHA-256 and how to count it again. `revision` null: a draft. */
export function writeStatement(
  facts: StatementFacts,
  { revision, changes }: { revision: number | null; changes: readonly StatementChange[] },
): StatementFiles {
  const { distributorId, month, from, to, rate, rulesVersion, chains, usdDays } = facts
  const status = revision === null ? 'draft' : 'final'
  const name = nameStatement(facts, revision)
  const document = `${JSON.stringify({ version: 1, status, revision, ...facts, changes }, undefined, 2)}\n`
  const rowsCsv = [columns, ...facts.vaults.map((vault) => toCells(facts, vault, revision))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('')
  const files = [
    { file: `${name}.json`, sha256: hashOf(document) },
    { file: `${name}.csv`, sha256: hashOf(rowsCsv) },
  ]
  const manifest = {
    ...{ version: 1, status, revision, distributorId, month, usdDays, rate, rulesVersion, chains, files },
    exports: exportsOfStatement.map((each) => `openearn export ${each} --out export`),
    recount: `openearn recount ${exportsOfStatement.map((each) => `export/${each}.csv`).join(' ')} --distributor ${distributorId} --from ${from} --to ${to}`,
  }
  const sha256 = hashOf(document)
  return { name, sha256, document, rowsCsv, manifest: `${JSON.stringify(manifest, undefined, 2)}\n` }
}

/** How its files are called, without their ends. */
export const nameStatement = ({ distributorId, month, rate }: StatementFacts, revision: number | null): string =>
  `${distributorId}-${month}${nameRate(rate)}-${revision === null ? 'DRAFT' : `r${revision}`}`

function nameRate(rate: StatementFacts['rate']): string {
  if (!rate) return ''
  const { bps, token } = rate
  return `-${bps}bps${token ? `-${token.chainId}-${token.address}` : ''}`
}

/** No cell has a comma or a quote in it. */
function toCells(
  { distributorId, month }: StatementFacts,
  vault: StatementFacts['vaults'][number],
  revision: number | null,
): (string | number)[] {
  const { attributed, unattributed, drift, supply } = vault.coverage
  return [
    ...[distributorId, month, revision ?? 'draft', vault.chainId, vault.vault, vault.opportunityId, vault.usdDays],
    ...[vault.unpricedSeconds, vault.unguardedSeconds, vault.staged, attributed, unattributed, drift, supply ?? ''],
  ]
}
