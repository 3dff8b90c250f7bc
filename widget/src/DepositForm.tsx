'use client'

import { useDeposit } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { type FormEvent, type ReactNode, useState } from 'react'
import { AmountField } from './AmountField.js'
import { cutName } from './figures.js'
import { amountOf, type Held, useHeld } from './holdings.js'
import { LinkFirst } from './LinkFirst.js'
import { useMembership } from './membership.js'
import { useSettings } from './settings.js'

/** A token that a deposit is paid with. `isSwapped`: the vault does not take it itself. */
type Payment = types.Token & { isNative: boolean; isSwapped: boolean }

/** Whether tokens that the vault does not take can be swapped to one that it takes. */
const takesOthers = ({ swapDirectEnabled, swapRouteEnabled, meta }: types.Opportunity): boolean =>
  swapDirectEnabled || swapRouteEnabled || meta.routedSwapEnabled

/** The tokens that the vault takes, and those of the wallet that can be swapped to one. */
function paymentsOf(vault: types.Opportunity, held: readonly Held[]): Payment[] {
  const { meta, depositTokens, chainId } = vault
  const direct = meta.directInteractionEnabled ? depositTokens : []
  const isTaken = (each: Held) =>
    !each.isNative && direct.some(({ address }) => address.toLowerCase() === each.address.toLowerCase())
  const isShare = (each: Held) => each.address.toLowerCase() === vault.receiptToken.address.toLowerCase()
  const others = !takesOthers(vault)
    ? []
    : held.filter(
        (each) =>
          each.chainId === chainId && !each.isProtocolToken && !isTaken(each) && (each.isNative || !isShare(each)),
      )
  return [
    ...direct.map((token) => ({ ...token, isNative: false, isSwapped: false })),
    ...others.slice(0, 50).map((token) => ({ ...token, isSwapped: true })),
  ]
}

const keyOf = ({ address, isNative }: Payment) => (isNative ? 'native' : address)

/** A deposit into a vault, or the request of one. */
export function DepositForm({ vault, account }: { vault: types.Opportunity; account: `0x${string}` }): ReactNode {
  const { say, figures, slot, distributorId } = useSettings()
  const deposit = useDeposit({ slot, review: true })
  const membership = useMembership(account)
  const held = useHeld(account)
  const [chosen, setChosen] = useState<string>()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { depositEnabled, depositDisabledReason, asyncDeposit } = vault.meta
  const payments = paymentsOf(vault, held ?? [])
  const token = payments.find((each) => keyOf(each) === chosen) ?? payments[0]
  const title = say(asyncDeposit ? 'requestDeposit' : 'deposit')
  if (!depositEnabled || !token)
    return <p className="muted">{say('closedDeposit', { reason: cutName(depositDisabledReason, 200) })}</p>
  const has = amountOf(held, token)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { decimals, isNative, isSwapped, address } = token
    const amount = figures.parse(text, decimals)
    if (amount === undefined)
      return setProblem(say('badAmount', { decimals: `${decimals}`, example: figures.example(decimals) }))
    if (has !== undefined && amount > has) return setProblem(say('tooMuch'))
    const params = { opportunityId: vault.id, userAddress: account, amount, distributorId }
    const tokenIn = isNative ? ('native' as const) : address
    const began = deposit.begin({ ...params, tokenIn, ...(isSwapped ? { mode: 'swap' as const } : {}) })
    setProblem(began ? undefined : say('working'))
    if (began) setText('')
  }
  const choose = (key: string) => {
    setChosen(key)
    setProblem(undefined)
  }
  return (
    <form className="card stack" onSubmit={submit} noValidate aria-label={title}>
      <h3>{title}</h3>
      {(payments.length > 1 || takesOthers(vault)) && (
        <label>
          {say('token')}
          <select value={keyOf(token)} onChange={(event) => choose(event.target.value)}>
            {payments.map((each) => (
              <option key={keyOf(each)} value={keyOf(each)}>
                {cutName(each.symbol, 16)}
              </option>
            ))}
          </select>
        </label>
      )}
      {token.isSwapped && (
        <p className="muted small">{say('swapped', { symbol: cutName(vault.baseToken.symbol, 16) })}</p>
      )}
      <AmountField
        label={say('amount', { symbol: cutName(token.symbol, 16) })}
        symbol={token.symbol}
        decimals={token.decimals}
        text={text}
        onText={setText}
        problem={problem}
        held={has}
      />
      {membership.isMember === false ? (
        <LinkFirst account={account} chainId={vault.chainId} />
      ) : (
        <button type="submit" className="main" disabled={membership.isMember === undefined}>
          {title}
        </button>
      )}
    </form>
  )
}
