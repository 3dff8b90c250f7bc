import { unavailable } from '../../../kernel/errors.js'
import type { Context } from '../../../postgres/context.js'
import type { SecretRow } from './storeWebhooks.js'

/** Seals texts with the key of the installation. A text opens only under the name that it was sealed under. */
export type Sealing = { seal(text: string, name: string): Uint8Array; open(sealed: Uint8Array, name: string): string }

/** The context of operations on webhooks. */
export type WebhookContext = Context & { readonly sealing?: Sealing | undefined }

/** The sealing of the installation. Throws 503 where the operator has set no key. */
export function sealingOf({ sealing }: { sealing?: Sealing | undefined }): Sealing {
  if (sealing) return sealing
  throw unavailable('webhooks are not set up here: the operator has to set SECRETS_KEY', {
    context: { retryable: false },
  })
}

const nameOf = (webhookId: string) => `webhook ${webhookId}`

export const sealSecret = (sealing: Sealing, webhookId: string, secret: string): Uint8Array =>
  sealing.seal(secret, nameOf(webhookId))

/** The secrets that a webhook is signed with at an instant: its own, and the one before while that counts. */
export function openSecrets(
  sealing: Sealing,
  { id, secret, secretBefore, beforeUntil }: Pick<SecretRow, 'id' | 'secret' | 'secretBefore' | 'beforeUntil'>,
  at: Date,
): string[] {
  const sealed = [secret, ...(secretBefore && beforeUntil && beforeUntil > at ? [secretBefore] : [])]
  return sealed.map((each) => sealing.open(each, nameOf(id)))
}
