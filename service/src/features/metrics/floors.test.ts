import { describe, expect, it } from 'vitest'
import { floorAt, readFloors } from './floors.js'

describe('the floors of a vault', () => {
  const second = Date.parse('2026-11-20T10:30:00Z') / 1_000
  const beginOf = (activeFrom: string) => readFloors([{ shares: '20', activeFrom }]).eras.map(({ from }) => from)

  it('begins a floor given with a part of a second at the next second', () => {
    expect(beginOf('2026-11-20T10:30:00Z')).toEqual([0, second])
    expect(beginOf('2026-11-20T10:30:00.001Z')).toEqual([0, second + 1])
    expect(beginOf('2026-11-20T10:30:00.999Z')).toEqual([0, second + 1])
  })

  it('are the smallest unit before the first of them, and the last one holds for ever', () => {
    const { levels, eras } = readFloors([{ shares: '20', activeFrom: '2026-11-20T10:30:00Z' }])
    expect(levels).toEqual([1n, 20n])
    expect(eras).toEqual([
      { level: 0, from: 0, to: second },
      { level: 1, from: second, to: 2 ** 40 },
    ])
  })

  it('change at the second of the next one, not before and not after it', () => {
    const floors = readFloors([
      { shares: '20', activeFrom: '2026-11-20T10:30:00Z' },
      { shares: '5', activeFrom: '2026-11-20T11:00:00Z' },
    ])
    const at = (text: string) => floorAt(floors, new Date(text))
    expect([at('2026-11-20T10:29:59.999Z'), at('2026-11-20T10:30:00Z')]).toEqual([1n, 20n])
    expect([at('2026-11-20T10:59:59.999Z'), at('2026-11-20T11:00:00Z'), at('2099-01-01T00:00:00Z')]).toEqual([
      20n,
      5n,
      5n,
    ])
  })
})
