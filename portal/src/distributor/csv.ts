import type { types } from '@openearn/sdk'

export type Row = types.ListInteractionsResult['data'][number]

const columns = [
  ...([
    'blockTimestamp',
    'interaction',
    'walletAddress',
    'opportunityId',
    'amountToken',
    'tokenSymbol',
    'amountInUsd',
  ] as const),
  ...(['attribution', 'finality', 'chainId', 'blockNumber', 'logIndex', 'txHash', 'amountRaw', 'id'] as const),
] as const satisfies readonly (keyof Row)[]

/** A cell that a spreadsheet takes as text, not as a formula: token symbols are strangers' texts. */
function toCell(value: string | number | boolean | null): string {
  const text = value === null ? '' : `${value}`
  const safe =
    typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Entries of a ledger by RFC 4180. */
export function toCsv(rows: readonly Row[]): string {
  return [columns.join(','), ...rows.map((row) => columns.map((name) => toCell(row[name])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('')
}
