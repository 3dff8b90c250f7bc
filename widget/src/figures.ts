/** Amounts and rates as the reader of a locale writes them. Amounts are exact: no number of JavaScript holds them. */

/** Whether decimals of a token are such that its amounts can be told. */
const areDecimals = (decimals: number): boolean => Number.isInteger(decimals) && decimals >= 0 && decimals <= 77

/** Smallest units as a plain decimal. */
export function toDecimal(units: bigint, decimals: number): string {
  const digits = `${units < 0n ? -units : units}`.padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${rest && `.${rest}`}`
}

/** Whole units from a text of the service; undefined where it is no integer. */
export const toUnits = (text: string | null | undefined): bigint | undefined =>
  text && /^\d{1,80}$/.test(text) ? BigInt(text) : undefined

export type Figures = ReturnType<typeof createFigures>

export function createFigures(locale: string | undefined) {
  const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })
  const usd = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', maximumFractionDigits: 2 })
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const point = exact.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'
  const digits = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210)].reverse()
  const toLatin = (text: string) =>
    [...text].map((each) => (digits.includes(each) ? `${digits.indexOf(each)}` : each)).join('')
  const write = (decimal: string) => exact.format(decimal as `${number}`)
  const amount = (units: bigint, decimals: number): string =>
    areDecimals(decimals) ? write(toDecimal(units, decimals)) : `${units} units`
  return {
    amount,
    /** An amount as its user may type it: without marks between thousands. */
    typed: (units: bigint, decimals: number): string => toDecimal(units, decimals).replace('.', point),
    /**
     * Smallest units of a typed amount; undefined unless it is one above 0. Only the locale's own decimal mark is taken: 1.500 is
     * one and a half to one reader, and thousands to another.
     */
    parse: (text: string, decimals: number): bigint | undefined => {
      if (!areDecimals(decimals)) return undefined
      const [whole = '', rest = '', ...more] = toLatin(text.trim()).split(point)
      if (more.length > 0 || !/^\d{1,60}$/.test(whole) || !/^\d*$/.test(rest) || rest.length > decimals)
        return undefined
      const units = BigInt(whole + rest.padEnd(decimals, '0'))
      return units > 0n ? units : undefined
    },
    example: (decimals: number): string => write(decimals > 0 ? '1.5' : '2'),
    usd: (value: number | string): string => usd.format(value as number),
    rate: (value: number): string => percent.format(value / 100),
    date: (text: string): string => (Number.isNaN(Date.parse(text)) ? '…' : day.format(new Date(text))),
  }
}

/** Marks that change the direction of what follows, and those that nobody sees. */
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

/** Names that are shown as they are: most are, and to look for marks of all scripts is slow. */
const plain = /^(?:[!-~]+ )*[!-~]+$/

/** A name of a stranger, short and on one line. */
export function cutName(name: string, length = 40): string {
  if (name.length <= length && plain.test(name)) return name
  const characters = [
    ...name
      .slice(0, 8 * length)
      .replace(unseen, '')
      .replace(/\s+/gu, ' ')
      .trim(),
  ]
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : characters.join('') || '…'
}

export const cutHex = (text: string): string => (text.length > 14 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text)
