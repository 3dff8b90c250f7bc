'use client'

import { type ReactNode, useId } from 'react'
import { cutName } from './figures.js'
import { useSettings } from './settings.js'

export type AmountFieldProps = {
  label: string
  symbol: string
  decimals: number
  /** As it was typed. */
  text: string
  onText(text: string): void
  /** Why it cannot be used; told once the form was sent. */
  problem: string | undefined
  /** Smallest units that the wallet has, where that is known. */
  held: bigint | undefined
}

/**
 * A field for an amount, and what the wallet has of it. The place of both is kept while the balance is read: a button that moves
 * under a pointer is missed.
 */
export function AmountField(props: AmountFieldProps): ReactNode {
  const { label, symbol, decimals, text, onText, problem, held } = props
  const { say, figures } = useSettings()
  const id = useId()
  return (
    <div className="stack">
      <label>
        <bdi>{label}</bdi>
        <input
          inputMode="decimal"
          autoComplete="off"
          spellCheck={false}
          dir="ltr"
          value={text}
          maxLength={80}
          aria-invalid={problem !== undefined}
          aria-describedby={id}
          onChange={(event) => onText(event.target.value)}
        />
      </label>
      <div id={id}>
        <span className="figure small muted">
          {held === undefined
            ? '\u00a0'
            : say('held', { amount: figures.amount(held, decimals), symbol: cutName(symbol, 16) })}
        </span>
        {problem !== undefined && (
          <p role="alert" className="alert">
            {problem}
          </p>
        )}
      </div>
      <div>
        <button type="button" disabled={!held} onClick={() => held && onText(figures.typed(held, decimals))}>
          {say('all')}
        </button>
      </div>
    </div>
  )
}
