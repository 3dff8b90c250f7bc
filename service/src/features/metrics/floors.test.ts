import { describe, expect, it } from 'vitest'
import { readFloors } from './floors.js'

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
})
