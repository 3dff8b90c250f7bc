/**
 * Statuses after which nothing more happens to a flow. The sdk knows them too (`isLast`), but in a module that brings the whole of its
 * flows along, which a page loads with the first flow only.
 */
const over: ReadonlySet<string> = new Set([
  ...['credited', 'requested', 'done', 'mined, not credited', 'reverted', 'replaced', 'refused'],
  ...['claimed', 'member'],
  ...['filled', 'partially-filled', 'cancelled', 'expired'],
])

export const isOver = ({ status }: { status: string }): boolean => over.has(status)
