import { type Caller, written } from '../../../kernel/operation.js'
import type { Written } from '../../../postgres/context.js'
import { assertTarget, getOwnWebhook } from './input.js'
import { toWebhook, type Webhook } from './schema.js'
import type { WebhookContext } from './secrets.js'
import { updateWebhook as recordUpdate } from './storeWebhooks.js'

export type UpdateWebhookInput = {
  webhookId: string
  url?: string
  types?: string[]
  enabled?: boolean
  late?: boolean
}

/** Changes a webhook. One that is enabled again goes on with the events that it missed, as far as they are kept. */
export async function updateWebhook(
  ctx: WebhookContext,
  { webhookId, ...given }: UpdateWebhookInput,
  caller: Caller,
): Promise<Written<Webhook>> {
  assertTarget(ctx, given)
  const row = await getOwnWebhook(ctx, webhookId, caller)
  const change = {
    url: given.url ?? row.url,
    types: given.types ? [...new Set(given.types)] : row.types,
    enabled: given.enabled ?? row.enabled,
    late: given.late ?? row.late,
  }
  const begins = change.enabled && !row.enabled
  const now = { ...row, ...change, ...(change.enabled && { disabledReason: '' }), ...(begins && { failing: 0 }) }
  return written(toWebhook(now), (tx) => recordUpdate(tx, row.id, { ...change, at: ctx.clock.now() }))
}
