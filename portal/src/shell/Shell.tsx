import type { ReactNode } from 'react'
import { usePortal } from '../portal.js'
import { Link } from '../ui/Link.js'
import { Menu } from './Menu.js'
import { OfflineBanner } from './OfflineBanner.js'
import { ThemeButton } from './ThemeButton.js'

/** The pages by their first word. */
export const sections = [
  { path: '', name: 'Opportunities' },
  { path: 'portfolio', name: 'Portfolio' },
  { path: 'distributor', name: 'Distributors' },
  { path: 'attribution', name: 'Who brought it?' },
  { path: 'status', name: 'Status' },
] as const

/** The frame around every page. */
export function Shell({ path, children }: { path: string; children: ReactNode }): ReactNode {
  const { theme } = usePortal()
  const [first = ''] = path.split('/')
  const here = first === 'opportunities' ? '' : first
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <div className="inner">
          <Link to="" className="brand">
            <span className="mark" aria-hidden="true" />
            OpenEarn
          </Link>
          <nav aria-label="Portal">
            {sections.map(({ path: to, name }) => (
              <Link key={to} to={to} aria-current={here === to ? 'page' : undefined}>
                {name}
              </Link>
            ))}
          </nav>
          <div className="tools">
            <ThemeButton shown={theme} />
            <Menu />
          </div>
        </div>
      </header>
      <OfflineBanner />
      <main id="main" className="inner">
        {children}
      </main>
      <Foot />
    </>
  )
}

function Foot(): ReactNode {
  return (
    <footer className="inner foot muted small">
      <p>
        Figures are computed from the chain and can be recomputed by anyone. Yields of the past promise nothing. This
        page holds no key of yours and sends nothing by itself. <Link to="methodology">How figures are computed</Link>
      </p>
    </footer>
  )
}
