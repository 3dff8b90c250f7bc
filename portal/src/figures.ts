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

/** Makes a value when it is first asked for. */
function later<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const currency = { style: 'currency', currency: 'USD' } as const
const short = { ...currency, notation: 'compact' } as const

/** Formats of a number of digits, kept: an axis writes each of its lines by the same one. */
function createFixed(locale: string | undefined) {
  const made = new Map<string, Intl.NumberFormat>()
  return (digits: number, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat => {
    const key = `${digits} ${options.style} ${options.notation}`
    const kept =
      made.get(key) ??
      new Intl.NumberFormat(locale, { ...options, minimumFractionDigits: digits, maximumFractionDigits: digits })
    made.set(key, kept)
    return kept
  }
}

/** Formats are made when they are first used: each takes the browser milliseconds, and no page uses all. */
function createFormats(locale: string | undefined) {
  const numbers = (options: Intl.NumberFormatOptions) => later(() => new Intl.NumberFormat(locale, options))
  const dates = (options: Intl.DateTimeFormatOptions) => later(() => new Intl.DateTimeFormat(locale, options))
  return {
    dollars: numbers({ ...currency, maximumFractionDigits: 0 }),
    cents: numbers({ ...currency, maximumFractionDigits: 2 }),
    exact: numbers({ ...currency, maximumFractionDigits: 20 }),
    moved: numbers({ ...currency, maximumFractionDigits: 0, signDisplay: 'exceptZero' }),
    percent: numbers({ style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    signed: numbers({ signDisplay: 'exceptZero' }),
    plain: numbers({ maximumFractionDigits: 4, maximumSignificantDigits: 4, roundingPriority: 'morePrecision' }),
    whole: numbers({ maximumFractionDigits: 20 }),
    shortUsd: numbers({ ...short, maximumFractionDigits: 1 }),
    time: dates({ dateStyle: 'medium', timeStyle: 'short' }),
    hours: dates({ hour: '2-digit', minute: '2-digit' }),
    days: dates({ month: 'short', day: 'numeric' }),
    month: dates({ month: 'long', year: 'numeric', timeZone: 'UTC' }),
    ago: later(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })),
    parts: later(() => createFigures(locale)),
  }
}

export function createPortalFigures(locale?: string) {
  const formats = createFormats(locale)
  const fixed = createFixed(locale)
  const whole = (value: Value): string => formats.whole().format(value as number)
  return {
    /** An amount in the smallest unit, as whole tokens; exact. */
    amount: (units: bigint, decimals: number): string => formats.parts().amount(units, decimals),
    /** US dollars; cents below a thousand. */
    usd: (value: Value): string =>
      (Math.abs(Number(value)) >= 1_000 ? formats.dollars() : formats.cents()).format(value as number),
    usdExact: (value: Value): string => formats.exact().format(value as number),
    usdMoved: (value: number): string => formats.moved().format(value),
    /** Percent, as the service says it: 8.5 is 8.5 %. */
    percent: (value: number, digits?: number): string =>
      (digits === undefined ? formats.percent() : fixed(digits, { style: 'percent' })).format(value / 100),
    moved: (value: number): string => formats.signed().format(value),
    count: whole,
    /** Whole tokens; at least four digits that say something. */
    tokens: (value: Value, digits?: number): string =>
      (digits === undefined ? formats.plain() : fixed(digits)).format(value as number),
    tokensExact: whole,
    /** Short, for an axis. */
    shortUsd: (value: number, digits?: number): string =>
      (digits === undefined ? formats.shortUsd() : fixed(digits, short)).format(value),
    /** Writes the instants of an axis that spans a number of milliseconds. */
    axis: (span: number): ((at: number) => string) => {
      const format = span < 2 * 86_400_000 ? formats.hours() : formats.days()
      return (at) => format.format(at)
    },
    time: (at: number): string => formats.time().format(at),
    /** The month of an instant, by UTC. */
    month: (at: number): string => formats.month().format(at),
    /** How long ago, or how long until, in its greatest unit. */
    age: (at: number, now: number): string => {
      const seconds = Math.round((at - now) / 1_000)
      const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
      return formats.ago().format(Math.trunc(seconds / size), unit)
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
