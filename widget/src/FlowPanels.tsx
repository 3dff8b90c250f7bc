'use client'

import {
  type FlowHandle,
  type FlowOptions,
  useCancel,
  useClaim,
  useClaimRewards,
  useDeposit,
  useJoin,
  useWithdraw,
} from '@openearn/react'
import type { Flow } from '@openearn/sdk/flows'
import type { ReactNode } from 'react'
import { FlowPanel, type Shown } from './FlowPanel.js'
import { useSettings } from './settings.js'

const hooks = {
  join: useJoin,
  deposit: useDeposit,
  withdraw: useWithdraw,
  claim: useClaim,
  cancel: useCancel,
  claimRewards: useClaimRewards,
} as const satisfies Record<Shown, unknown>

/** The flows of a wallet that are under way, or came to their end and were not closed. */
export function FlowPanels({ account }: { account: `0x${string}` }): ReactNode {
  return (Object.keys(hooks) as Shown[]).map((kind) => <Slot key={`${kind} ${account}`} kind={kind} />)
}

/** One hook each, so that a state of one draws nothing of the others. */
function Slot({ kind }: { kind: Shown }): ReactNode {
  const { slot } = useSettings()
  const handle = (hooks[kind] as (options: FlowOptions) => FlowHandle<Flow, never>)({ slot, review: true })
  return handle.flow || handle.error !== undefined ? <FlowPanel kind={kind} handle={handle} /> : null
}
