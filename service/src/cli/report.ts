import { reportDistributor } from '../features/audit/index.js'
import { findDistributorRow } from '../features/catalogue/index.js'
import { formatTs, parseTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { type Command, parseFlags, print, printTable, requireFlag, UsageError } from './terminal.js'

const usage = `openearn report distributor ID --from DATE-TIME --to DATE-TIME

Attributed USD-days per opportunity (the integral of attributed value over time, up to the newest confirmed block), and how much of each
vault's supply was attributed, unattributed and unexplained (drift) at its last snapshot before --to.`

export const report: Command = {
  usage,
  run: async ([noun, ...words]) => {
    if (noun !== 'distributor') throw new UsageError(`report: say distributor\n${usage}`)
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
          (unpricedMs / 3_600_000).toFixed(1),
          (unguardedMs / 3_600_000).toFixed(1),
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
