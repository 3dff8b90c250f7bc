import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { createPortalFigures, FiguresContext } from '../figures.js'
import { usePlace } from '../place.js'
import { useTheme } from '../shell/theme.js'
import { Boundary } from '../ui/Boundary.js'
import { Link } from '../ui/Link.js'
import { Empty } from '../ui/Notice.js'
import { Title } from '../ui/Title.js'
import { CataloguePage } from './CataloguePage.js'
import { ChainsPage } from './ChainsPage.js'
import { ChangesPage } from './ChangesPage.js'
import { JobsPage } from './JobsPage.js'
import { KeysPage } from './KeysPage.js'
import type { ListError } from './lists.js'
import { OperatorShell } from './OperatorShell.js'
import { SendingPage } from './SendingPage.js'
import { SolverPage } from './SolverPage.js'
import { StreamsPage } from './StreamsPage.js'
import { openSession, type Session, SessionContext } from './session.js'
import { TokenForm } from './TokenForm.js'

/** The pages by their path, in the order of the menu. */
const pages: readonly { path: string; name: string; Page: ComponentType }[] = [
  { path: '', name: 'Chains', Page: ChainsPage },
  { path: 'jobs', name: 'Jobs', Page: JobsPage },
  { path: 'sending', name: 'Sending', Page: SendingPage },
  { path: 'solver', name: 'Solver', Page: SolverPage },
  { path: 'streams', name: 'Streams', Page: StreamsPage },
  { path: 'keys', name: 'Keys', Page: KeysPage },
  { path: 'catalogue', name: 'Catalogue', Page: CataloguePage },
  { path: 'changes', name: 'Changes', Page: ChangesPage },
]

/** The pages of who operates the service: they show what it does, and the command for what there is to do. */
export function OperatorApp(): ReactNode {
  const [figures] = useState(() => createPortalFigures())
  const theme = useTheme()
  const { path } = usePlace()
  const [session, setSession] = useState<Session>()
  const [refusal, setRefusal] = useState<ListError>()
  useEffect(() => scrollTo(0, 0), [path])
  const close = (why?: ListError) => {
    setRefusal(why)
    setSession((before) => {
      before?.queries.clear()
      return undefined
    })
  }
  return (
    <FiguresContext.Provider value={figures}>
      <OperatorShell pages={pages} path={path} theme={theme} close={session && (() => close())}>
        {session ? (
          <SessionContext.Provider value={session}>
            <QueryClientProvider client={session.queries}>
              <Boundary key={path}>
                <Page path={path} />
              </Boundary>
            </QueryClientProvider>
          </SessionContext.Provider>
        ) : (
          <TokenForm refusal={refusal} open={(token) => setSession(openSession(token, close))} />
        )}
      </OperatorShell>
    </FiguresContext.Provider>
  )
}

function Page({ path }: { path: string }): ReactNode {
  const found = pages.find((page) => page.path === path)
  if (found) return <found.Page />
  return (
    <>
      <Title text="No such page" />
      <Empty title="There is nothing at this address.">
        <Link to="">To the chains</Link>
      </Empty>
    </>
  )
}
