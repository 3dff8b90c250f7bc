import { createFigures } from '@openearn/widget/parts'
import { createContext, useContext } from 'react'

type Value = number | string

/** Figures as the reader of a locale writes them. Decimals of the service are written from their text, never through a number. */
export type PortalFigures = ReturnType<typeof createPortalFigures>

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

export function createPortalFigures(locale?: string) {
  const currency = { style: 'currency', currency: 'USD' } as const
  const dollars = new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 0 })
  const cents = new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 2 })
  const exact = new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 20 })
  const moved = new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 0, signDisplay: 'exceptZero' })
  const percent = new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  })
  const count = new Intl.NumberFormat(locale)
  const signed = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' })
  const plain = new Intl.NumberFormat(locale, {
    ...{ maximumFractionDigits: 4, maximumSignificantDigits: 4, roundingPriority: 'morePrecision' },
  })
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 2 })
  const shortUsd = new Intl.NumberFormat(locale, { ...currency, notation: 'compact', maximumFractionDigits: 1 })
  const hours = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
  const days = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' })
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  return {
    ...createFigures(locale),
    /** US dollars; cents below a thousand. */
    usd: (value: Value): string => (Math.abs(Number(value)) >= 1_000 ? dollars : cents).format(value as number),
    usdExact: (value: Value): string => exact.format(value as number),
    usdMoved: (value: number): string => moved.format(value),
    /** Percent, as the service says it: 8.5 is 8.5 %. */
    percent: (value: number): string => percent.format(value / 100),
    moved: (value: number): string => signed.format(value),
    count: (value: Value): string => count.format(value as number),
    /** Whole tokens; at least four digits that say something. */
    tokens: (value: Value): string => plain.format(value as number),
    tokensExact: (value: Value): string => whole.format(value as number),
    /** Short, for an axis. */
    shortUsd: (value: number): string => shortUsd.format(value),
    short: (value: number): string => short.format(value),
    /** Writes the instants of an axis that spans a number of milliseconds. */
    axis: (span: number): ((at: number) => string) => {
      const format = span < 2 * 86_400_000 ? hours : days
      return (at) => format.format(at)
    },
    time: (at: number): string => time.format(at),
    /** How long ago, or how long until, in its greatest unit. */
    age: (at: number, now: number): string => {
      const seconds = Math.round((at - now) / 1_000)
      const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
      return ago.format(Math.trunc(seconds / size), unit)
    },
  }
}

export const FiguresContext = createContext<PortalFigures | undefined>(undefined)

/** @throws Error outside of the portal and of the operator's pages. */
export function useFigures(): PortalFigures {
  const found = useContext(FiguresContext)
  if (!found) throw new Error('this part stands within the portal')
  return found
}
