'use client'

import { type FlowHandle, type OrderHandle, useOpportunity } from '@openearn/react'
import type { Flow, OrderFlow } from '@openearn/sdk/flows'
import { type ReactNode, useState } from 'react'
import { FlowPanel } from './FlowPanel.js'
import { cutName, toUnits } from './figures.js'
import { useHeld } from './holdings.js'
import { useSettings } from './settings.js'

/** An order, which its owner can end at any time, also while it is open after a reload. */
export function OrderPanel({ handle }: { handle: OrderHandle }): ReactNode {
  const { say } = useSettings()
  const { flow, cancel } = handle
  const [told, setTold] = useState<string>()
  const end = () =>
    cancel().then(
      () => setTold(say('ended')),
      (error: unknown) => setTold(cutName(error instanceof Error ? error.message : String(error), 300)),
    )
  const isOpen = flow?.status === 'open'
  return (
    <>
      <FlowPanel kind="order" handle={handle as FlowHandle<Flow, never>}>
        {isOpen && (
          <button type="button" onClick={() => void end()}>
            {say('endOrder')}
          </button>
        )}
      </FlowPanel>
      {flow && <Filled flow={flow} />}
      {told !== undefined && isOpen && (
        <p role="alert" className="alert" dir="auto">
          {told}
        </p>
      )}
    </>
  )
}

/** The part that is filled, where that is neither nothing nor all. */
function Filled({ flow }: { flow: OrderFlow }): ReactNode {
  const { say, figures } = useSettings()
  const { params, filledIn } = flow
  const held = useHeld(flow.wallet as `0x${string}`)
  const { data: vault } = useOpportunity({ id: params.opportunityId })
  const units = toUnits(filledIn)
  if (!units || filledIn === params.amountIn) return null
  const token = [...(vault?.depositTokens ?? []), ...(held ?? [])].find(({ address }) => address === params.tokenIn)
  if (!token) return null
  const amount = figures.amount(units, token.decimals)
  return <p className="small">{say('filledPart', { amount, symbol: cutName(token.symbol, 16) })}</p>
}
