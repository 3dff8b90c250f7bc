import { formatTs, systemClock } from '../../../kernel/clock.js'
import { newId } from '../../../kernel/ids.js'
import { type Caller, written } from '../../../kernel/operation.js'
import type { Written } from '../../../postgres/context.js'
import { formatCursor, startCursor } from '../cursor.js'
import { findEnds, findEventId } from '../storeFeed.js'
import { deliver } from './deliver.js'
import { getOwnWebhook } from './input.js'
import { type Delivery, toDelivery, toWebhook } from './schema.js'
import { sealingOf, type WebhookContext } from './secrets.js'
import { recordAttempt } from './storeWebhooks.js'

/** Sends an event `webhook.test` to a webhook at once, whether it is enabled or not, and returns what became of it. */
export async function testWebhook(
  ctx: WebhookContext,
  { webhookId }: { webhookId: string },
  caller: Caller,
): Promise<Written<Delivery>> {
  const sealing = sealingOf(ctx)
  const row = await getOwnWebhook(ctx, webhookId, caller)
  const at = ctx.clock.now()
  const eventId = newId()
  const { last: position } = await findEnds(ctx.db)
  const last = await findEventId(ctx.db, position)
  const body = JSON.stringify({
    id: eventId,
    cursor: last === undefined ? startCursor : formatCursor({ position, eventId: last }),
    type: 'webhook.test',
    timestamp: formatTs(at),
    chainId: null,
    late: false,
    subject: { kind: 'webhook', id: row.id },
    data: toWebhook(row),
  })
  const sending = { sealing, allowed: ctx.config.webhooksAllowed }
  const times = { at, monotonicMs: systemClock.monotonicMs }
  const tried = await deliver(sending, row, { eventId, attempt: 1, body }, times)
  return written(toDelivery(tried), (tx) => recordAttempt(tx, tried))
}
