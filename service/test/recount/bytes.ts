import { createHash } from 'node:crypto'
import { type Hex, keccak256 } from 'viem'

/** Bytes as lower-case hex digits without a prefix: two digits a byte. */
export type Digits = string

export const digitsOf = (hex: string): Digits => hex.replace(/^0x/, '').toLowerCase()
export const sizeOf = (digits: Digits): number => digits.length / 2
export const slice = (digits: Digits, from: number, to = sizeOf(digits)): Digits => digits.slice(2 * from, 2 * to)
export const hashOf = (digits: Digits): Hex => keccak256(`0x${digits}`)
export const addressOf = (word: Digits): string => `0x${word.slice(-40)}`
export const wordOf = (value: bigint | string): Digits =>
  (typeof value === 'bigint' ? value.toString(16) : digitsOf(value)).padStart(64, '0')

/** Where bytes lie in others, on a byte's bound; -1 where they do not. */
export function find(whole: Digits, part: Digits, from = 0): number {
  let at = whole.indexOf(part, 2 * from)
  while (at % 2 === 1) at = whole.indexOf(part, at + 1)
  return at < 0 ? -1 : at / 2
}
export const contains = (whole: Digits, part: Digits): boolean => find(whole, part) >= 0

/** The text of bytes, where they are UTF-8. */
export function textOf(digits: Digits): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(digits, 'hex'))
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** RFC 9562, version 5. The namespace is the service's, which SEMANTICS §1 calls constant without naming it. */
export function uuidOf(name: string): string {
  const namespace = Buffer.from('7b7c2f5e3d1a5c4e9f0a6d2b8e4c1f3a', 'hex')
  const digits = createHash('sha1').update(namespace).update(name, 'utf8').digest('hex').slice(0, 32).split('')
  digits[12] = '5'
  digits[16] = ((Number.parseInt(digits[16]!, 16) & 3) | 8).toString(16)
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export function least(a: bigint, b: bigint): bigint {
  if (b < a) return b
  return a
}
