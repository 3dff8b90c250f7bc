import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText, cleanTokenText } from './cleanText.js'

describe('cleanText', () => {
  it.each([
    ['plain text, 5 < 6 and 7 > 2, R&D', 'plain text, 5 < 6 and 7 > 2, R&D'],
    ['line\r\nbreaks\tand  blanks ', 'line breaks and blanks'],
    ['<scr<b>ipt>alert(1)</scr</b>ipt>', 'alert(1)'],
    ['open <img src=x onerror=alert(1)', 'open img src=x onerror=alert(1)'],
    ['admin\u202etxt.exe\u2066', 'admintxt.exe'],
    ['zero\u200bwidth\ufeff, tag\u{e0041}, broken \ud800', 'zerowidth, tag, broken'],
    [`z${'\u0301'.repeat(50)}`, '\u017a\u0301\u0301\u0301'],
    ['日本語 €', '日本語 €'],
  ])('makes %j harmless', (text, clean) => {
    expect(cleanText(text, 128)).toBe(clean)
  })

  it('cuts by code points, never through a pair', () => {
    expect(cleanText('🚀🚀🚀', 2)).toBe('🚀🚀')
  })

  it('leaves no tag, control or bidirectional character, whatever it is given, and is done after one pass', () => {
    const hostile = fc.string({
      unit: fc.constantFrom(
        '<',
        '>',
        '/',
        '!',
        'a',
        'B',
        ' ',
        '\n',
        '\u0000',
        '\u202e',
        '\u200b',
        '\ud800',
        '\u0301',
        '😀',
      ),
      maxLength: 60,
    })
    fc.assert(
      fc.property(hostile, (text) => {
        const clean = cleanText(text, 40)
        expect([...clean].length).toBeLessThanOrEqual(40)
        expect(clean).not.toMatch(/<[a-z/!?]|[\p{Cc}\p{Cf}\p{Cs}]/iu)
        expect(cleanText(clean, 40)).toBe(clean)
        expect(cleanTokenText(text, 40)).not.toMatch(/[<>]/)
      }),
      { numRuns: 2_000 },
    )
  })
})
