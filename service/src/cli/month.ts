import { parseMonth } from '../features/audit/index.js'
import { requireFlag, UsageError } from './terminal.js'

/** The month (UTC) that --month names, with its bounds. */
export function requireMonth(value: string | undefined): { month: string; from: Date; to: Date } {
  const month = requireFlag(value, 'month')
  const range = parseMonth(month)
  if (!range) throw new UsageError('--month must be a month such as 2026-10')
  return { month, ...range }
}
