import { createHash, randomUUID } from 'node:crypto'

/** Namespace of every derived id. Changing it changes every ledger id. */
const derivedNamespace = Buffer.from('7b7c2f5e3d1a5c4e9f0a6d2b8e4c1f3a', 'hex')

/** A new random uuid (RFC 9562 version 4), lower-case. */
export function newId(): string {
  return randomUUID()
}

/** The uuid (RFC 9562 version 5, SHA-1) of a name in the service's constant namespace. Names are lower-case by convention. */
export function derivedId(name: string): string {
  const hash = createHash('sha1').update(derivedNamespace).update(name).digest().subarray(0, 16)
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return formatUuid(hash)
}

/** 16 bytes as a lower-case uuid text. */
export function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** The 16 bytes of a uuid as `0x` hex, as carried in calldata. */
export function uuidToBytes16(id: string): `0x${string}` {
  return `0x${id.replaceAll('-', '').toLowerCase()}`
}

/** The uuid carried as 16 bytes of `0x` hex. */
export function bytes16ToUuid(hex: string): string {
  return formatUuid(Buffer.from(hex.slice(2), 'hex'))
}
