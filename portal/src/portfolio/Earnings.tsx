import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { go, toPath, withQuery } from '../place.js'
import { Age, useNow } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Empty } from '../ui/Notice.js'
import { EarnedInMonth } from './EarnedInMonth.js'
import { listMonths, withinMonth } from './month.js'
import { Sum } from './Sum.js'

const columns = ['deposited', 'withdrawn', 'current', 'earned'] as const
const titles = { deposited: 'Deposited', withdrawn: 'Withdrawn', current: 'Now', earned: 'Earned' } as const

type Props = { rows: readonly types.Earning[]; address: string; query: URLSearchParams }

/** Each position: paid in, taken out, its worth now, and so what it earned; of all time or of a month. */
export function Earnings({ rows, address, query }: Props): ReactNode {
  const month = query.get('month')
  return (
    <section className="card" aria-labelledby="earnings">
      <div className="between">
        <h2 id="earnings">Earnings</h2>
        {rows.length > 0 && <Choose rows={rows} address={address} query={query} />}
      </div>
      {rows.length === 0 ? (
        <Empty title="No deposit of this wallet is known." />
      ) : month === null ? (
        <EarnedSoFar rows={rows} />
      ) : (
        <EarnedInMonth address={address} month={month} />
      )}
    </section>
  )
}

/** The time that earnings are of. */
function Choose({ rows, address, query }: Props): ReactNode {
  const figures = useFigures()
  const now = useNow()
  const chosen = query.get('month') ?? ''
  const months = listMonths(
    rows.map(({ firstDepositAt }) => firstDepositAt),
    now,
  )
  const shown = chosen === '' || months.includes(chosen) ? months : [chosen, ...months]
  const choose = (month: string) => go(toPath(`portfolio/${address}`, withQuery(query, { month })))
  return (
    <label className="inline">
      <span className="label">Earned in</span>
      <select value={chosen} onChange={({ target }) => choose(target.value)}>
        <option value="">All time</option>
        {shown.map((each) => (
          <option key={each} value={each}>
            {months.includes(each) ? figures.month(withinMonth(each)) : cutName(each, 20)}
          </option>
        ))}
      </select>
    </label>
  )
}

function EarnedSoFar({ rows }: { rows: readonly types.Earning[] }): ReactNode {
  return (
    <>
      <p className="muted small">
        Earned = now + withdrawn − deposited. It rests on confirmed blocks and may lag the holdings.
      </p>
      <Long items={rows}>
        {(shown) => (
          <ul className="plain-list">
            {shown.map((row) => (
              <Earned key={row.opportunityId} row={row} />
            ))}
          </ul>
        )}
      </Long>
    </>
  )
}

function Earned({ row }: { row: types.Earning }): ReactNode {
  const symbol = cutName(row.token.symbol, 16)
  return (
    <li className="stack tight" data-id={row.opportunityId}>
      <span className="between">
        <bdi className="strong">
          <Link to={`opportunities/${row.opportunityId}`}>{cutName(row.opportunityName, 80)}</Link>
        </bdi>
        <span className="muted small">
          since <Age name="firstDepositAt" at={row.firstDepositAt} />
        </span>
      </span>
      <dl className="tiles small-tiles">
        {columns.map((each) => (
          <Sum key={each} title={titles[each]} name={each} sum={row[each]} symbol={symbol} />
        ))}
      </dl>
    </li>
  )
}
