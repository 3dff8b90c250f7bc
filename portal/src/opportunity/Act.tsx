import type { types } from '@openearn/sdk'
import { DepositForm, FlowPanels, OrderForm, WithdrawForm } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { usePortal } from '../portal.js'
import { Parts } from '../shell/Parts.js'

const twoSteps =
  'A withdrawal takes two steps: you request it, the vault settles it when it can, and then you claim it, here or under Portfolio, Requests. The vault decides how long it takes.'

/** Deposit and withdraw with the connected wallet; each request is told and checked before the wallet is asked. */
export function Act({ vault }: { vault: types.Opportunity }): ReactNode {
  const { wallet, config } = usePortal()
  if (config.distributorId === null)
    return (
      <div className="card">
        <h2>Deposit</h2>
        <p className="muted">The key of this portal names no distributor, so it builds no deposits.</p>
      </div>
    )
  const { account } = wallet
  if (!account)
    return (
      <div className="card stack">
        <h2>Deposit or withdraw</h2>
        {vault.meta.asyncWithdraw && <p>{twoSteps}</p>}
        <p className="muted">Connect a wallet to deposit or withdraw. It is asked for nothing else.</p>
      </div>
    )
  return (
    <Parts key={account} distributorId={config.distributorId}>
      <FlowPanels account={account} />
      <DepositForm vault={vault} account={account} />
      <OrderForm vault={vault} account={account} />
      {vault.meta.asyncWithdraw && <p className="muted small">{twoSteps}</p>}
      <WithdrawForm vault={vault} account={account} />
    </Parts>
  )
}
