import { ed25519 } from '@noble/curves/ed25519.js'
import { decodeBase58 } from './base58.js'

/** Strict: the curve's small-order points sign everything for nobody, and S + L signs what S signs. Neither passes. */
const strict = { zip215: false }

/** Whether the holder of an Ed25519 key signed these bytes, by the strict rules of RFC 8032. */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return signature.length === 64 && publicKey.length === 32 && ed25519.verify(signature, message, publicKey, strict)
}

/** Whether 32 bytes are a point of the curve; an account derived from a program never is. */
export function isCurvePoint(publicKey: Uint8Array): boolean {
  return ed25519.utils.isValidPublicKey(publicKey, false)
}

/**
 * The 64 bytes a signature text may mean, read as hex, base64 (or base64url) and base58. Some texts read in two ways;
 * the signature check tells which was meant.
 */
export function decodeSignature(text: string): Uint8Array[] {
  const readings: (Uint8Array | undefined)[] = []
  if (/^(0[xX])?[0-9a-fA-F]{128}$/.test(text)) readings.push(Buffer.from(text.slice(-128), 'hex'))
  if (/^[A-Za-z0-9+/_-]{86}(==)?$/.test(text)) readings.push(Buffer.from(text, 'base64'))
  readings.push(decodeBase58(text))
  return readings.flatMap((bytes) => (bytes?.length === 64 ? [Uint8Array.from(bytes)] : []))
}
