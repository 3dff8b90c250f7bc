import type { ReactNode } from 'react'
import { usePortal } from '../portal.js'
import { Link } from '../ui/Link.js'
import { Frame } from './Frame.js'
import { Menu } from './Menu.js'

/** The pages by their first word. */
export const sections = [
  { path: '', name: 'Opportunities' },
  { path: 'portfolio', name: 'Portfolio' },
  { path: 'distributor', name: 'Distributors' },
  { path: 'attribution', name: 'Who brought it?' },
  { path: 'status', name: 'Status' },
] as const

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

/** The frame around every page. */
export function Shell({ path, children }: { path: string; children: ReactNode }): ReactNode {
  const { theme } = usePortal()
  const [first = ''] = path.split('/')
  const here = first === 'opportunities' ? '' : first
  const foot = (
    <>
      Figures are computed from the chain and can be recomputed by anyone. Yields of the past promise nothing. This page
      holds no key of yours and sends nothing by itself. Times are those of <bdi>{timeZone}</bdi>.{' '}
      <Link to="methodology">How figures are computed</Link>
    </>
  )
  return (
    <Frame
      brand="OpenEarn"
      theme={theme}
      menu={{ label: 'Portal', pages: sections, here }}
      tools={<Menu />}
      foot={foot}
    >
      {children}
    </Frame>
  )
}
