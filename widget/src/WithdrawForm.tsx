'use client'

import { useWithdraw } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { type FormEvent, type ReactNode, useState } from 'react'
import { AmountField } from './AmountField.js'
import { cutName } from './figures.js'
import { amountOf, useHeld } from './holdings.js'
import { keyOf, listPayouts } from './payments.js'
import { useSettings } from './settings.js'
import { TokenChoice } from './TokenChoice.js'

/** A withdrawal of shares that the wallet has, or the request of one. */
export function WithdrawForm({ vault, account }: { vault: types.Opportunity; account: `0x${string}` }): ReactNode {
  const { say, figures, slot, distributorId } = useSettings()
  const withdraw = useWithdraw({ slot, review: true })
  const held = useHeld(account)
  const shares = amountOf(held, vault.receiptToken)
  const [chosen, setChosen] = useState<string>()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { withdrawEnabled, withdrawalDisabledReason, asyncWithdraw } = vault.meta
  const { decimals, symbol } = vault.receiptToken
  const payouts = listPayouts(vault, held ?? [])
  const payout = payouts.find((each) => keyOf(each) === chosen) ?? payouts[0]
  if (!shares || !payout) return null
  if (!withdrawEnabled)
    return <p className="muted">{say('closedWithdraw', { reason: cutName(withdrawalDisabledReason, 200) })}</p>
  const title = say(asyncWithdraw ? 'requestWithdraw' : 'withdraw')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const amount = figures.parse(text, decimals)
    if (amount === undefined)
      return setProblem(say('badAmount', { decimals: `${decimals}`, example: figures.example(decimals) }))
    if (amount > shares) return setProblem(say('tooMuch'))
    const params = { opportunityId: vault.id, userAddress: account, amount, distributorId }
    const tokenOut = payout.isNative ? ('native' as const) : payout.address
    const began = withdraw.begin(payout.isSwapped ? { ...params, tokenOut } : params)
    setProblem(began ? undefined : say('working'))
    if (began) setText('')
  }
  return (
    <form className="card stack" onSubmit={submit} noValidate aria-label={title}>
      <h3>{title}</h3>
      <AmountField
        label={say('shares', { symbol: cutName(symbol, 16) })}
        {...{ symbol, decimals, text, problem, held: shares }}
        onText={setText}
      />
      {payouts.length > 1 && (
        <TokenChoice label={say('receive')} tokens={payouts} chosen={payout} onChoose={setChosen} />
      )}
      {payout.isSwapped && (
        <p className="muted small">{say('swappedOut', { symbol: cutName(vault.baseToken.symbol, 16) })}</p>
      )}
      <button type="submit" className="main">
        {title}
      </button>
    </form>
  )
}
