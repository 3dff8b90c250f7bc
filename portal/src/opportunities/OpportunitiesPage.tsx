import { useEarn } from '@openearn/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { toPath, withQuery } from '../place.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Pager } from '../ui/Pager.js'
import { Title } from '../ui/Title.js'
import { Filters } from './Filters.js'
import { listQuery } from './queries.js'
import { countFilters, toParams } from './query.js'
import { Rows } from './Rows.js'

/** The list: the service filters and sorts, by the query of the URL. The page before stays until the next is there. */
export function OpportunitiesPage({ query }: { query: URLSearchParams }): ReactNode {
  const { earn } = useEarn()
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...listQuery(earn, query),
    placeholderData: keepPreviousData,
  })
  const toPage = (page: number) => toPath('', withQuery(query, { page: page === 1 ? undefined : `${page}` }))
  return (
    <>
      <Title text="Opportunities">Yield vaults that this service follows, block by block.</Title>
      <Filters query={query} />
      <Fault error={error} retry={() => void refetch()} />
      {!data && !error && <Loading rows={8} label="Loading opportunities" />}
      {data?.data.length === 0 && <Nothing query={query} page={toParams(query).page ?? 1} />}
      {data && data.data.length > 0 && (
        <section aria-label="List" aria-busy={isPlaceholderData}>
          <div className="row head" aria-hidden="true">
            {['Opportunity', 'APY', 'Rewards APR', 'TVL', 'Depositors', 'TVL, 7 days'].map((each) => (
              <span key={each} className="cell">
                {each}
              </span>
            ))}
          </div>
          <Rows vaults={data.data} isStale={isPlaceholderData} />
        </section>
      )}
      {data && <Pager {...data.pagination} toPage={toPage} />}
    </>
  )
}

function Nothing({ query, page }: { query: URLSearchParams; page: number }): ReactNode {
  if (page > 1) return <Empty title="There is no such page of the list." />
  if (countFilters(query) > 0) return <Empty title="No opportunity fits.">Change or remove a filter.</Empty>
  return <Empty title="No opportunity is listed yet.">The operator adds them with `openearn catalogue import`.</Empty>
}
