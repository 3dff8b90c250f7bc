'use client'

import { type ReactNode, useState } from 'react'
import { FlowPanels } from './FlowPanels.js'
import { useSettings } from './settings.js'
import { VaultList } from './VaultList.js'
import { VaultPage } from './VaultPage.js'
import { Yours } from './Yours.js'

type Place = { page: 'vaults' | 'yours'; vault?: string | undefined }

/** The pages of the widget, and above them the flows that are under way. */
export function Pages(): ReactNode {
  const { account, say } = useSettings()
  const [place, setPlace] = useState<Place>({ page: 'vaults' })
  const open = (vault: string) => setPlace({ page: place.page, vault })
  return (
    <>
      {account && (
        <nav className="row" aria-label={say('title')}>
          {(['vaults', 'yours'] as const).map((page) => (
            <button
              key={page}
              type="button"
              aria-current={place.page === page ? 'page' : undefined}
              onClick={() => setPlace({ page })}
            >
              {say(page)}
            </button>
          ))}
        </nav>
      )}
      {account && <FlowPanels account={account} />}
      {place.vault !== undefined ? (
        <VaultPage id={place.vault} onBack={() => setPlace({ page: place.page })} />
      ) : place.page === 'vaults' ? (
        <VaultList onOpen={open} />
      ) : (
        <Yours onOpen={open} />
      )}
    </>
  )
}
