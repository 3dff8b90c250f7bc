import { describe, expect, it } from 'vitest'
import { laterOf } from './storeNow.js'

const wall = new Date('2026-11-20T12:00:00Z')
const at = (time: string) => new Date(`2026-11-${time}:00Z`)

describe('now of a chain', () => {
  it.each([
    [null, 'wall', wall],
    [null, 'chain', wall],
    [at('19T12:00'), 'wall', wall],
    [at('19T12:00'), 'chain', wall],
    [at('20T12:40'), 'wall', at('20T12:40')],
    [at('20T13:00'), 'wall', at('20T13:00')],
    [at('20T13:01'), 'wall', at('20T13:00')],
    [at('23T13:01'), 'wall', at('20T13:00')],
    [at('23T13:01'), 'chain', at('23T13:01')],
  ] as const)(
    'is, where its newest confirmed block is of %s and its clock is the %s’s, %s',
    (confirmedAt, clock, now) => {
      expect(laterOf(wall, { confirmedAt, clock })).toEqual(now)
    },
  )
})
