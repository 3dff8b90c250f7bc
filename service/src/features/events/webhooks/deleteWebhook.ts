import { type Caller, written } from '../../../kernel/operation.js'
import type { Written } from '../../../postgres/context.js'
import { getOwnWebhook } from './input.js'
import { toWebhook, type Webhook } from './schema.js'
import type { WebhookContext } from './secrets.js'
import { removeWebhook } from './storeWebhooks.js'

/** Removes a webhook with its queue and its deliveries; returns it as it was. */
export async function deleteWebhook(
  ctx: WebhookContext,
  { webhookId }: { webhookId: string },
  caller: Caller,
): Promise<Written<Webhook>> {
  const row = await getOwnWebhook(ctx, webhookId, caller)
  return written(toWebhook(row), (tx) => removeWebhook(tx, row.id))
}
