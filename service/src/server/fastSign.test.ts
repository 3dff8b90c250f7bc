import { isCanonicalSignature, recoverAddress, signDigest, signerAddress } from '@openearn/attribution'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openFastSign } from './fastSign.js'

const fast = openFastSign()

it('signs byte for byte as the JavaScript one does, with the key that was given', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  // Above the order of the curve there is no key.
  const keys = bytes.filter((key) => key.some((byte) => byte > 0) && (key[0] ?? 0) < 255)
  fc.assert(
    fc.property(bytes, keys, (digest, key) => {
      const signature = fast(digest, key)
      expect(signature).toEqual(signDigest(digest, key))
      expect(isCanonicalSignature(signature)).toBe(true)
      expect(recoverAddress(digest, signature)).toBe(signerAddress(key))
    }),
    { numRuns: 100 },
  )
})

it('refuses what is no key', () => {
  for (const key of [new Uint8Array(32), new Uint8Array(32).fill(255), new Uint8Array(31)])
    expect(() => fast(new Uint8Array(32).fill(1), key)).toThrow()
})
