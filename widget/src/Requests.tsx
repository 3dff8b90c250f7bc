'use client'

import { useCancel, useClaim, useOpportunity, useRequests, useWithdraw } from '@openearn/react'
import type { types } from '@openearn/sdk'
import type { ReactNode } from 'react'
import { useBegin } from './begin.js'
import { Fault } from './Fault.js'
import { cutName, toUnits } from './figures.js'
import { useSettings } from './settings.js'

type Row = types.GetWalletRequestsResult['requests'][number]

const isOpen = ({ state }: Row) => state === 'pending' || state === 'claimable' || state === 'cancelling'

/** Deposits and withdrawals that wait for their vault. */
export function Requests({ account }: { account: `0x${string}` }): ReactNode {
  const { say, vaults } = useSettings()
  const { data, error } = useRequests({ address: account }, { staleTime: 5_000 })
  const rows = data?.requests.filter((row) => isOpen(row) && (!vaults || vaults.includes(row.opportunityId))) ?? []
  return (
    <section className="stack" aria-label={say('requests')}>
      <h2>{say('requests')}</h2>
      <Fault error={error} />
      {data && rows.length === 0 && <p className="muted">{say('noRequests')}</p>}
      <ul className="stack">
        {rows.map((row) => (
          <li key={`${row.opportunityId} ${row.kind} ${row.requestId}`}>
            <Request row={row} account={account} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Request({ row, account }: { row: Row; account: `0x${string}` }): ReactNode {
  const { say, figures, slot, distributorId } = useSettings()
  const { data: vault } = useOpportunity({ id: row.opportunityId })
  const claim = useClaim({ slot, review: true })
  const cancel = useCancel({ slot, review: true })
  const withdraw = useWithdraw({ slot, review: true })
  const { start, refusal } = useBegin()
  const { kind, state, opportunityId } = row
  const isDeposit = kind === 'deposit'
  const token = isDeposit ? vault?.baseToken : vault?.receiptToken
  const units = toUnits(isDeposit ? row.assets : row.shares)
  // A request that another app brought keeps its code: the ledger takes the code of a claim for requests without one alone.
  const who = { opportunityId, userAddress: account, distributorId }
  const take = () => {
    const amount = toUnits(row.shares)
    if (isDeposit) return claim.begin(who)
    return amount !== undefined && withdraw.begin({ ...who, amount })
  }
  return (
    <div className="card stack">
      <bdi>
        <strong>{cutName(vault?.name ?? '…', 60)}</strong>
      </bdi>
      <span className="row small">
        {token && units !== undefined && (
          <span className="figure">
            {say(isDeposit ? 'deposited' : 'redeemed', {
              amount: figures.amount(units, token.decimals),
              symbol: cutName(token.symbol, 16),
            })}
          </span>
        )}
        <span>{say(state === 'pending' || state === 'cancelling' ? state : 'claimable')}</span>
      </span>
      <div className="row">
        {state === 'claimable' && (
          <button type="button" className="main" onClick={() => start(take)}>
            {say('claim')}
          </button>
        )}
        {isDeposit && (state === 'pending' || state === 'cancelling') && (
          <button type="button" onClick={() => start(() => cancel.begin(who))}>
            {say('cancel')}
          </button>
        )}
      </div>
      {refusal}
    </div>
  )
}
