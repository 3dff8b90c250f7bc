import { recoverAddress, signAttribution } from '@openearn/attribution'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashAttribution } from '../../../packages/attribution/src/typedData.js'
import { openFastRecover } from './fastRecover.js'

const fast = openFastRecover()
const message = {
  code: 'acme',
  actionId: new Uint8Array(16),
  chainId: 31337,
  wallet: `0x${'11'.repeat(20)}`,
  target: `0x${'22'.repeat(20)}`,
  callHash: new Uint8Array(32),
  referralCode: '',
} as const

describe('the native recovery', () => {
  it('answers what the JavaScript one answers for true signatures', () => {
    for (let key = 1; key <= 20; key++) {
      const signature = signAttribution(
        message,
        Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? key : 7)),
      )
      const digest = hashAttribution(message)
      expect(fast(digest, signature)).toBe(recoverAddress(digest, signature))
      expect(fast(digest, signature)).toMatch(/^0x[0-9a-f]{40}$/)
    }
  })

  it('answers the same for anything else', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
    fc.assert(
      fc.property(bytes(32), bytes(64), fc.constantFrom(27, 28), (digest, body, v) => {
        const signature = Uint8Array.from([...body, v])
        expect(fast(digest, signature)).toBe(recoverAddress(digest, signature))
      }),
      { numRuns: 150 },
    )
    const zero = Uint8Array.from([...new Uint8Array(64), 27])
    expect(fast(new Uint8Array(32), zero)).toBe(recoverAddress(new Uint8Array(32), zero))
    const full = Uint8Array.from([...new Uint8Array(64).fill(255), 28])
    expect(fast(new Uint8Array(32), full)).toBe(recoverAddress(new Uint8Array(32), full))
  })
})
