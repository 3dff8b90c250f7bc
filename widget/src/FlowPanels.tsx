'use client'

import {
  type FlowHandle,
  type FlowOptions,
  useCancel,
  useClaim,
  useClaimRewards,
  useDeposit,
  useJoin,
  useOrder,
  useWithdraw,
} from '@openearn/react'
import type { Flow } from '@openearn/sdk/flows'
import type { ReactNode } from 'react'
import { FlowPanel, type Shown } from './FlowPanel.js'
import { OrderPanel } from './OrderPanel.js'
import { useSettings } from './settings.js'

const hooks = {
  join: useJoin,
  deposit: useDeposit,
  withdraw: useWithdraw,
  claim: useClaim,
  cancel: useCancel,
  claimRewards: useClaimRewards,
} as const satisfies Record<Exclude<Shown, 'order'>, unknown>
type Kind = keyof typeof hooks

/** The flows of a wallet that are under way, or came to their end and were not closed. */
export function FlowPanels({ account }: { account: `0x${string}` }): ReactNode {
  return (
    <>
      {(Object.keys(hooks) as Kind[]).map((kind) => (
        <Slot key={`${kind} ${account}`} kind={kind} />
      ))}
      <OrderSlot key={`order ${account}`} />
    </>
  )
}

/** One hook each, so that a state of one draws nothing of the others. */
function Slot({ kind }: { kind: Kind }): ReactNode {
  const { slot } = useSettings()
  const handle = (hooks[kind] as (options: FlowOptions) => FlowHandle<Flow, never>)({ slot, review: true })
  return handle.flow || handle.error !== undefined ? <FlowPanel kind={kind} handle={handle} /> : null
}

function OrderSlot(): ReactNode {
  const { slot } = useSettings()
  const handle = useOrder({ slot, review: true })
  return handle.flow || handle.error !== undefined ? <OrderPanel handle={handle} /> : null
}
