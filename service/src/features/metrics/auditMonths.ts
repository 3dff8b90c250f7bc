import { formatUnits } from '../../kernel/amount.js'
import { permissionDenied } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { type CatalogueContext, findDistributor } from '../catalogue/index.js'
import { type KeptAudit, listAudits } from './storeAudits.js'

const monthsMax = 3

/** Refuses who may not see audits of a distributor: all but a secret key of its own organization. */
export function assertOwnAudits({ catalogue }: CatalogueContext, distributorId: string, caller: Caller): void {
  if (caller.kind !== 'secret') throw permissionDenied('includeAudit needs a secret key')
  const distributor = findDistributor(catalogue.current(), distributorId)
  const isOwn = distributor !== undefined && distributor.organizationId === caller.organizationId
  if (!isOwn || (caller.distributorId !== null && caller.distributorId !== distributor.id))
    throw permissionDenied('includeAudit needs a key of the organization that the distributor belongs to')
}

/** The months (UTC) that lie wholly within a range, the newest of them, in order. Pure. */
export function listWholeMonths({ from, to }: { from: Date; to: Date }): string[] {
  const months: string[] = []
  const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + (isStart(from) ? 0 : 1), 1))
  for (let begin = first; ; ) {
    const end = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 1))
    if (end > to) return months.slice(-monthsMax)
    months.push(begin.toISOString().slice(0, 7))
    begin = end
  }
}

const isStart = (at: Date) => at.getTime() === Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)

/** The audits that are kept of the whole months of a range; null where there is none. */
export async function readAudits(
  { db }: Pick<CatalogueContext, 'db'>,
  distributorId: string,
  range: { from: Date; to: Date },
) {
  const kept = await listAudits(db, distributorId, listWholeMonths(range))
  return kept.length === 0 ? null : { months: kept.map(tell) }
}

const tell = ({ month, rulesVersion, findings, score }: KeptAudit) => ({
  ...{ month, rulesVersion, score: Number(formatUnits(BigInt(score), 2)) },
  findings: findings.map(({ code, count, usdDays, transactions }) => ({ code, count, usdDays, transactions })),
})
