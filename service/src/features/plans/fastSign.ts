import { concatBytes, type SignDigest, signDigest } from '@openearn/attribution'
import { loadNativeCurve } from '../../wallets/nativeCurve.js'

/** `SignDigest` by native code where there is some: a plan is signed while its caller waits. Answers the same always. */
export function openFastSign(): SignDigest {
  const native = loadNativeCurve()?.ecdsaSign
  if (!native) return signDigest
  return (digest, privateKey) => {
    const { signature, recid } = native(digest, privateKey)
    return concatBytes(signature, Uint8Array.of(27 + recid))
  }
}
