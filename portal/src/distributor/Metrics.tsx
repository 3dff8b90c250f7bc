import { useEarn } from '@openearn/react'
import { type EarnError, getDistributorLPs, getDistributorMetrics, type types } from '@openearn/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LineChart } from '../chart/LineChart.js'
import { Ranges } from '../chart/Ranges.js'
import { type Range, toDates, toRange } from '../chart/ranges.js'
import { useFigures } from '../figures.js'
import { go, toPath, withQuery } from '../place.js'
import { Address } from '../ui/Address.js'
import { Age } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'

type Props = { code: string; query: URLSearchParams }
type Told = { metrics: types.GetDistributorMetricsResult; lps: types.GetDistributorLPsResult }

/** The step of metrics is a multiple of the grid as that of history is. */
function useTold(code: string, range: Range) {
  const { earn } = useEarn()
  return useQuery<Told, EarnError>({
    queryKey: ['portal', 'distributor', code, range],
    queryFn: async ({ signal }) => {
      const params = { distributorId: code, ...toDates(range, Date.now()) }
      const [metrics, lps] = await Promise.all([
        getDistributorMetrics(earn, { ...params, includeTopWallets: true, includeFlows: true }, { signal }),
        getDistributorLPs(earn, params, { signal }),
      ])
      return { metrics, lps }
    },
    placeholderData: keepPreviousData,
    ...{ staleTime: 60_000, retry: false },
  })
}

/** TVL and wallets that a distributor brought, over time and now. */
export function Metrics({ code, query }: Props): ReactNode {
  const figures = useFigures()
  const { data, error, refetch } = useTold(code, toRange(query))
  const show = (changes: Readonly<Record<string, string | undefined>>) =>
    go(toPath(`distributor/${encodeURIComponent(code)}/metrics`, withQuery(query, changes)), { replace: true })
  const mark = (from: number, to: number) =>
    show({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), range: undefined })
  if (!data)
    return error ? (
      <Fault error={error} retry={() => void refetch()} />
    ) : (
      <Loading rows={4} label="Loading the figures" />
    )
  const tvl = data.metrics.timeseries.map((each) => ({ at: Date.parse(each.timestamp), value: Number(each.tvl) }))
  const lps = data.lps.timeseries.map((each) => ({ at: Date.parse(each.timestamp), value: each.activeLps }))
  if (tvl.length === 0)
    return <Empty title="Nothing is known of this builder code.">The service has no distributor of this code.</Empty>
  const [lastTvl, lastLps] = [data.metrics.timeseries.at(-1), data.lps.timeseries.at(-1)]
  return (
    <div className="stack">
      <dl className="tiles">
        <Tile title="TVL brought, still there" id={lastTvl?.timestamp}>
          <Num value={lastTvl?.tvl} as="usd" name="tvl" />
        </Tile>
        <Tile title="Active wallets" id={lastLps?.timestamp}>
          <Num value={lastLps?.activeLps} as="count" name="activeLps" />
        </Tile>
        <Tile title="Wallets ever" id={lastLps?.timestamp}>
          <Num value={lastLps?.participatedLps} as="count" name="participatedLps" />
        </Tile>
      </dl>
      <p className="muted small" data-id={lastTvl?.timestamp}>
        Worth at the end of the newest bucket (<Age name="timestamp" at={lastTvl?.timestamp} />) of what this code
        brought, less what has left since. What came and went, one by one, stands in the{' '}
        <Link to={`distributor/${encodeURIComponent(code)}/ledger`}>ledger</Link>.
      </p>
      <section className="card" aria-label="TVL brought">
        <div className="between">
          <h2>TVL brought, still there</h2>
          <Ranges query={query} show={show} />
        </div>
        <LineChart label="TVL brought" points={tvl} full={figures.usd} short={figures.shortUsd} onRange={mark} />
        {data.metrics.flows && <FlowsOf flows={data.metrics.flows} />}
      </section>
      <section className="card" aria-label="Active wallets">
        <h2>Active wallets</h2>
        <LineChart label="Active wallets" points={lps} full={figures.count} short={figures.tokens} onRange={mark} />
      </section>
      <Top rows={data.metrics.topWallets ?? []} />
    </div>
  )
}

const flowTitles = { deposits: 'Brought in this range', withdrawals: 'Taken out in this range' } as const

/** Deposits and withdrawals of the range that the chart shows. */
function FlowsOf({ flows }: { flows: types.Flows }): ReactNode {
  return (
    <>
      <dl className="tiles small-tiles">
        {(['deposits', 'withdrawals'] as const).map((each) => (
          <div key={each} className="tile">
            <dt className="muted small">{flowTitles[each]}</dt>
            <dd>
              <Num value={flows[each].usd} as="usd" name={`flows.${each}.usd`} />
            </dd>
            <dd className="muted small">
              in <Num value={flows[each].count} as="count" name={`flows.${each}.count`} /> {each}
              {flows[each].unpriced > 0 && (
                <>
                  , <Num value={flows[each].unpriced} as="count" name={`flows.${each}.unpriced`} /> of them without a
                  price
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p className="muted small">
        From <Age name="flows.from" at={flows.from} whole /> up to <Age name="flows.to" at={flows.to} whole />. What is
        still there of all that this code ever brought is the figure above.
      </p>
    </>
  )
}

/** `id`: the bucket that the figure is of. */
function Tile({ title, id, children }: { title: string; id: string | undefined; children: ReactNode }): ReactNode {
  return (
    <div className="tile" data-id={id}>
      <dt className="muted small">{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Top({ rows }: { rows: NonNullable<types.GetDistributorMetricsResult['topWallets']> }): ReactNode {
  return (
    <section className="card" aria-labelledby="top">
      <h2 id="top">Wallets with the most</h2>
      {rows.length === 0 && <Empty title="No wallet holds anything that this code brought." />}
      <ul className="plain-list">
        {rows.map(({ walletAddress, totalTvl }) => (
          <li key={walletAddress} className="between" data-id={walletAddress}>
            <Address text={walletAddress} to={`portfolio/${walletAddress}`} />
            <Num value={totalTvl} as="usd" name="totalTvl" />
          </li>
        ))}
      </ul>
    </section>
  )
}
