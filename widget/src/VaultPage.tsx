'use client'

import { useOpportunity } from '@openearn/react'
import { type ReactNode, useEffect, useRef } from 'react'
import { DepositForm } from './DepositForm.js'
import { Fault } from './Fault.js'
import { cutName } from './figures.js'
import { OrderForm } from './OrderForm.js'
import { useSettings } from './settings.js'
import { VaultFigures } from './VaultList.js'
import { WithdrawForm } from './WithdrawForm.js'

/** One vault: what it is, and the forms. */
export function VaultPage({ id, onBack }: { id: string; onBack(): void }): ReactNode {
  const { say, account } = useSettings()
  const { data: vault, error } = useOpportunity({ id })
  const title = useRef<HTMLHeadingElement>(null)
  // The button that opened the page is gone: who reads by keyboard goes on at its title.
  useEffect(() => title.current?.focus(), [])
  return (
    <div className="stack">
      <div>
        <button type="button" onClick={onBack}>
          {say('back')}
        </button>
      </div>
      <h2 ref={title} tabIndex={-1}>
        <bdi>{vault ? cutName(vault.name, 60) : say('loading')}</bdi>
      </h2>
      <Fault error={error} />
      {vault && (
        <>
          <VaultFigures vault={vault} />
          <p className="muted small">{say('rateNote')}</p>
          {vault.description && <p dir="auto">{cutName(vault.description, 600)}</p>}
          {account && (
            <>
              <DepositForm vault={vault} account={account} />
              <OrderForm vault={vault} account={account} />
              <WithdrawForm vault={vault} account={account} />
            </>
          )}
        </>
      )}
    </div>
  )
}
