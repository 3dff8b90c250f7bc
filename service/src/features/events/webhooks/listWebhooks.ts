import type { Caller } from '../../../kernel/operation.js'
import { toWebhook, type Webhook } from './schema.js'
import type { WebhookContext } from './secrets.js'
import { listWebhookRows } from './storeWebhooks.js'

/** The webhooks of the caller's organization, oldest first. */
export async function listWebhooks(
  { db }: WebhookContext,
  _input: unknown,
  caller: Caller,
): Promise<{ data: Webhook[] }> {
  return { data: (await listWebhookRows(db, caller.organizationId)).map(toWebhook) }
}
