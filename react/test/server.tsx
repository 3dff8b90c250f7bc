import { version } from 'react'
import { renderToString } from 'react-dom/server'
import { openEarn, Page, readPage, type Settings } from './app.js'

/** The page as a server sends it, and what its queries know. */
export async function renderPage(settings: Settings) {
  const earn = openEarn(settings)
  const { queries, state } = await readPage(earn)
  return { version, html: renderToString(<Page earn={earn} queries={queries} state={state} />), state }
}
