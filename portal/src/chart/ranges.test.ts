import { describe, expect, it } from 'vitest'
import { presets, toDates, toRange, toStep } from './ranges.js'

const of = (text: string) => toRange(new URLSearchParams(text))
const now = Date.UTC(2026, 0, 31)

describe('the range of a chart', () => {
  it('is that of the URL: days, or two instants; thirty days where it names none', () => {
    expect(of('range=7d')).toEqual({ preset: '7d' })
    expect(of('from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&range=7d')).toEqual({
      from: Date.UTC(2026, 0, 1),
      to: Date.UTC(2026, 0, 2),
    })
    for (const text of [
      '',
      'range=9d',
      'range=toString',
      'from=x&to=y',
      'from=2026-01-02&to=2026-01-01',
      'from=2026-01-02',
    ])
      expect(of(text), text).toEqual({ preset: '30d' })
  })

  it('is read in buckets of the grid, few enough for the inputs of each point', () => {
    for (const preset of Object.keys(presets) as (keyof typeof presets)[]) {
      const { startDate, endDate, step } = toDates({ preset }, now)
      const seconds = (endDate.getTime() - startDate.getTime()) / 1_000
      expect([preset, step % 900, seconds / step <= 1_000]).toEqual([preset, 0, true])
      expect(now - startDate.getTime()).toBeLessThan(365 * 86_400_000)
    }
    expect(toStep({ from: 0, to: 60_000 })).toBe(900)
    expect(toStep({ preset: '1d' })).toBe(900)
    expect(toStep({ preset: '1y' })).toBe(44_100)
  })
})
