'use client'

import { useDeposit } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { type FormEvent, type ReactNode, useState } from 'react'
import { AmountField } from './AmountField.js'
import { cutName } from './figures.js'
import { amountOf, useHeld } from './holdings.js'
import { LinkFirst } from './LinkFirst.js'
import { useMembership } from './membership.js'
import { keyOf, listPayments, takesOthers } from './payments.js'
import { useSettings } from './settings.js'
import { TokenChoice } from './TokenChoice.js'

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
  const payments = listPayments(vault, held ?? [])
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
        <TokenChoice label={say('token')} tokens={payments} chosen={token} onChoose={choose} />
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
