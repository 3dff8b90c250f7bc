import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret of 32 random bytes. */
export function newSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`
}

/** Whether a text is a secret: `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks 1.0.0). */
export function isSecret(text: string): boolean {
  if (!text.startsWith(prefix)) return false
  const base64 = text.slice(prefix.length)
  const bytes = Buffer.from(base64, 'base64')
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0.0): for each secret `v1,` and the base64 HMAC-SHA256 of
 * `id.timestamp.body`, separated by blanks. `timestamp` are Unix seconds of the try; `body` is signed as it is sent.
 */
export function sign(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
) {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
}
