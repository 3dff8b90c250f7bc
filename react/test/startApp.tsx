import type { Provider } from '@openearn/sdk/flows'
import { type DehydratedState, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { version } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { App, getTold, openEarn, Page, type Settings } from './app.js'

const place = () => document.getElementById('root') as HTMLElement
const faults: string[] = []
const tell = (error: unknown) => void faults.push(String(error))

/** Lets a test drive the app, with this wallet. */
export function startApp(provider: Provider): void {
  const app = {
    version,
    faults,
    told: getTold,
    /** Draws the page that a server sent: every change of it is counted. */
    hydrate: (settings: Settings, state: DehydratedState) => {
      const changes: string[] = []
      const observer = new MutationObserver((found) => changes.push(...found.map(({ type }) => type)))
      observer.observe(place(), { subtree: true, childList: true, characterData: true, attributes: true })
      const queries = new QueryClient()
      hydrateRoot(place(), <Page earn={openEarn(settings)} queries={queries} state={state} />, {
        onRecoverableError: tell,
      })
      return changes
    },
    open: (settings: Settings, isConnected = true) => {
      const queries = new QueryClient()
      const earn = openEarn(settings)
      const root = createRoot(place())
      const draw = (asked: Provider | undefined) =>
        root.render(
          <QueryClientProvider client={queries}>
            <App settings={settings} provider={asked} earn={earn} />
          </QueryClientProvider>,
        )
      draw(isConnected ? provider : undefined)
      Object.assign(app, { queries, connect: () => draw(provider), close: () => root.unmount() })
    },
  }
  Object.assign(globalThis, { app })
  document.title = 'ready'
}
