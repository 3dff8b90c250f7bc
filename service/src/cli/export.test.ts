import { describe, expect, it } from 'vitest'
import { formatRow } from './exportFiles.js'

describe('a line of an exported file', () => {
  it('quotes what would end a cell or a line, a lone carriage return too, and doubles quotes', () => {
    expect(formatRow({ a: 'x,y', b: 'x\ny', c: 'x\ry', d: 'say "x"' })).toBe('"x,y","x\ny","x\ry","say ""x"""\n')
  })

  it('leaves plain text, numbers and instants as they are, and what is not known empty', () => {
    const at = new Date('2026-01-01T00:00:00Z')
    expect(formatRow({ a: 'plain', b: 12n, c: at, d: null })).toBe('plain,12,2026-01-01T00:00:00Z,\n')
  })
})
