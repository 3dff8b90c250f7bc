import { invalidInput } from '../../../kernel/errors.js'
import { newId } from '../../../kernel/ids.js'
import { type Caller, written } from '../../../kernel/operation.js'
import type { Written } from '../../../postgres/context.js'
import { assertTarget, tooMany, webhooksMax } from './input.js'
import { toWebhook, type Webhook } from './schema.js'
import { sealingOf, sealSecret, type WebhookContext } from './secrets.js'
import { isSecret, newSecret } from './signature.js'
import { recordWebhook } from './storeWebhooks.js'

export type CreateWebhookInput = { url: string; types?: string[]; late?: boolean; secret?: string }

/** Makes a webhook that takes the events from now on, and shows its secret this once. */
export async function createWebhook(
  ctx: WebhookContext,
  { url, types = [], late = false, secret = newSecret() }: CreateWebhookInput,
  { organizationId }: Caller,
): Promise<Written<Webhook & { secret: string }>> {
  const sealing = sealingOf(ctx)
  assertTarget(ctx, { url, types })
  assertSecret(secret)
  const id = newId()
  const own = { id, organizationId, url, types: [...new Set(types)], late, createdAt: ctx.clock.now() }
  const row = { ...own, enabled: true, disabledReason: '', lastDeliveryAt: null, failing: 0 }
  return written({ ...toWebhook(row), secret }, async (tx) => {
    if (!(await recordWebhook(tx, { ...own, secret: sealSecret(sealing, id, secret) }, webhooksMax))) throw tooMany()
  })
}

/** Throws 400 where a text is no secret. */
export function assertSecret(secret: string): void {
  if (isSecret(secret)) return
  throw invalidInput([{ path: 'body.secret', message: 'must be whsec_ and the base64 of 24 to 64 bytes' }])
}
