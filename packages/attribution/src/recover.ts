import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Address } from 'viem'
import { concatBytes } from './bytes.js'
import { formatHex, keccak256 } from './calldata.js'

/**
 * Address whose key made a 65-byte signature (r, s, v) over a 32-byte digest, lower-case, or undefined when there is
 * none. Callers have checked `isCanonicalSignature`. A faster implementation may stand in: it must answer the same.
 */
export type Recover = (digest: Uint8Array, signature: Uint8Array) => Address | undefined

/** `Recover` in plain JavaScript. */
export const recoverAddress: Recover = (digest, signature) => {
  const recovery = (signature[64] ?? 0) - 27
  try {
    const recovered = concatBytes(Uint8Array.of(recovery), signature.subarray(0, 64))
    return pointAddress(secp256k1.Signature.fromBytes(recovered, 'recovered').recoverPublicKey(digest).toBytes(false))
  } catch (error) {
    // Out-of-range r or s, or an x that is on no point: no key made this signature.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Address of a private key (32 bytes), lower-case. */
export function signerAddress(privateKey: Uint8Array): Address {
  return pointAddress(secp256k1.getPublicKey(privateKey, false))
}

/**
 * Deterministic signature (RFC 6979; r, s, v with v 27 or 28, low s) over a 32-byte digest. A faster implementation may
 * stand in: it must answer the same bytes.
 */
export type SignDigest = (digest: Uint8Array, privateKey: Uint8Array) => Uint8Array

/** `SignDigest` in plain JavaScript. */
export const signDigest: SignDigest = (digest, privateKey) => {
  const signature = secp256k1.sign(digest, privateKey, { prehash: false, format: 'recovered' })
  return concatBytes(signature.subarray(1), Uint8Array.of(27 + (signature[0] ?? 0)))
}

/** Address of an uncompressed public key: 65 bytes, the first of which says so. */
function pointAddress(point: Uint8Array): Address {
  return formatHex(keccak256(point.subarray(1)), 12)
}
