import { formatHex, keccak256, type Recover, recoverAddress } from '@openearn/attribution'
import { loadNativeCurve } from '../wallets/nativeCurve.js'

/** `Recover` by native code if available: about 25 times as fast, for rebuilding. The results are the same. */
export function openFastRecover(): Recover {
  const native = loadNativeCurve()?.ecdsaRecover
  if (!native) return recoverAddress
  return (digest, signature) => {
    const recovery = (signature[64] ?? 0) - 27
    if (recovery !== 0 && recovery !== 1) return recoverAddress(digest, signature)
    try {
      return formatHex(keccak256(native(signature.subarray(0, 64), recovery, digest, false).subarray(1)), 12)
    } catch (error) {
      // Out-of-range r or s, or an x that is on no point: no key made this signature.
      if (error instanceof Error) return undefined
      throw error
    }
  }
}
