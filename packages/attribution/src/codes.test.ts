import { describe, expect, it } from 'vitest'
import { isDistributorCode, isPlainText, isReferralCode } from './codes.js'

describe('a text that is a code', () => {
  it.each([
    ['distributor', isDistributorCode, 32],
    ['referral', isReferralCode, 64],
  ] as const)('of a %s has 1 to so many letters, digits, _ and -, and nothing else', (_what, is, most) => {
    for (const code of ['a', 'A-z_0', 'x'.repeat(most)]) expect(is(code), code).toBe(true)
    for (const code of ['', 'x'.repeat(most + 1), ' a', 'a ', 'a\n', 'é', 'a.b']) expect(is(code), code).toBe(false)
  })

  it('may be kept as a short name where it has 1 to 128 characters, none a control character or half of one', () => {
    for (const text of ['a', 'Ünïted ✓', '😀'.repeat(128), 'x'.repeat(128)]) expect(isPlainText(text), text).toBe(true)
    for (const text of ['', 'x'.repeat(129), 'a\u0000', '\u0007a', 'a\ud83d', `${'x'.repeat(128)}\n`])
      expect(isPlainText(text), text).toBe(false)
  })
})
