import { createRequire } from 'node:module'

/** The used part of the native secp256k1. */
export type NativeCurve = {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
}

/** The prebuilt library, when this platform has one. It is optional: everything works without, only slower. */
export function loadNativeCurve(): NativeCurve | undefined {
  try {
    const bindings: unknown = createRequire(import.meta.url)('secp256k1/bindings.js')
    return isNativeCurve(bindings) ? bindings : undefined
  } catch {
    return undefined
  }
}

function isNativeCurve(bindings: unknown): bindings is NativeCurve {
  if (typeof bindings !== 'object' || bindings === null) return false
  if (!('ecdsaRecover' in bindings && 'ecdsaSign' in bindings)) return false
  return typeof bindings.ecdsaRecover === 'function' && typeof bindings.ecdsaSign === 'function'
}
