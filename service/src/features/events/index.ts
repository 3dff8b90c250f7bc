/**
 * Events: what is told to others, once and in order. Owns `outbox`, `feed`, `feed_end` and the tables of webhooks. Any room tells facts by the function
 * `tell` that the start hands down; none imports this slice.
 */
import type { Operation } from '../../kernel/operation.js'
import type { Tell } from '../../postgres/context.js'
import type { EventsContext } from './feed.js'
import { feedOperations } from './operations.js'
import { recordFacts } from './storeOutbox.js'
import { webhookOperations } from './webhooks/operations.js'

export { readConfirmedEntries } from './confirmedEntries.js'
export { type EventsContext, type Feed, moveAll, openFeed } from './feed.js'
export { findNext } from './getEvents.js'
export { lastEventOf } from './storeFeed.js'
export { findEventsHealth } from './storeHealth.js'
export { sweepEvents } from './sweep.js'
export { tellStates } from './tellStates.js'
export { type CreateWebhookInput, createWebhook } from './webhooks/createWebhook.js'
export { deleteWebhook } from './webhooks/deleteWebhook.js'
export { startDeliveries } from './webhooks/deliveries.js'
export { listWebhooks } from './webhooks/listWebhooks.js'
export { replayWebhook } from './webhooks/replayWebhook.js'
export type { Sealing, WebhookContext } from './webhooks/secrets.js'
export { findOrganizationOf, listWebhookRows } from './webhooks/storeWebhooks.js'
export { testWebhook } from './webhooks/testWebhook.js'

/** The operations of events and webhooks. */
export const eventOperations: readonly Operation<EventsContext>[] = [...feedOperations, ...webhookOperations]

/** Writes facts for others, in the transaction that makes them. */
export const tell: Tell = recordFacts
