import { EarnProvider } from '@openearn/react'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type { PortalConfig } from './config.js'
import { createPortalFigures, FiguresContext } from './figures.js'
import { OpportunitiesPage } from './opportunities/OpportunitiesPage.js'
import { isList, type Place, usePlace } from './place.js'
import { PortalContext } from './portal.js'
import { KeyContext, useClient } from './shell/key.js'
import { Shell } from './shell/Shell.js'
import { useTheme } from './shell/theme.js'
import { useWallet } from './shell/wallet.js'
import { Boundary } from './ui/Boundary.js'
import { Link } from './ui/Link.js'
import { Empty, Loading } from './ui/Notice.js'
import { Title } from './ui/Title.js'

const OpportunityPage = lazy(async () => ({
  default: (await import('./opportunity/OpportunityPage.js')).OpportunityPage,
}))
const TestWallet = lazy(async () => ({ default: (await import('./shell/TestWallet.js')).TestWallet }))
const DistributorPage = lazy(async () => ({
  default: (await import('./distributor/DistributorPage.js')).DistributorPage,
}))
const AttributionPage = lazy(async () => ({
  default: (await import('./attribution/AttributionPage.js')).AttributionPage,
}))
const StatusPage = lazy(async () => ({ default: (await import('./status/StatusPage.js')).StatusPage }))
const MethodologyPage = lazy(async () => ({ default: (await import('./methodology.js')).MethodologyPage }))
const PortfolioPage = lazy(async () => ({ default: (await import('./portfolio/PortfolioPage.js')).PortfolioPage }))

/** The portal: its pages by the URL, over one client of the service. */
export function App({ config, queries }: { config: PortalConfig; queries: QueryClient }): ReactNode {
  const { earn, key } = useClient(config.apiKey)
  const [figures] = useState(() => createPortalFigures())
  const theme = useTheme()
  const wallet = useWallet()
  const place = usePlace()
  const portal = useMemo(() => ({ config, theme, wallet }), [config, theme, wallet])
  return (
    <QueryClientProvider client={queries}>
      <EarnProvider earn={earn} provider={wallet.wallet?.provider}>
        <KeyContext.Provider value={key}>
          <PortalContext.Provider value={portal}>
            <FiguresContext.Provider value={figures}>
              <Suspense>{config.testWallet && <TestWallet given={config.testWallet} />}</Suspense>
              <Shell path={place.path}>
                <Boundary key={place.path}>
                  <Suspense fallback={<Loading rows={6} />}>
                    <Page place={place} />
                  </Suspense>
                </Boundary>
              </Shell>
            </FiguresContext.Provider>
          </PortalContext.Provider>
        </KeyContext.Provider>
      </EarnProvider>
    </QueryClientProvider>
  )
}

function Page({ place: { path, query } }: { place: Place }): ReactNode {
  const isFirst = useRef(true)
  useEffect(() => {
    // The first page stands at its top: to say so would have the browser lay it out before its list is there.
    if (!isFirst.current) scrollTo(0, 0)
    isFirst.current = false
  }, [path])
  const [section = '', id, ...more] = toWords(path)
  if (more.length > (section === 'distributor' ? 1 : 0)) return <NoPage />
  if (isList(path)) return <OpportunitiesPage query={query} />
  if (section === 'opportunities' && id) return <OpportunityPage id={id} query={query} />
  if (section === 'distributor') return <DistributorPage code={id} view={more[0]} query={query} />
  if (section === 'portfolio') return <PortfolioPage address={id} query={query} />
  if (id !== undefined) return <NoPage />
  if (section === 'attribution') return <AttributionPage query={query} />
  if (section === 'status') return <StatusPage />
  if (section === 'methodology') return <MethodologyPage />
  return <NoPage />
}

/** The words of a path; a strange one is a word that no page has. */
function toWords(path: string): string[] {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return ['no page']
  }
}

function NoPage(): ReactNode {
  return (
    <>
      <Title text="No such page" />
      <Empty title="There is nothing at this address.">
        <Link to="">To the opportunities</Link>
      </Empty>
    </>
  )
}
