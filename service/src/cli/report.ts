import { reportCoverage, reportDistributor } from '../features/audit/index.js'
import { findDistributorRow } from '../features/catalogue/index.js'
import { formatTs, parseTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { requireMonth } from './month.js'
import { type Command, parseFlags, print, printTable, requireFlag, UsageError } from './terminal.js'

const usage = `openearn report distributor ID --from DATE-TIME --to DATE-TIME

Attributed USD-days per opportunity (the integral of attributed value over time, up to the newest confirmed block), and how much of each
vault's supply was attributed, unattributed and unexplained (drift) at its last snapshot before --to.

openearn report coverage --month YYYY-MM

How much of each vault is known in a month (UTC): shares that deposits minted, credited and left out by which rule; hours without a
snapshot, a price or a guard; deposits whose trace was not to be had; and the most another source of the price differs.`

export const report: Command = {
  usage,
  run: async ([noun, ...words]) => {
    if (noun === 'coverage') return runCoverage(words)
    if (noun !== 'distributor') throw new UsageError(`report: say distributor or coverage\n${usage}`)
    const { values, positionals } = parseFlags(words, { from: { type: 'string' }, to: { type: 'string' } }, 1)
    const [distributorId] = positionals
    if (distributorId === undefined) throw new UsageError('report distributor: give the builder code first')
    const from = parseTs(requireFlag(values.from, 'from'))
    const to = parseTs(requireFlag(values.to, 'to'))
    if (!from || !to || from > to) throw new UsageError('--from and --to must be RFC 3339 date-times, in order')
    await withContext(async ({ db, clock, config }) => {
      if (!(await findDistributorRow(db, distributorId)))
        throw new UsageError(`there is no distributor ${distributorId}`)
      const rows = await reportDistributor({ db, config }, { distributorId, from, to })
      printTable(
        [
          'OPPORTUNITY',
          'USD-DAYS',
          'UNPRICED HOURS',
          'UNGUARDED HOURS',
          'STAGED',
          'ATTRIBUTED',
          'UNATTRIBUTED',
          'DRIFT',
          'SUPPLY',
        ],
        rows.map(({ opportunityName, usdDays, unpricedMs, unguardedMs, staged, coverage }) => [
          opportunityName,
          usdDays,
          hoursOf(unpricedMs),
          hoursOf(unguardedMs),
          String(staged),
          String(coverage.attributed),
          String(coverage.unattributed),
          String(coverage.drift),
          String(coverage.supply ?? 'unknown'),
        ]),
        rows.map(({ vaultId: _, ...row }) => row),
      )
      if (rows.length === 0) print('nothing was ever attributed to this distributor')
      const now = clock.now()
      if (to > now) print(`counted up to now, ${formatTs(now)}`)
    })
  },
}

const hoursOf = (ms: number) => (ms / 3_600_000).toFixed(1)

async function runCoverage(words: string[]): Promise<void> {
  const { values } = parseFlags(words, { month: { type: 'string' } })
  const range = requireMonth(values.month)
  await withContext(async ({ db, clock }) => {
    const now = clock.now()
    const to = new Date(Math.min(range.to.getTime(), now.getTime()))
    const rows = await reportCoverage({ db }, { from: range.from, to })
    printTable(
      ['VAULT', 'CREDITED', 'LEFT OUT', 'UNTRACED', 'NO SNAPSHOT', 'NO PRICE', 'NO GUARD', 'SECOND PRICE'],
      rows.map(({ chainId, vaultAddress, deposited, unseenMs, unpricedMs, unguardedMs, secondPrice }) => [
        `${chainId}:${vaultAddress}`,
        deposited.attributed,
        Object.entries(deposited.unattributed)
          .map(([reason, shares]) => `${shares} ${reason}`)
          .join(', '),
        String(deposited.untraced),
        ...[unseenMs, unpricedMs, unguardedMs].map((ms) => `${hoursOf(ms)} h`),
        secondPrice ? `${secondPrice.deviationBps} bps` : 'none',
      ]),
      rows,
    )
    if (range.to > now) print(`counted up to now, ${formatTs(now)}`)
  })
}
