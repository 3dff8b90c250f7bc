'use client'

import { useOpportunity } from '@openearn/react'
import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { Fault } from './Fault.js'
import { cutName, toUnits } from './figures.js'
import { useHoldings } from './holdings.js'
import { Requests } from './Requests.js'
import { Rewards } from './Rewards.js'
import { useSettings } from './settings.js'

type Open = { onOpen(id: string): void }

/** The things of the wallet: holdings, requests, rewards. */
export function Yours({ onOpen }: Open): ReactNode {
  const { account } = useSettings()
  if (!account) return null
  return (
    <div className="stack">
      <Holdings account={account} onOpen={onOpen} />
      <Requests account={account} />
      <Rewards account={account} />
    </div>
  )
}

/** Vaults of which the wallet has shares. */
function Holdings({ account, onOpen }: Open & { account: `0x${string}` }): ReactNode {
  const { say, vaults } = useSettings()
  const { data, error } = useHoldings(account)
  const items = (data?.portfolio.holdings.wallets ?? [])
    .flatMap(({ protocols }) => protocols)
    .flatMap(({ portfolio_item_list }) => portfolio_item_list)
    .filter(({ type, opportunity_id }) => type === 'yield' && opportunity_id !== null)
    .filter(({ opportunity_id }) => !vaults || vaults.includes(opportunity_id ?? ''))
  return (
    <section className="stack" aria-label={say('holdings')}>
      <h2>{say('holdings')}</h2>
      <Fault error={error} />
      {!data && !error && <p className="muted">{say('loading')}</p>}
      {data && items.length === 0 && <p className="muted">{say('noHoldings')}</p>}
      <ul className="stack">
        {items.map((item) => (
          <li key={item.opportunity_id}>
            <Holding item={item} id={item.opportunity_id ?? ''} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Holding({ item, id, onOpen }: Open & { item: types.PortfolioItem; id: string }): ReactNode {
  const { figures } = useSettings()
  const { data: vault } = useOpportunity({ id })
  const [supplied] = item.detail.supply_token_list
  return (
    <button type="button" className="vault" onClick={() => onOpen(id)}>
      <bdi>
        <strong>{cutName(vault?.name ?? item.name, 60)}</strong>
      </bdi>
      <span className="row small">
        {supplied && (
          <bdi className="figure">
            {figures.amount(toUnits(supplied.amount_raw) ?? 0n, supplied.decimals)} {cutName(supplied.symbol, 16)}
          </bdi>
        )}
        <span className="figure muted">{figures.usd(item.stats.net_usd_value)}</span>
      </span>
    </button>
  )
}
