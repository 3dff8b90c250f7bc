import { describe, expect, it } from 'vitest'
import { createPortalFigures } from './figures.js'

const { usd, usdMoved, percent, tokens, age, tokensExact } = createPortalFigures('en-US')

describe('figures', () => {
  it('are dollars with cents below a thousand, written from the text of the service', () => {
    expect([usd(0), usd('12.345'), usd(-999.999), usd(1_234_567.89)]).toEqual([
      '$0.00',
      '$12.35',
      '-$1,000.00',
      '$1,234,568',
    ])
    expect(usd('90071992547409931234')).toBe('$90,071,992,547,409,931,234')
    expect([usdMoved(1_200), usdMoved(-3), usdMoved(0)]).toEqual(['+$1,200', '-$3', '$0'])
  })

  it('are percent as the service says it', () => {
    expect([percent(8.5), percent(0), percent(-1.234), percent(12_345.678)]).toEqual([
      '8.50%',
      '0.00%',
      '-1.23%',
      '12,345.68%',
    ])
  })

  it('are tokens with digits that say something, and the whole text on demand', () => {
    expect([tokens('1234.567891'), tokens('0.00000012345'), tokens(0)]).toEqual(['1,234.5679', '0.0000001235', '0'])
    expect(tokensExact('123456789012345678.123456789012345678')).toBe('123,456,789,012,345,678.123456789012345678')
  })

  it('are ages in their greatest unit', () => {
    const now = Date.UTC(2026, 0, 1)
    const ages = [0, 59, 60, 3_599, 7_200, 86_400 * 3].map((seconds) => age(now - seconds * 1_000, now))
    expect(ages).toEqual(['now', '59 seconds ago', '1 minute ago', '59 minutes ago', '2 hours ago', '3 days ago'])
  })

  it('are written as a locale does', () => {
    expect(createPortalFigures('de').usd(1_234_567)).toBe('1.234.567\u00a0$')
    expect(createPortalFigures('de').percent(8.5)).toBe('8,50\u00a0%')
  })
})
