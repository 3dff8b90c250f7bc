import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Age } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Empty } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'

const columns = ['deposited', 'withdrawn', 'current', 'earned'] as const
const titles = { deposited: 'Deposited', withdrawn: 'Withdrawn', current: 'Now', earned: 'Earned' } as const

/** Each position: paid in, taken out, its worth now, and so what it earned. */
export function Earnings({ rows }: { rows: readonly types.Earning[] }): ReactNode {
  return (
    <section className="card" aria-labelledby="earnings">
      <h2 id="earnings">Earnings</h2>
      <p className="muted small">
        Earned = now + withdrawn − deposited. It rests on confirmed blocks and may lag the holdings.
      </p>
      {rows.length === 0 ? (
        <Empty title="No deposit of this wallet is known." />
      ) : (
        <Long items={rows}>
          {(shown) => (
            <ul className="plain-list">
              {shown.map((row) => (
                <Earned key={row.opportunityId} row={row} />
              ))}
            </ul>
          )}
        </Long>
      )}
    </section>
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
          <div key={each} className="tile">
            <dt className="muted small">{titles[each]}</dt>
            <dd>
              <Num value={row[each].native} as="tokens" name={`${each}.native`} symbol={symbol} />
            </dd>
            <dd className="muted small">
              <Num value={row[each].usd} as="usd" name={`${each}.usd`} none="no price" />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  )
}
