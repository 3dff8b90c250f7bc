'use client'

import { useOpportunities, useOpportunity } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { type ReactNode, useDeferredValue, useState } from 'react'
import { Fault } from './Fault.js'
import { cutName } from './figures.js'
import { useSettings } from './settings.js'

type Open = { onOpen(id: string): void }

/** The vaults of the service, or those that the app names. */
export function VaultList({ onOpen }: Open): ReactNode {
  const { vaults, say } = useSettings()
  return (
    <div className="stack">
      <h2>{say('vaults')}</h2>
      {vaults ? (
        <ul className="stack">
          {vaults.map((id) => (
            <Named key={id} id={id} onOpen={onOpen} />
          ))}
        </ul>
      ) : (
        <Listed onOpen={onOpen} />
      )}
    </div>
  )
}

function Listed({ onOpen }: Open): ReactNode {
  const { say } = useSettings()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const list = useOpportunities(search ? { search } : {})
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = list
  // The vaults of the search before this one are about to move: a click on one could open another.
  const isFormer = list.isPlaceholderData || search !== text.trim()
  return (
    <>
      <label>
        {say('search')}
        <input type="search" value={text} maxLength={100} onChange={(event) => setText(event.target.value)} />
      </label>
      <Fault error={error} />
      {!data && !error && <p className="muted">{say('loading')}</p>}
      {data?.items.length === 0 && <p className="muted">{say('noVaults')}</p>}
      <ul className="stack" aria-busy={isFormer}>
        {data?.items.map((vault) => (
          <li key={vault.id}>
            <VaultButton vault={vault} onOpen={onOpen} disabled={isFormer} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {say('more')}
        </button>
      )}
    </>
  )
}

function Named({ id, onOpen }: Open & { id: string }): ReactNode {
  const { say } = useSettings()
  const { data, error } = useOpportunity({ id })
  return (
    <li>
      <Fault error={error} />
      {data ? <VaultButton vault={data} onOpen={onOpen} /> : !error && <p className="muted">{say('loading')}</p>}
    </li>
  )
}

function VaultButton({ vault, onOpen, disabled }: Open & { vault: types.Opportunity; disabled?: boolean }): ReactNode {
  return (
    <button type="button" className="vault" disabled={disabled} onClick={() => onOpen(vault.id)}>
      <bdi>
        <strong>{cutName(vault.name, 60)}</strong>
      </bdi>
      <VaultFigures vault={vault} />
    </button>
  )
}

/** The rate of a vault, its token and what is in it. */
export function VaultFigures({ vault }: { vault: types.Opportunity }): ReactNode {
  const { say, figures } = useSettings()
  const { tvl, estimatedApr, baseToken, freshness, curator } = vault
  return (
    <span className="row small">
      <span className="figure">{say('rate', { rate: figures.rate(estimatedApr) })}</span>
      <bdi className="figure">{cutName(baseToken.symbol, 16)}</bdi>
      {freshness.analyticsAt !== null && (
        <span className="figure muted">{say('tvl', { value: figures.usd(tvl) })}</span>
      )}
      {curator && <bdi className="muted">{say('curatedBy', { name: cutName(curator.name) })}</bdi>}
    </span>
  )
}
