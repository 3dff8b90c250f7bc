import { FlowPanels, Requests, Rewards } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { usePortal } from '../portal.js'
import { Parts } from '../shell/Parts.js'

/** Requests and rewards of the connected wallet, which it may claim or cancel. */
export function Own({ account }: { account: `0x${string}` }): ReactNode {
  const { distributorId } = usePortal().config
  return (
    <div className="card">
      <Parts distributorId={distributorId ?? ''}>
        <FlowPanels account={account} />
        <Requests account={account} />
        <Rewards account={account} />
      </Parts>
    </div>
  )
}
