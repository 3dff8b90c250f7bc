import { cutName, toUnits } from '@openearn/widget/parts'
import type { ReactNode } from 'react'
import { useFigures } from '../figures.js'

type Props = {
  /** In the smallest unit, as the service says it; null: it is not known. */
  value: string | null | undefined
  decimals: number
  /** The member of the service's answer: a test compares both. */
  name: string
  symbol?: string
}

/** An amount of a token that the service tells in its smallest unit. The element carries that, its text whole tokens. */
export function Units({ value, decimals, name, symbol = '' }: Props): ReactNode {
  const figures = useFigures()
  const units = toUnits(value)
  if (units === undefined) return <span className="figure muted">–</span>
  return (
    <data className="figure" value={`${value}`} data-name={name}>
      {figures.amount(units, decimals)}
      {symbol && <bdi> {cutName(symbol, 24)}</bdi>}
    </data>
  )
}
