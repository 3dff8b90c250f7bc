import './warm.js'
import { QueryClient } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.js'
import { type PortalConfig, readConfig } from './config.js'
import { filtersQuery, listQuery } from './opportunities/queries.js'
import { isList, toPlace } from './place.js'
import { openClient, readKeptKey } from './shell/key.js'
import { Fault, Loading } from './ui/Notice.js'

/** The program of `/portal/`. */
const place = document.getElementById('root')

/** An answer that comes sooner is drawn at once with all around it: bones in its place would be drawn for nothing. */
const soonMs = 250

async function open(root: ReturnType<typeof createRoot>): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, soonMs))
  const bones = setTimeout(() => root.render(<Loading rows={6} />), soonMs)
  try {
    const config = await readConfig()
    const queries = new QueryClient()
    await Promise.race([readAhead(config, queries), late])
    clearTimeout(bones)
    root.render(
      <StrictMode>
        <App config={config} queries={queries} />
      </StrictMode>,
    )
  } catch (error) {
    clearTimeout(bones)
    root.render(<Fault error={error as Error} retry={() => void open(root)} />)
  }
}

/** Reads what the list shows, where that is the first page. What cannot be read is told by the page, which asks again. */
async function readAhead({ apiKey }: PortalConfig, queries: QueryClient): Promise<void> {
  const { path, query } = toPlace(location.href)
  if (!isList(path)) return
  const earn = openClient(apiKey, readKeptKey())
  await Promise.all([queries.prefetchQuery(listQuery(earn, query)), queries.prefetchQuery(filtersQuery(earn))])
}

if (place) void open(createRoot(place))
