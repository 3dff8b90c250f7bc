import { useMemo, useSyncExternalStore } from 'react'

/** The path below the portal's own, without slashes around it, and the query. The URL holds the whole view. */
export type Place = { path: string; query: URLSearchParams }

const { url } = import.meta
/** All files stand in `files/` below the portal's path, wherever the service is. */
const home = new URL('..', url)

/** The address of the service. */
export const serviceUrl = new URL('..', home).href

const moved = 'openearn:place'

/** A whole href of a place of the portal. */
export const hrefOf = (to: string): string => home.pathname + to

export const toPath = (path: string, query: URLSearchParams): string => (query.size > 0 ? `${path}?${query}` : path)

/** Shows another place; `replace` where a step back should not show this one again. */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', hrefOf(to))
  dispatchEvent(new Event(moved))
}

type Click = Pick<MouseEvent, 'button' | 'metaKey' | 'ctrlKey' | 'shiftKey' | 'altKey'>

/** Whether a press on a link is for this page: others open a tab or keep the file. */
export const isForHere = ({ button, metaKey, ctrlKey, shiftKey, altKey }: Click): boolean =>
  button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey

/** Follows the link of the portal that was pressed, without loading the page anew. */
export function goByLink(event: MouseEvent): void {
  const link = (event.target as Element).closest('a')
  if (!link || !isForHere(event)) return
  event.preventDefault()
  go(link.pathname.slice(home.pathname.length))
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener)
  addEventListener(moved, listener)
  return () => {
    removeEventListener('popstate', listener)
    removeEventListener(moved, listener)
  }
}

/** The place of an href of the portal. */
export function toPlace(href: string): Place {
  const { pathname, searchParams } = new URL(href)
  return { path: pathname.slice(home.pathname.length).replace(/^\/+|\/+$/g, ''), query: searchParams }
}

export function usePlace(): Place {
  const href = useSyncExternalStore(subscribe, () => location.href)
  return useMemo(() => toPlace(href), [href])
}

/** Whether a path is that of the list. */
export const isList = (path: string): boolean => path === '' || path === 'opportunities'

/** Sets and removes members of the query; the other ones stay. */
export function withQuery(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  return next
}
