import { base58 } from '@scure/base'

/** The library's time grows with the square of the length. */
const lengthMax = 128

/** Bytes of a base58 text (the Bitcoin alphabet, leading ones are zero bytes); undefined for anything else or too long. */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length > lengthMax) return undefined
  try {
    return base58.decode(text)
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}
