'use client'

import { useOrder } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { type FormEvent, type ReactNode, useState } from 'react'
import { AmountField } from './AmountField.js'
import { cutName } from './figures.js'
import { amountOf, useHeld } from './holdings.js'
import { keyOf, listOthers, takesOthers } from './payments.js'
import { useSettings } from './settings.js'
import { TokenChoice } from './TokenChoice.js'

/** Seconds after which an order ends by itself. */
const durations = { halfHour: 1_800, hour: 3_600, day: 86_400 } as const
type Duration = keyof typeof durations

/** How far below the quote an order may be filled, in hundredths of a percent. */
const limits = ['10', '50', '100', '300'] as const

/** An order that buys the vault's token with another one of the wallet. It is signed once, and filled later. */
export function OrderForm({ vault, account }: { vault: types.Opportunity; account: `0x${string}` }): ReactNode {
  const { say, figures, slot, distributorId } = useSettings()
  const order = useOrder({ slot, review: true })
  const held = useHeld(account)
  const [chosen, setChosen] = useState<string>()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const [limit, setLimit] = useState<string>('50')
  const [duration, setDuration] = useState<Duration>('halfHour')
  const { baseToken, chainId } = vault
  // The native token is no ERC-20: orders sell its wrapped form.
  const tokens = listOthers(vault, held ?? [], [baseToken]).filter(({ isNative }) => !isNative)
  const token = tokens.find((each) => keyOf(each) === chosen) ?? tokens[0]
  if (!token || !takesOthers(vault) || !vault.meta.depositEnabled) return null
  const bought = cutName(baseToken.symbol, 16)
  const has = amountOf(held, token)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const amountIn = figures.parse(text, token.decimals)
    if (amountIn === undefined) {
      const example = figures.example(token.decimals)
      return setProblem(say('badAmount', { decimals: `${token.decimals}`, example }))
    }
    if (has !== undefined && amountIn > has) return setProblem(say('tooMuch'))
    const began = order.begin({
      ...{ userAddress: account, chainId, distributorId, opportunityId: vault.id, amountIn },
      ...{ tokenIn: token.address, tokenOut: baseToken.address },
      ...{ slippageBps: Number(limit), validForSeconds: durations[duration] },
    })
    setProblem(began ? undefined : say('working'))
    if (began) setText('')
  }
  const choose = (key: string) => {
    setChosen(key)
    setProblem(undefined)
  }
  return (
    <details className="card">
      <summary>{say('buyByOrder', { symbol: bought })}</summary>
      <form className="stack" onSubmit={submit} noValidate aria-label={say('order')}>
        <p className="muted small">{say('orderNote', { symbol: bought })}</p>
        <TokenChoice label={say('sell')} tokens={tokens} chosen={token} onChoose={choose} />
        <AmountField
          label={say('amount', { symbol: cutName(token.symbol, 16) })}
          {...{ symbol: token.symbol, decimals: token.decimals, text, problem, held: has }}
          onText={setText}
        />
        <label>
          {say('limit')}
          <select value={limit} onChange={({ target }) => setLimit(target.value)}>
            {limits.map((each) => (
              <option key={each} value={each}>
                {figures.rate(Number(each) / 100)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {say('endsAfter')}
          <select value={duration} onChange={({ target }) => setDuration(target.value as Duration)}>
            {(Object.keys(durations) as Duration[]).map((each) => (
              <option key={each} value={each}>
                {say(each)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="main">
          {say('order')}
        </button>
      </form>
    </details>
  )
}
