import { describe, expect, it } from 'vitest'
import { compareCodePoints, compareText } from './text.js'

describe('the order of texts', () => {
  it('is that of code points, at the edges of what is written in two units too', () => {
    const inOrder = ['', 'a', 'a\u{0}', 'ab', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}']
    for (const [at, text] of inOrder.entries())
      for (const [other, than] of inOrder.entries())
        expect(Math.sign(compareCodePoints(text, than)), `${at} and ${other}`).toBe(Math.sign(at - other))
  })

  it('does not tell capital letters from small ones', () => {
    expect(compareText('ÄPFEL', 'äpfel')).toBe(0)
    expect(compareText('B', 'a')).toBeGreaterThan(0)
  })
})
