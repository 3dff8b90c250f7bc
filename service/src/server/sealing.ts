import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Sealing } from '../features/events/index.js'

const [ivBytes, tagBytes] = [12, 16]

/**
 * Seals texts with a key of the operator (AES-256-GCM, the key derived by HKDF-SHA256). A sealed text opens only under the name
 * that it was sealed under, so that it cannot be moved to another row.
 */
export function openSealing(secret: string): Sealing {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'openearn sealed texts 1', 32))
  return {
    seal: (text, name) => {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(name))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed])
    },
    open: (sealed, name) => {
      const bytes = Buffer.from(sealed)
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
      decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
    },
  }
}
