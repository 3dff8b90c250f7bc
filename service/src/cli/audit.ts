import { auditDistributor, type DistributorAudit, listChanges, toKept, weightOf } from '../features/audit/index.js'
import { findDistributorRow } from '../features/catalogue/index.js'
import { formatUnits, usdDecimals } from '../kernel/amount.js'
import { formatTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { requireMonth } from './month.js'
import { answer, type Command, parseFlags, parseWhole, UsageError } from './terminal.js'

const usage = `openearn audit changes [--limit N]

Who changed what of this installation by a command, newest first, 100 unless --limit says otherwise. Each change is followed
by what it is about, before and after it. Without the word changes it is the same.

openearn audit distributor ID --month YYYY-MM

What a month (UTC) of a distributor shows that honest months do not: value in and out within minutes, loops between wallets, used
signatures, dust, crowds that one sender pays for, staged prices, deposits at the ends of buckets. Each finding with the USD-days
it touches, its transactions, and its points, which add up to the score. AUDIT_LIMITS sets the thresholds (docs/audit.md).`

export const audit: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'distributor') return auditMonthOf(words)
    const rest = verb === undefined || verb === 'changes' ? words : [verb, ...words]
    const { values } = parseFlags(rest, { limit: { type: 'string' } })
    const limit = parseWhole(values.limit ?? '100', 1)
    if (limit === undefined) throw new UsageError('--limit must be a whole number of at least 1')
    await withContext(async ({ db }) => {
      const changes = await listChanges(db, limit)
      answer(
        changes,
        changes.flatMap(({ at, osUser, command, before, after }) => [
          `${formatTs(at)}  ${osUser}  openearn ${command}`,
          `  before  ${JSON.stringify(before)}`,
          `  after   ${JSON.stringify(after)}`,
        ]),
      )
    })
  },
}

async function auditMonthOf(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { month: { type: 'string' } }, 1)
  const [distributorId] = positionals
  if (distributorId === undefined) throw new UsageError('audit distributor: give the builder code first')
  const { month } = requireMonth(values.month)
  await withContext(async ({ db, config }) => {
    if (!(await findDistributorRow(db, distributorId))) throw new UsageError(`there is no distributor ${distributorId}`)
    const found = await auditDistributor({ db, config }, { distributorId, month })
    const { usdDays, findings, ...rest } = found
    const all = { ...rest, usdDays: formatUnits(usdDays, usdDecimals) }
    answer(
      { ...all, findings: findings.map((finding) => ({ ...toKept(finding), transactions: finding.transactions })) },
      tell(found),
    )
  })
}

const shownMax = 20
const hundredths = (value: number) => formatUnits(BigInt(value), 2)

function tell({
  distributorId,
  month,
  openReasons,
  brokenHolders,
  usdDays,
  wallets,
  findings,
  score,
  level,
  limits,
}: DistributorAudit) {
  return [
    `${distributorId} ${month}: ${formatUnits(usdDays, usdDecimals)} USD-days of ${wallets} ${wallets === 1 ? 'wallet' : 'wallets'}`,
    ...openReasons.map((reason) => `not final: ${reason}`),
    ...brokenHolders.map(
      ({ chainId, vaultAddress, holder, reason }) =>
        `holder not looked through: ${holder} of vault ${vaultAddress} on chain ${chainId} (${reason})`,
    ),
    ...findings.flatMap(({ code, count, usdDays: own, percent, points, level: each, transactions }) => [
      `${each.padEnd(6)}  ${code}: ${count}, ${formatUnits(own, usdDecimals)} USD-days, ${hundredths(percent)} % × ${weightOf(limits, code)} = ${hundredths(points)}`,
      ...transactions.slice(0, shownMax).map((hash) => `        ${hash}`),
      ...(transactions.length > shownMax
        ? [`        and ${transactions.length - shownMax} more: --json lists all`]
        : []),
    ]),
    findings.length === 0 ? 'no findings: score 0' : `score ${tellScore(findings, score)}: ${level}`,
  ]
}

function tellScore(findings: DistributorAudit['findings'], score: number): string {
  const terms = findings.map(({ points }) => hundredths(points)).join(' + ')
  return findings.length > 1 ? `${terms} = ${hundredths(score)}` : terms
}
