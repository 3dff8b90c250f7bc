import type { Caller } from '../../../kernel/operation.js'
import { type PageInput, type Pagination, paginate, parsePage } from '../../../kernel/page.js'
import { getOwnWebhook } from './input.js'
import { type Delivery, toDelivery } from './schema.js'
import type { WebhookContext } from './secrets.js'
import { listAttempts } from './storeWebhooks.js'

/** The tries of a webhook, newest first. */
export async function listWebhookDeliveries(
  ctx: WebhookContext,
  { webhookId, ...page }: PageInput & { webhookId: string },
  caller: Caller,
): Promise<{ data: Delivery[]; pagination: Pagination }> {
  const row = await getOwnWebhook(ctx, webhookId, caller)
  const request = parsePage(page)
  const { rows, total } = await listAttempts(ctx.db, row.id, request)
  return { data: rows.map(toDelivery), pagination: paginate(request, total) }
}
