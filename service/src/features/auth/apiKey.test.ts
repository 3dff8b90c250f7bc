import { describe, expect, it } from 'vitest'
import { readVectors } from '../../../test/vectors.js'
import { createKeyText, formatHint, hashKey, parseKeyText } from './apiKey.js'

const { keys } = readVectors('api.json')

describe('API key texts', () => {
  for (const vector of keys) {
    it(`vector: ${vector.name}`, () => {
      expect(parseKeyText(vector.key)).toBe(vector.result.ok ? vector.result.kind : undefined)
      if (!vector.result.ok) return
      expect(hashKey(vector.key).toString('hex')).toBe(vector.sha256)
      expect(formatHint(vector.key)).toBe(vector.displayHint)
    })
  }

  it('a new key is well-formed, of its kind, and never the same twice', () => {
    const texts = new Set(Array.from({ length: 200 }, () => createKeyText('secret')))
    expect(texts.size).toBe(200)
    for (const text of texts) expect(parseKeyText(text)).toBe('secret')
  })

  it('refuses every single changed character', () => {
    const text = createKeyText('publishable')
    for (let at = 8; at < text.length; at++) {
      const other = text[at] === 'a' ? 'b' : 'a'
      expect(parseKeyText(text.slice(0, at) + other + text.slice(at + 1))).toBeUndefined()
    }
  })
})
