import { concatBytes, type SignDigest, signDigest } from '@openearn/attribution'
import { loadNativeCurve } from '../wallets/nativeCurve.js'

/** `SignDigest` by native code if available, because the caller waits for the signature. The results are the same. */
export function openFastSign(): SignDigest {
  const native = loadNativeCurve()?.ecdsaSign
  if (!native) return signDigest
  return (digest, privateKey) => {
    const { signature, recid } = native(digest, privateKey)
    return concatBytes(signature, Uint8Array.of(27 + recid))
  }
}
