import T from 'typebox'
import { conflict, invalidInput, notFound } from '../../../kernel/errors.js'
import type { Caller } from '../../../kernel/operation.js'
import { Uuid } from '../../../kernel/wire.js'
import { EventType, eventTypes } from '../event.js'
import { findUrlProblem } from './addresses.js'
import type { WebhookContext } from './secrets.js'
import { findWebhook, type SecretRow } from './storeWebhooks.js'

export const webhooksMax = 20

export const WebhookParams = T.Object({ webhookId: Uuid })

export const Types = T.Array(EventType, { maxItems: 50, description: 'Types of events; empty: all' })

/** Throws 400 where the url or a type cannot be a webhook's. */
export function assertTarget(
  { config }: Pick<WebhookContext, 'config'>,
  given: { url?: string; types?: string[] },
): void {
  const known: readonly string[] = eventTypes
  const problem = given.url === undefined ? undefined : findUrlProblem(given.url, config.webhooksAllowed)
  const unknown = given.types?.find((type) => !known.includes(type))
  const violations = [
    ...(problem === undefined ? [] : [{ path: 'body.url', message: problem }]),
    ...(unknown === undefined ? [] : [{ path: 'body.types', message: `must be types of events: ${known.join(', ')}` }]),
  ]
  if (violations.length > 0) throw invalidInput(violations)
}

/** The webhook of the caller's organization. Throws 404 where it has no such webhook. */
export async function getOwnWebhook({ db }: WebhookContext, id: string, caller: Caller): Promise<SecretRow> {
  const row = await findWebhook(db, { id: id.toLowerCase(), organizationId: caller.organizationId })
  if (!row) throw notFound('the organization has no such webhook')
  return row
}

export const tooMany = () => conflict(`an organization has at most ${webhooksMax} webhooks; delete one first`)
