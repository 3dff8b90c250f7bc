import { describe, expect, it } from 'vitest'
import { openSealing } from './sealing.js'

const key = 'k'.repeat(32)

describe('a sealed text', () => {
  it('opens with the same key and name, and is another each time', () => {
    const sealing = openSealing(key)
    const [one, two] = [sealing.seal('whsec_ü', 'a'), sealing.seal('whsec_ü', 'a')]
    expect(Buffer.from(one).equals(Buffer.from(two))).toBe(false)
    expect(Buffer.from(one).toString('latin1')).not.toContain('whsec_')
    expect(openSealing(key).open(one, 'a')).toBe('whsec_ü')
  })

  it('does not open with another key, under another name, or when a bit was changed', () => {
    const sealed = Buffer.from(openSealing(key).seal('whsec_x', 'a'))
    expect(() => openSealing('K'.repeat(32)).open(sealed, 'a')).toThrow()
    expect(() => openSealing(key).open(sealed, 'b')).toThrow()
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => openSealing(key).open(changed, 'a')).toThrow()
    }
  })
})
