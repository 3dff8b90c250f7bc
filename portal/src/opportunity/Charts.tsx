import { useEarn } from '@openearn/react'
import type { EarnError, types } from '@openearn/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { LineChart } from '../chart/LineChart.js'
import { Ranges } from '../chart/Ranges.js'
import { toRange } from '../chart/ranges.js'
import { useFigures } from '../figures.js'
import { go, toPath, withQuery } from '../place.js'
import { Empty, Fault, isWithheld, Loading, Withheld } from '../ui/Notice.js'
import { Formula } from './Formula.js'
import { reads, type Series, type SeriesName, seriesNames } from './series.js'

type Props = { vault: types.Opportunity; query: URLSearchParams }

const isSeries = (text: string | null): text is SeriesName => text !== null && Object.hasOwn(seriesNames, text)

/** The figures of a vault over time. Series and range stand in the URL. */
export function Charts({ vault, query }: Props): ReactNode {
  const { earn } = useEarn()
  const given = query.get('chart')
  const name = isSeries(given) ? given : 'tvl'
  const range = toRange(query)
  const { chainId, vaultAddress } = vault
  const show = (changes: Readonly<Record<string, string | undefined>>) =>
    go(toPath(`opportunities/${vault.id}`, withQuery(query, changes)), { replace: true })
  const { data, error, refetch, isPlaceholderData } = useQuery<Series, EarnError>({
    queryKey: ['portal', 'series', name, chainId, vaultAddress, range],
    queryFn: ({ signal }) => reads[name](earn, { chainId, vaultAddress }, range, signal),
    // A line of the range before stays until this one is there; one of another series would be told with a wrong unit.
    placeholderData: (before, query) => (query?.queryKey[2] === name ? keepPreviousData(before) : undefined),
    ...{ staleTime: 60_000, retry: false },
  })
  return (
    <section className="card" aria-label="Charts">
      <div className="bar between">
        <Tabs name={name} onName={(next) => show({ chart: next === 'tvl' ? undefined : next })} />
        <Ranges query={query} show={show} />
      </div>
      {error && (isWithheld(error) ? <Withheld error={error} /> : <Fault error={error} retry={() => void refetch()} />)}
      {!data && !error && <Loading rows={1} label="Loading the chart" />}
      {data && !error && (
        <div className={isPlaceholderData ? 'stale' : ''}>
          <Drawn
            key={name}
            vault={vault}
            series={data}
            title={seriesNames[name]}
            onRange={(from, to) =>
              show({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), range: undefined })
            }
          />
        </div>
      )}
    </section>
  )
}

function Tabs({ name, onName }: { name: SeriesName; onName(name: SeriesName): void }): ReactNode {
  return (
    <fieldset className="tabs" aria-label="Series">
      {(Object.entries(seriesNames) as [SeriesName, string][]).map(([each, title]) => (
        <button key={each} type="button" aria-pressed={each === name} onClick={() => onName(each)}>
          {title}
        </button>
      ))}
    </fieldset>
  )
}

type DrawnProps = { vault: types.Opportunity; series: Series; title: string; onRange(from: number, to: number): void }

function Drawn({ vault, series, title, onRange }: DrawnProps): ReactNode {
  const figures = useFigures()
  const [looked, setLooked] = useState<number>()
  const { points, unit, symbol, inputs, method } = series
  if (points.length === 0) return <Empty title="There is no value in this range." />
  const full = (value: number) => {
    if (unit === 'usd') return figures.usd(value)
    if (unit === 'percent') return figures.percent(value)
    return unit === 'count' ? figures.count(value) : `${figures.tokensExact(value)}${symbol ? ` ${symbol}` : ''}`
  }
  const short = unit === 'usd' ? figures.shortUsd : unit === 'percent' ? figures.percent : figures.tokens
  const input = inputs?.[looked ?? inputs.length - 1]
  return (
    <>
      <LineChart label={title} points={points} {...{ full, short, onRange }} onLook={setLooked} />
      {input && method && <Formula {...{ vault, input, method, title }} />}
    </>
  )
}
