import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyKind } from '../../kernel/operation.js'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefixes = { publishable: 'pk_live_', secret: 'sk_live_' } as const
const pattern = /^(pk|sk)_live_[0-9A-Za-z]{38}$/
const entropyLength = 32

/** A new key text: prefix, 32 random base62 characters, checksum. Shown once, never stored. */
export function createKeyText(kind: KeyKind): string {
  const entropy = Array.from({ length: entropyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const body = prefixes[kind] + entropy
  return body + computeChecksum(body)
}

/** The kind a key text claims, or undefined when it is malformed or its checksum does not fit. */
export function parseKeyText(text: string): KeyKind | undefined {
  if (!pattern.test(text)) return undefined
  const body = text.slice(0, 8 + entropyLength)
  if (text.slice(8 + entropyLength) !== computeChecksum(body)) return undefined
  return text.startsWith(prefixes.secret) ? 'secret' : 'publishable'
}

/** CRC-32 (IEEE) of prefix and entropy as six base62 characters, left-padded with 0. */
export function computeChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = alphabet[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** SHA-256 of the key text: the only form kept. A random key of 190 bits needs no salt. */
export function hashKey(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** First 12 and last 4 characters, to recognise a key by. */
export function formatHint(text: string): string {
  return `${text.slice(0, 12)}…${text.slice(-4)}`
}
