import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from 'react'
import { go, hrefOf, isForHere } from '../place.js'

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'> & { to: string }

/** A link to a place of the portal, which is shown without loading the page anew. */
export function Link({ to, ...rest }: Props): ReactNode {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    if (!isForHere(event)) return
    event.preventDefault()
    go(to)
  }
  return <a {...rest} href={hrefOf(to)} onClick={follow} />
}

/** A link to a page elsewhere; only the text where the url is not one of the web. */
export function Outside({ url, children }: { url: string; children: ReactNode }): ReactNode {
  if (!/^https?:\/\/[^\s]+$/.test(url)) return children
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}
