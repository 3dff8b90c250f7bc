import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'
import { Link } from './Link.js'

type Props = { page: number; totalPages: number; total: number; toPage(page: number): string }

/** Links to the page before and after, and where the reader is. */
export function Pager({ page, totalPages, total, toPage }: Props): ReactNode {
  const figures = useFigures()
  if (total === 0) return null
  return (
    <nav className="pager" aria-label="Pages">
      {page > 1 ? (
        <Link to={toPage(page - 1)} className="button" rel="prev">
          Previous
        </Link>
      ) : (
        <span />
      )}
      <span className="muted small">
        Page {figures.count(page)} of {figures.count(totalPages)}, {figures.count(total)} in all
      </span>
      {page < totalPages ? (
        <Link to={toPage(page + 1)} className="button" rel="next">
          Next
        </Link>
      ) : (
        <span />
      )}
    </nav>
  )
}
