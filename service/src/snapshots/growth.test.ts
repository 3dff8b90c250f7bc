import { describe, expect, it } from 'vitest'
import { changeGrowth } from '../vaults/configured/growthSources.js'
import { decideGrowth } from './growth.js'

const at = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`
const range = (from: number, to: number) => ({ startMs: Date.parse(at(from)), endMs: Date.parse(at(to)) })
const sourceOf = (found: ReturnType<typeof decideGrowth>) => (typeof found === 'string' ? found : found.source)

describe('what measures the growth of a vault', () => {
  it('is the share price from the start where nothing is said, and nothing where the list is empty', () => {
    expect(sourceOf(decideGrowth(null, range(1, 2)))).toBe('share-price')
    expect(decideGrowth([], range(1, 2))).toBe('none')
  })

  it('is ambiguous where two are in force at an instant of the range, and only there', () => {
    const sources = [{ source: 'share-price' as const }, { source: 'nav' as const, activeFrom: at(10) }]
    expect(sourceOf(decideGrowth(sources, range(1, 9)))).toBe('share-price')
    expect(decideGrowth(sources, range(1, 10))).toBe('ambiguous')
    const twice = [{ source: 'nav' as const }, { source: 'nav' as const }]
    expect(decideGrowth(twice, range(1, 2))).toBe('ambiguous')
  })

  it('is after a change the new source, and before it still the old one', () => {
    const changed = changeGrowth(null, 'nav', new Date(at(10)))
    expect(changed).toEqual([
      { source: 'share-price', activeTo: at(10) },
      { source: 'nav', activeFrom: at(10) },
    ])
    expect(sourceOf(decideGrowth(changed, range(1, 9)))).toBe('share-price')
    expect(sourceOf(decideGrowth(changed, range(1, 20)))).toBe('nav')
    const none = changeGrowth(changed, undefined, new Date(at(15)))
    expect(decideGrowth(none, range(16, 20))).toBe('none')
    expect(sourceOf(decideGrowth(none, range(12, 20)))).toBe('nav')
  })

  it('forgets what would begin after a change', () => {
    const changed = changeGrowth([{ source: 'nav', activeFrom: at(20) }], 'share-price', new Date(at(10)))
    expect(changed).toEqual([{ source: 'share-price', activeFrom: at(10) }])
  })
})
