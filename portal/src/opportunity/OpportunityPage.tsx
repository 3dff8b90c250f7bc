import { useOpportunity } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import { lazy, type ReactNode, Suspense } from 'react'
import { useFigures } from '../figures.js'
import { useChain } from '../portal.js'
import { Avatar } from '../ui/Avatar.js'
import { Link } from '../ui/Link.js'
import { Empty, Fault, Loading } from '../ui/Notice.js'
import { Num } from '../ui/Num.js'
import { Title } from '../ui/Title.js'
import { Charts } from './Charts.js'
import { Facts } from './Facts.js'
import { Health } from './Health.js'

const Act = lazy(async () => ({ default: (await import('./Act.js')).Act }))

const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** One opportunity: its figures now and over time, the terms, and the forms. */
export function OpportunityPage({ id, query }: { id: string; query: URLSearchParams }): ReactNode {
  const isId = form.test(id)
  const { data: vault, error, refetch } = useOpportunity({ id: isId ? id : undefined, includeDeltas: true })
  const back = (
    <p className="small">
      <Link to="">← All opportunities</Link>
    </p>
  )
  if (!isId || error?.code === 404)
    return (
      <>
        {back}
        <Title text="No such opportunity" />
        <Empty title="This service lists no opportunity with this id.">It may have been taken off the list.</Empty>
      </>
    )
  return (
    <>
      {back}
      {!vault && <Title text="Opportunity" />}
      {error && <Fault error={error} retry={() => void refetch()} />}
      {!vault && !error && <Loading rows={6} label="Loading the opportunity" />}
      {vault && (
        <>
          <Head vault={vault} />
          <Headline vault={vault} />
          <div className="sides">
            <div className="stack wide">
              <Charts vault={vault} query={query} />
              <Facts vault={vault} />
              <Health vault={vault} />
            </div>
            <aside className="stack" aria-label="Deposit and withdraw">
              <Suspense fallback={<Loading rows={3} label="Loading the forms" />}>
                <Act vault={vault} />
              </Suspense>
            </aside>
          </div>
        </>
      )}
    </>
  )
}

function Head({ vault }: { vault: types.Opportunity }): ReactNode {
  const { name, baseToken, curator, description, meta } = vault
  const chain = useChain(vault.chainId)
  return (
    <div className="head-line">
      <Avatar name={baseToken.symbol || name} />
      <div className="names">
        <Title text={cutName(name, 80)} />
        <p className="tags small muted">
          <bdi>{cutName(baseToken.symbol, 16)}</bdi>
          <bdi>{cutName(chain.name, 24)}</bdi>
          {curator && <bdi>Curated by {cutName(curator.name, 40)}</bdi>}
          {!meta.depositEnabled && <span className="chip">Deposits closed</span>}
          {!meta.withdrawEnabled && <span className="chip">Withdrawals closed</span>}
        </p>
        {description && <p dir="auto">{cutName(description, 600)}</p>}
      </div>
    </div>
  )
}

/** The figures that one compares vaults by. */
function Headline({ vault }: { vault: types.Opportunity }): ReactNode {
  const figures = useFigures()
  const { deltas, freshness, tvl, estimatedApr } = vault
  const moved = (name: 'apy' | 'tvl' | 'lps', write: (value: number) => string) => {
    const value = deltas?.[name].d7
    if (value === null || value === undefined) return undefined
    return (
      <>
        <data value={`${value}`} data-name={`deltas.${name}.d7`}>
          {write(value)}
        </data>{' '}
        in 7 days
      </>
    )
  }
  const points = (value: number) => `${value > 0 ? '+' : ''}${figures.tokens(Number(value.toFixed(2)))} points`
  const chart = `opportunities/${vault.id}?chart=apy`
  const why = <Link to={chart}>Why?</Link>
  const how = (
    <>
      {moved('apy', points)} <Link to={chart}>How?</Link>
    </>
  )
  const tiles = [
    {
      ...{ title: 'APY, 30 days', note: deltas?.apy.current == null ? why : how },
      value: <Num value={deltas?.apy.current} as="percent" name="deltas.apy.current" none="withheld" />,
    },
    {
      ...{ title: 'Rewards APR', note: vault.incentives.length === 0 ? 'no rewards' : 'estimated; it can change' },
      value: <Num value={estimatedApr} as="percent" name="estimatedApr" />,
    },
    {
      ...{ title: 'TVL', note: moved('tvl', figures.usdMoved) },
      value: <Num value={freshness.analyticsAt === null ? null : tvl} as="usd" name="tvl" none="no price" />,
    },
    {
      ...{ title: 'Depositors', note: moved('lps', figures.moved) },
      value: <Num value={deltas?.lps.current} as="count" name="deltas.lps.current" />,
    },
  ]
  return (
    <dl className="tiles" data-id={vault.id}>
      {tiles.map(({ title, note, value }) => (
        <div key={title} className="tile">
          <dt className="muted small">{title}</dt>
          <dd>{value}</dd>
          <dd className="muted small">{note ?? ' '}</dd>
        </div>
      ))}
    </dl>
  )
}
