'use client'

import { type FlowHandle, useOpportunity } from '@openearn/react'
import type { Flow } from '@openearn/sdk/flows'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { cutHex, cutName, toUnits } from './figures.js'
import { useHeld } from './holdings.js'
import { isOver } from './over.js'
import { Review } from './Review.js'
import { useSettings } from './settings.js'
import { englishTexts, type TextName } from './texts.js'

/** The kinds of flows that have a panel. */
export type Shown = Exclude<Flow['kind'], 'swap'>

type Props = {
  kind: Shown
  handle: FlowHandle<Flow, never>
  /** Further buttons. */
  children?: ReactNode
}

const titles = {
  ...{ join: 'link', deposit: 'deposit', withdraw: 'withdraw', claim: 'claim', cancel: 'cancel' },
  ...{ claimRewards: 'claimRewards', order: 'order' },
} as const satisfies Record<Shown, TextName>

/** A flow: what was asked for, what the wallet will be asked for, and how far it is. */
export function FlowPanel({ kind, handle, children }: Props): ReactNode {
  const { say, onFlow } = useSettings()
  const { flow, needs, error, say: word, forget } = handle
  const title = useRef<HTMLHeadingElement>(null)
  const id = useId()
  // It was begun in the widget, by someone who is in it still: goes on here.
  useEffect(() => {
    const root = title.current?.getRootNode()
    if (root instanceof ShadowRoot && root.activeElement) title.current?.focus()
  }, [])
  const close = () => {
    const root = title.current?.getRootNode()
    const next = root instanceof ShadowRoot ? root.querySelector<HTMLElement>('nav button[aria-current]') : null
    forget()
    next?.focus()
  }
  const isEnded = !flow || isOver(flow)
  const txHash = flow && 'txHash' in flow ? flow.txHash : undefined
  const status = flow?.status
  useEffect(() => {
    if (status !== undefined) onFlow({ kind, status, txHash })
  }, [kind, status, txHash, onFlow])
  return (
    <section className="panel stack" aria-labelledby={id}>
      <h2 id={id} ref={title} tabIndex={-1}>
        {say(titles[kind])}
      </h2>
      {flow && <Asked flow={flow} kind={kind} />}
      {flow && !isEnded && <Review flow={flow} needs={needs} />}
      {flow && (
        <p role="status">
          <strong>{statusOf(flow.status, say)}</strong>
        </p>
      )}
      {flow?.problem && (
        <div role="alert" className="alert stack">
          {flow.problem.code === 'NOT_AS_ASKED' && <p>{say('notAsked')}</p>}
          <p dir="auto">{cutName(flow.problem.text, 500)}</p>
        </div>
      )}
      {error !== undefined && (
        <p role="alert" className="alert" dir="auto">
          {cutName(String(error), 300)}
        </p>
      )}
      {flow && 'txHash' in flow && flow.txHash && (
        <p className="small muted" title={flow.txHash}>
          {say('transaction', { hash: cutHex(flow.txHash) })}
        </p>
      )}
      {needs === 'again' && <p>{say('againNote')}</p>}
      <div className="row">
        {needs && (
          <button type="button" className="main" onClick={() => word(needs)}>
            {say(needs)}
          </button>
        )}
        {children}
        <button type="button" onClick={close}>
          {say(isEnded ? 'close' : 'stop')}
        </button>
      </div>
    </section>
  )
}

function statusOf(status: string, say: (name: TextName) => string): string {
  const name = `status ${status}`
  return Object.hasOwn(englishTexts, name) ? say(name as TextName) : status
}

const askedTexts = {
  ...{ join: 'askedLink', deposit: 'askedDeposit', withdraw: 'askedWithdraw' },
  ...{ claim: 'askedClaim', cancel: 'askedCancel', claimRewards: 'askedReward', order: 'askedOrder' },
} as const satisfies Record<Shown, TextName>

/** The request as the user made it: its amount is that of the form, written again. */
function Asked({ flow, kind }: { flow: Flow; kind: Shown }): ReactNode {
  const { say } = useSettings()
  const params = 'params' in flow ? (flow.params as Readonly<Record<string, unknown>>) : {}
  const { opportunityId } = params
  const { data: vault } = useOpportunity({ id: typeof opportunityId === 'string' ? opportunityId : undefined })
  const { figures } = useSettings()
  const given = params[kind === 'order' ? 'amountIn' : 'amount']
  const units = toUnits(typeof given === 'string' ? given : undefined)
  // A token that is swapped on the way is one of the wallet.
  const paid = [...(vault?.depositTokens ?? []), ...(useHeld(flow.wallet as `0x${string}`) ?? [])].find((each) =>
    params['tokenIn'] === 'native'
      ? 'isNative' in each && each.isNative && each.chainId === vault?.chainId
      : each.address === params['tokenIn'],
  )
  const token = kind === 'withdraw' ? vault?.receiptToken : paid
  const amount = units === undefined ? '' : token ? figures.amount(units, token.decimals) : `${units}`
  const symbol = cutName(token?.symbol ?? (typeof params['tokenIn'] === 'string' ? params['tokenIn'] : ''), 42)
  return (
    <p>
      {say('youAsked')} <span className="figure">{say(askedTexts[kind], { amount, symbol })}</span>{' '}
      {vault && <bdi>{say('into', { name: cutName(vault.name, 60) })}</bdi>}
    </p>
  )
}
