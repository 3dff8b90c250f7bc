import { describe, expect, it } from 'vitest'
import { readFloors } from './floors.js'

const second = Date.parse('2026-11-20T12:00:00Z') / 1000
const later = second + 60

describe('the floors of a vault', () => {
  it('are the smallest unit, always, where nothing is set', () => {
    expect(readFloors([])).toEqual({ levels: [1n], eras: [{ level: 0, from: 0, to: 2 ** 40 }] })
  })

  it('hold one after the other, each until the next begins, whatever order they are written in', () => {
    const settings = [
      { shares: '5', activeFrom: '2026-11-20T12:01:00Z' },
      { shares: '100', activeFrom: '2026-11-20T12:00:00Z' },
    ]
    expect(readFloors(settings)).toEqual({
      levels: [1n, 5n, 100n],
      eras: [
        { level: 0, from: 0, to: second },
        { level: 2, from: second, to: later },
        { level: 1, from: later, to: 2 ** 40 },
      ],
    })
  })

  it('hold from the start where no instant is given, or one before 1970', () => {
    for (const setting of [{ shares: '7' }, { shares: '7', activeFrom: '1969-01-01T00:00:00Z' }])
      expect(readFloors([setting])).toEqual({ levels: [7n], eras: [{ level: 0, from: 0, to: 2 ** 40 }] })
  })

  it('of one instant are decided by the one written last, and a floor that returns is one level', () => {
    const instants = ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00Z', '2026-11-20T12:01:00Z']
    const settings = ['9', '8', '1'].map((shares, index) => ({ shares, activeFrom: `${instants[index]}` }))
    expect(readFloors(settings)).toMatchObject({
      levels: [1n, 8n],
      eras: [{ level: 0 }, { level: 1, from: second, to: later }, { level: 0, from: later }],
    })
  })
})
