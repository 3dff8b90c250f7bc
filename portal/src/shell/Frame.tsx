import type { ReactNode } from 'react'
import { Link } from '../ui/Link.js'
import { OfflineBanner } from './OfflineBanner.js'
import { ThemeButton } from './ThemeButton.js'
import type { ShownTheme } from './theme.js'

type Props = {
  /** The name after the mark; both lead to the first page. */
  brand: string
  theme: ShownTheme
  /** The menu; absent where there is nowhere to go. */
  menu?: { label: string; pages: readonly { path: string; name: string }[]; here: string } | undefined
  /** After the button of the theme. */
  tools?: ReactNode
  foot: ReactNode
  children: ReactNode
}

/** The head, menu and foot of every page, those of the operator too. */
export function Frame({ brand, theme, menu, tools, foot, children }: Props): ReactNode {
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <div className="inner">
          <Link to="" className="brand">
            <span className="mark" aria-hidden="true" />
            {brand}
          </Link>
          {menu && (
            <nav aria-label={menu.label}>
              {menu.pages.map(({ path, name }) => (
                <Link key={path} to={path} aria-current={menu.here === path ? 'page' : undefined}>
                  {name}
                </Link>
              ))}
            </nav>
          )}
          <div className="tools">
            <ThemeButton shown={theme} />
            {tools}
          </div>
        </div>
      </header>
      <OfflineBanner />
      <main id="main" className="inner">
        {children}
      </main>
      <footer className="inner foot muted small">
        <p>{foot}</p>
      </footer>
    </>
  )
}
