import type { ReactNode } from 'react'
import { OfflineBanner } from '../shell/OfflineBanner.js'
import { ThemeButton } from '../shell/ThemeButton.js'
import type { ShownTheme } from '../shell/theme.js'
import { Link } from '../ui/Link.js'

type Props = {
  pages: readonly { path: string; name: string }[]
  path: string
  theme: ShownTheme
  /** Forgets the token; absent while there is none. */
  close: (() => void) | undefined
  children: ReactNode
}

/** The frame around every page of the operator. */
export function OperatorShell({ pages, path, theme, close, children }: Props): ReactNode {
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <div className="inner">
          <Link to="" className="brand">
            <span className="mark" aria-hidden="true" />
            Operator
          </Link>
          {close && (
            <nav aria-label="Operator">
              {pages.map(({ path: to, name }) => (
                <Link key={to} to={to} aria-current={path === to ? 'page' : undefined}>
                  {name}
                </Link>
              ))}
            </nav>
          )}
          <div className="tools">
            <ThemeButton shown={theme} />
            {close && (
              <button type="button" onClick={close}>
                Close
              </button>
            )}
          </div>
        </div>
      </header>
      <OfflineBanner />
      <main id="main" className="inner">
        {children}
      </main>
      <footer className="inner foot muted small">
        <p>
          These pages read and change nothing. Run the command of a row on a machine with the settings of the service.
          The token stays in the memory of this page.
        </p>
      </footer>
    </>
  )
}
