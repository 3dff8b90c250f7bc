import type { ReactNode } from 'react'
import { Link } from './Link.js'
import { Num } from './Num.js'

type Props = { page: number; totalPages: number; total: number; toPage(page: number): string }

/** Links to the page before and after, and where the reader is. */
export function Pager({ page, totalPages, total, toPage }: Props): ReactNode {
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
        Page <Num value={page} as="count" name="pagination.page" /> of{' '}
        <Num value={totalPages} as="count" name="pagination.totalPages" />,{' '}
        <Num value={total} as="count" name="pagination.total" /> in all
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
