import { createKeccak } from 'hash-wasm'
import type { Address, Hex } from 'viem'

/** Calldata as a node gives it (0x text, any case) or as bytes. */
export type Calldata = Hex | Uint8Array

// Compiled once. It keeps state between init and digest, which no other code can come between.
const keccak = await createKeccak(256)

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

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

/** The same bytes, never as a Buffer: that slices by reference where a Uint8Array copies. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.isBuffer(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes
}

/** Lower-case 0x text of the bytes from start to end. */
export function formatHex(bytes: Uint8Array, start = 0, end = bytes.length): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('hex')}`
}

/** The address in the form we compare and store. */
export function lowerAddress(address: string): Address {
  return `0x${address.slice(2).toLowerCase()}`
}

/** Keccak-256 of some bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak.init().update(bytes).digest('binary')
}

/** Text of UTF-8 bytes, or undefined when they are not UTF-8. A byte order mark is kept: codes are compared byte for byte. */
export function parseUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** UTF-8 bytes of a text. */
export function formatUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Whether `bytes` holds `part` at position `at`. */
export function hasBytesAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  if (at < 0 || at + part.length > bytes.length) return false
  // From the end: the last bytes of calldata differ soonest.
  for (let i = part.length - 1; i >= 0; i--) if (bytes[at + i] !== part[i]) return false
  return true
}
