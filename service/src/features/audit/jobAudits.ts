import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import type { Context } from '../../postgres/context.js'
import { type KeptFinding, listUnaudited, recordAudit } from '../metrics/index.js'
import { auditDistributor } from './auditDistributor.js'
import type { Finding } from './auditFindings.js'
import { parseMonth } from './statement.js'

/** Months that are over for longer are audited by the command alone. */
const monthsBack = 3
const transactionsMax = 20

/** Keeps the audit of each distributor's month once the month is final on every chain. */
export async function runAudits({ db, config, clock }: Pick<Context, 'db' | 'config' | 'clock'>): Promise<void> {
  const now = clock.now()
  for (let back = monthsBack; back >= 1; back--) {
    const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1))
    const month = begin.toISOString().slice(0, 7)
    const range = parseMonth(month)
    if (!range) continue
    for (const distributorId of await listUnaudited(db, { month, ...range })) {
      const { openReasons, rulesVersion, score, findings, limits } = await auditDistributor(
        { db, config },
        { distributorId, month },
      )
      if (openReasons.length > 0) continue
      const kept = { month, rulesVersion, score, findings: findings.map(toKept) }
      await recordAudit(db, distributorId, { ...kept, madeAt: clock.now(), limits })
    }
  }
}

export const toKept = ({ usdDays, transactions, ...finding }: Finding): KeptFinding => ({
  ...finding,
  usdDays: formatUnits(usdDays, usdDecimals),
  transactions: transactions.slice(0, transactionsMax),
})
