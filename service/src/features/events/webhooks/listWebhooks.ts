import type { Caller } from '../../../kernel/operation.js'
import type { EventsContext } from '../feed.js'
import { toWebhook, type Webhook } from './schema.js'
import { listWebhookRows } from './storeWebhooks.js'

/** The webhooks of the caller's organization, oldest first. */
export async function listWebhooks(
  { db }: EventsContext,
  _input: unknown,
  caller: Caller,
): Promise<{ data: Webhook[] }> {
  return { data: (await listWebhookRows(db, caller.organizationId)).map(toWebhook) }
}
