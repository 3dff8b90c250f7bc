import { type Hex, size } from 'viem'

/**
 * The signature in the one form it is kept in: lower-case, and of a key with v as 27 or 28, which alone the settlement
 * contract knows.
 */
export function normaliseSignature(text: string, by: 'key' | 'contract'): Hex {
  const signature = `0x${text.slice(2).toLowerCase()}` as const
  if (by === 'contract' || size(signature) !== 65) return signature
  const v = Number.parseInt(signature.slice(-2), 16)
  return v > 1 ? signature : `${signature.slice(0, -2) as Hex}${(v + 27).toString(16)}`
}

/** Whether a text is the signature that is kept, in whichever of its forms. */
export function isSameSignature(text: string, kept: string): boolean {
  return normaliseSignature(text, 'contract') === kept || normaliseSignature(text, 'key') === kept
}
