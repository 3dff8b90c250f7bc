import { describe, expect, it } from 'vitest'
import { toPoints, toPolyline } from './movement.js'

describe('the way of a figure over thirty days', () => {
  it('goes through what it was: the present less each movement', () => {
    expect(toPoints({ current: 100, d1: 5, d7: -10, d30: 40 })).toEqual([
      { x: 0, y: 60 },
      { x: 23, y: 110 },
      { x: 29, y: 95 },
      { x: 30, y: 100 },
    ])
  })

  it('leaves out what is not known, and is nothing without a present value', () => {
    expect(toPoints({ current: 3, d1: null, d7: 0, d30: null })).toEqual([
      { x: 23, y: 3 },
      { x: 30, y: 3 },
    ])
    expect(toPoints({ current: null, d1: 1, d7: 1, d30: 1 })).toEqual([])
  })

  it('is drawn in its box, the greatest at the top; a flat one in the middle', () => {
    expect(
      toPolyline(
        [
          { x: 0, y: 1 },
          { x: 15, y: 3 },
          { x: 30, y: 2 },
        ],
        60,
        20,
      ),
    ).toBe('0.0,20.0 30.0,0.0 60.0,10.0')
    expect(
      toPolyline(
        [
          { x: 0, y: 7 },
          { x: 30, y: 7 },
        ],
        60,
        20,
      ),
    ).toBe('0.0,10.0 60.0,10.0')
  })
})
