import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.js'
import { readConfig } from './config.js'
import { Fault, Loading } from './ui/Notice.js'

/** The program of `/portal/`. */
const place = document.getElementById('root')

async function open(root: ReturnType<typeof createRoot>): Promise<void> {
  root.render(<Loading rows={6} />)
  try {
    const config = await readConfig()
    root.render(
      <StrictMode>
        <App config={config} />
      </StrictMode>,
    )
  } catch (error) {
    root.render(<Fault error={error as Error} retry={() => void open(root)} />)
  }
}

if (place) void open(createRoot(place))
