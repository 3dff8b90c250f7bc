import { type Caller, written } from '../../../kernel/operation.js'
import type { Written } from '../../../postgres/context.js'
import { assertSecret } from './createWebhook.js'
import { getOwnWebhook } from './input.js'
import { toWebhook, type Webhook } from './schema.js'
import { sealingOf, sealSecret, type WebhookContext } from './secrets.js'
import { newSecret } from './signature.js'
import { replaceSecret } from './storeWebhooks.js'

export const overlapDefault = 86_400
export const overlapMax = 604_800

export type RotateWebhookSecretInput = { webhookId: string; overlapSeconds?: number; secret?: string }

/** Replaces the secret of a webhook. Until the overlap ends each event is signed with both. */
export async function rotateWebhookSecret(
  ctx: WebhookContext,
  { webhookId, overlapSeconds = overlapDefault, secret = newSecret() }: RotateWebhookSecretInput,
  caller: Caller,
): Promise<Written<Webhook & { secret: string }>> {
  const sealing = sealingOf(ctx)
  assertSecret(secret)
  const row = await getOwnWebhook(ctx, webhookId, caller)
  const beforeUntil = new Date(ctx.clock.now().getTime() + overlapSeconds * 1_000)
  return written({ ...toWebhook(row), secret }, (tx) =>
    replaceSecret(tx, { id: row.id, secret: sealSecret(sealing, row.id, secret), beforeUntil }),
  )
}
