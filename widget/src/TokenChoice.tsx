'use client'

import type { ReactNode } from 'react'
import { cutName } from './figures.js'
import { keyOf } from './payments.js'

type Token = { address: string; symbol: string; isNative: boolean }

type Props<T extends Token> = { label: string; tokens: readonly T[]; chosen: T; onChoose(key: string): void }

/** One token of several. */
export function TokenChoice<T extends Token>({ label, tokens, chosen, onChoose }: Props<T>): ReactNode {
  return (
    <label>
      {label}
      <select value={keyOf(chosen)} onChange={(event) => onChoose(event.target.value)}>
        {tokens.map((each) => (
          <option key={keyOf(each)} value={keyOf(each)}>
            {cutName(each.symbol, 16)}
          </option>
        ))}
      </select>
    </label>
  )
}
