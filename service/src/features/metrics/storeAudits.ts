import type { Queryable } from '../../postgres/pool.js'

/** The codes of findings, in the order they are told (docs/audit.md). */
export const findingCodes = [
  'inAndOut',
  'loop',
  'replayedSignature',
  'unsignedShare',
  'belowFloor',
  'paidByOneSender',
  'approvalCode',
  'foreignCaller',
  'staged',
  'bucketEnd',
] as const
export type FindingCode = (typeof findingCodes)[number]

/** A finding of an audit as it is kept. */
export type KeptFinding = {
  code: FindingCode
  count: number
  /** Decimal. */
  usdDays: string
  /** In hundredths, of a percent and of a point. */
  percent: number
  points: number
  level: string
  transactions: string[]
}

/** The findings of the monthly audit. The points of its findings add up to `score`, in hundredths. */
export type KeptAudit = { month: string; rulesVersion: number; score: number; findings: KeptFinding[] }

/** Audits of a distributor of some months, the earliest first. */
export async function listAudits(
  db: Queryable,
  distributorId: string,
  months: readonly string[],
): Promise<KeptAudit[]> {
  return db<KeptAudit[]>`
    select month, rules_version as "rulesVersion", score, findings from audits
    where distributor_id = ${distributorId} and month = any(${[...months]}::text[]) order by month`
}

/** Keeps an audit; one that is kept already stays as it is. */
export async function recordAudit(
  db: Queryable,
  distributorId: string,
  audit: KeptAudit & { madeAt: Date; limits: Record<string, number> },
): Promise<void> {
  const { month, madeAt, rulesVersion, score, findings, limits } = audit
  await db`
    insert into audits (distributor_id, month, made_at, rules_version, score, findings, limits)
    values (${distributorId}, ${month}, ${madeAt}, ${rulesVersion}, ${score}, ${db.json(findings)}, ${db.json(limits)})
    on conflict do nothing`
}

/** Distributors that had a lot before the end of a month, of which no audit is kept. */
export async function listUnaudited(db: Queryable, { month, to }: { month: string; to: Date }): Promise<string[]> {
  const rows = await db<{ distributorId: string }[]>`
    select l.distributor_id as "distributorId" from (select distinct distributor_id from lots) l
    where exists (select from lot_changes c where c.distributor_id = l.distributor_id and c.block_timestamp < ${to})
      and not exists (select from audits a where a.distributor_id = l.distributor_id and a.month = ${month})
    order by 1`
  return rows.map(({ distributorId }) => distributorId)
}
