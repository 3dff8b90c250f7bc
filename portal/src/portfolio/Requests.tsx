import { useOpportunity, useRequests } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { cutName } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { Age } from '../ui/Age.js'
import { Link } from '../ui/Link.js'
import { Long } from '../ui/Long.js'
import { Empty, Fault } from '../ui/Notice.js'
import { Units } from '../ui/Units.js'

type Row = types.GetWalletRequestsResult['requests'][number]

const states: Readonly<Record<Row['state'], string>> = {
  pending: 'waits for the vault',
  claimable: 'can be claimed',
  claimed: 'claimed',
  cancelling: 'is being cancelled',
  cancelled: 'cancelled',
}

/** Deposits and withdrawals in two steps of a wallet that is only looked at. */
export function Requests({ address }: { address: `0x${string}` }): ReactNode {
  const { data, error, refetch } = useRequests({ address })
  const rows = data?.requests ?? []
  return (
    <section className="card" aria-labelledby="requests">
      <h2 id="requests">Requests</h2>
      <Fault error={error} retry={() => void refetch()} />
      {data && rows.length === 0 && <Empty title="No request of this wallet is known." />}
      <Long items={rows}>
        {(shown) => (
          <ul className="plain-list">
            {shown.map((row) => (
              <Request key={`${row.opportunityId} ${row.kind} ${row.requestId} ${row.txHash}`} row={row} />
            ))}
          </ul>
        )}
      </Long>
    </section>
  )
}

function Request({ row }: { row: Row }): ReactNode {
  const { data: vault } = useOpportunity({ id: row.opportunityId })
  const isDeposit = row.kind === 'deposit'
  const token = isDeposit ? vault?.baseToken : vault?.receiptToken
  const [member, amount] = isDeposit ? ['assets', row.assets] : ['shares', row.shares]
  return (
    <li className="between" data-id={`${row.txHash} ${row.requestId}`}>
      <span className="names">
        <bdi className="strong">
          <Link to={`opportunities/${row.opportunityId}`}>{cutName(vault?.name ?? '…', 80)}</Link>
        </bdi>
        <span className="muted small">
          {isDeposit ? 'Deposit' : 'Withdrawal'}, <Age name="requestedAt" at={row.requestedAt} />
        </span>
      </span>
      <span className="values">
        {token && <Units value={amount} decimals={token.decimals} name={member} symbol={token.symbol} />}
        <span className="muted small">{states[row.state]}</span>
      </span>
    </li>
  )
}
