import type { types } from '@openearn/sdk'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { useFigures } from '../figures.js'
import { goByLink } from '../place.js'
import { usePortal } from '../portal.js'
import { makeRow } from './row.js'

/**
 * The rows of the list. One that shows the same opportunity as before stays. Those of a search that is over cannot be opened: they are
 * about to move, and a press that is on its way would open another one.
 */
export function Rows({ vaults, isStale }: { vaults: readonly types.Opportunity[]; isStale: boolean }): ReactNode {
  const figures = useFigures()
  const { config } = usePortal()
  const list = useRef<HTMLUListElement>(null)
  const made = useRef(new WeakMap<types.Opportunity, HTMLLIElement>())
  useLayoutEffect(() => {
    const names = new Map(config.chains.map(({ chainId, name }) => [chainId, name]))
    const rows = vaults.map((vault) => {
      const { chainId } = vault
      const row = made.current.get(vault) ?? makeRow(vault, figures, names.get(chainId) ?? `Chain ${chainId}`)
      made.current.set(vault, row)
      return row
    })
    list.current?.replaceChildren(...rows)
  }, [vaults, figures, config])
  useLayoutEffect(() => {
    const { current } = list
    current?.addEventListener('click', goByLink)
    return () => current?.removeEventListener('click', goByLink)
  }, [])
  return <ul ref={list} inert={isStale} className={isStale ? 'list stale' : 'list'} />
}
