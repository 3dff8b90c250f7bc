import type { ReactNode } from 'react'
import { type PortalFigures, useFigures } from '../figures.js'

/** How a value of the service is written. */
export type Unit = 'usd' | 'percent' | 'count' | 'tokens'

type Props = {
  /** The value as the service says it; null: it is not known. */
  value: number | string | null | undefined
  as: Unit
  /** The member of the service's answer: a test compares both. */
  name: string
  /** After the figure. */
  symbol?: string
  /** Text where there is no value. */
  none?: string
}

/** The text of a value, and its title where that says more. */
export function writeValue(figures: PortalFigures, value: number | string, as: Unit): { text: string; title?: string } {
  const text = as === 'percent' ? figures.percent(Number(value)) : figures[as](value)
  const exact = as === 'usd' ? figures.usdExact(value) : as === 'percent' ? `${value} %` : figures.tokensExact(value)
  return exact === text ? { text } : { text, title: exact }
}

/** A figure. The element carries the exact value, its text is written as the reader's locale does. */
export function Num({ value, as, name, symbol, none = '–' }: Props): ReactNode {
  const figures = useFigures()
  if (value === null || value === undefined) return <span className="figure muted">{none}</span>
  const { text, title } = writeValue(figures, value, as)
  return (
    <data className="figure" value={`${value}`} data-name={name} title={title}>
      {text}
      {symbol && <bdi> {symbol}</bdi>}
    </data>
  )
}
