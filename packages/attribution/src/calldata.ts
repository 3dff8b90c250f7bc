import { createKeccak, type IHasher } from 'hash-wasm'
import { type Address, type Hex, keccak256 as keccak256OfViem } from 'viem'
import { plainBytes } from './bytes.js'

/**
 * Hex text and hashes as a rebuild needs them, which reads every transaction again: by Node's Buffer and by compiled
 * code, several times as fast as viem's. The codec (`codec.ts`) runs in browsers and imports nothing of this file.
 */

/** Calldata as a node gives it (0x text, any case) or as bytes. */
export type Calldata = Hex | Uint8Array

// Compiled once, and not waited for: a module that waits while it is loaded cannot be required. It keeps state between init
// and digest, which no other code can come between.
let compiled: IHasher | undefined
void createKeccak(256).then((hasher) => {
  compiled = hasher
})

/** Bytes of 0x-prefixed hex text of even length, or undefined when it is not that. */
export function parseHex(text: string): Uint8Array | undefined {
  if (!text.startsWith('0x') || text.length % 2 !== 0) return undefined
  // Buffer stops silently at the first character that is not hex, so the length tells.
  const bytes = Buffer.from(text.slice(2), 'hex')
  return bytes.length === text.length / 2 - 1 ? plainBytes(bytes) : undefined
}

/** Bytes of calldata; empty when the text is not hex, so that reading foreign data never throws. */
export function calldataBytes(input: Calldata): Uint8Array {
  return typeof input === 'string' ? (parseHex(input) ?? new Uint8Array(0)) : plainBytes(input)
}

/** Lower-case 0x text of the bytes from start to end. */
export function formatHex(bytes: Uint8Array, start = 0, end = bytes.length): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('hex')}`
}

/** The address in the form we compare and store. */
export function lowerAddress(address: string): Address {
  return `0x${address.slice(2).toLowerCase()}`
}

/** Keccak-256 of some bytes: by compiled code as soon as that is ready. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return compiled ? compiled.init().update(bytes).digest('binary') : keccak256OfViem(bytes, 'bytes')
}
