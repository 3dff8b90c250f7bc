import { useEarn } from '@openearn/react'
import { type EarnError, getWalletPortfolio, type types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'
import { rangeOf } from './month.js'
import { Sum } from './Sum.js'

const columns = ['start', 'deposited', 'withdrawn', 'end', 'earned'] as const
const titles = {
  ...{ start: 'At the start', deposited: 'Deposited', withdrawn: 'Withdrawn' },
  ...{ end: 'At the end', earned: 'Earned' },
} as const

/** Earnings of a month by position, and all of them together. */
export function EarnedInMonth({ address, month }: { address: string; month: string }): ReactNode {
  const { earn } = useEarn()
  // The present month ends now: it is asked for once, as another end would be another request.
  const [now] = useState(Date.now)
  const range = rangeOf(month, now)
  const { data, error, refetch } = useQuery<types.GetWalletPortfolioResult, EarnError>({
    queryKey: ['portal', 'earned', address.toLowerCase(), range],
    queryFn: ({ signal }) => getWalletPortfolio(earn, { address, ...range }, { signal }),
    ...{ enabled: range !== undefined, staleTime: 60_000, retry: false },
  })
  if (!range) return <Empty title="This is not a month that has begun." />
  const portfolio = data?.portfolio
  const rows = portfolio?.productsEarnings ?? []
  return (
    <>
      <p className="muted small">
        Earned = at the end + withdrawn − deposited − at the start. The month begins and ends by UTC; months add up to
        all time.
      </p>
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={3} label="Loading the month" />}
      {portfolio?.inRange && (
        <dl className="tiles small-tiles">
          <div className="tile">
            <dt className="muted small">Earned in this month, all vaults together</dt>
            <dd className="strong">
              <Num
                value={portfolio.inRange.earnedUsd}
                as="usd"
                name="inRange.earnedUsd"
                none="not known: a vault has no price of that time"
              />
            </dd>
          </div>
        </dl>
      )}
      <Long items={rows}>
        {(shown) => (
          <ul className="plain-list">
            {shown.map((row) => (
              <Row key={row.opportunityId} row={row} />
            ))}
          </ul>
        )}
      </Long>
    </>
  )
}

function Row({ row }: { row: types.Earning }): ReactNode {
  const { inRange, token, opportunityId, opportunityName } = row
  return (
    <li className="stack tight" data-id={opportunityId}>
      <bdi className="strong">
        <Link to={`opportunities/${opportunityId}`}>{cutName(opportunityName, 80)}</Link>
      </bdi>
      {inRange ? (
        <dl className="tiles small-tiles">
          {columns.map((each) => (
            <Sum
              key={each}
              title={titles[each]}
              name={`inRange.${each}`}
              sum={inRange[each]}
              symbol={cutName(token.symbol, 16)}
            />
          ))}
        </dl>
      ) : (
        <p className="muted small">Not known: the vault has no share price of that time.</p>
      )}
    </li>
  )
}
