/** Reading and writing bytes with functions that a browser also has. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The same bytes, never as a Buffer: that slices by reference where a Uint8Array copies. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  const isPlain = Object.getPrototypeOf(bytes) === Uint8Array.prototype
  return isPlain ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
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
