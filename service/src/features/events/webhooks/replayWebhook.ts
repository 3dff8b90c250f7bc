import { type Caller, written } from '../../../kernel/operation.js'
import type { Written } from '../../../postgres/context.js'
import { findPosition } from '../getEvents.js'
import { getOwnWebhook } from './input.js'
import { toWebhook, type Webhook } from './schema.js'
import type { WebhookContext } from './secrets.js'
import { replayEvents } from './storeQueue.js'

/**
 * Sends the events after a cursor again, at half of the rate. Events that wait for their first delivery are not doubled. Throws
 * 410 for a cursor whose event is not in the feed.
 */
export async function replayWebhook(
  ctx: WebhookContext,
  { webhookId, after }: { webhookId: string; after: string },
  caller: Caller,
): Promise<Written<Webhook>> {
  const row = await getOwnWebhook(ctx, webhookId, caller)
  const position = await findPosition(ctx.db, after)
  return written(toWebhook(row), async (tx) => {
    await replayEvents(tx, { id: row.id, after: position, at: ctx.clock.now() })
  })
}
