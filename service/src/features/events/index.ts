/**
 * Events: what is told to others, once and in order. Owns `outbox`, `feed` and `feed_end`. Any room tells facts by the function
 * `tell` that the start hands down; none imports this slice.
 */
import type { Tell } from '../../postgres/context.js'
import { recordFacts } from './storeOutbox.js'

export { type EventsContext, type Feed, moveAll, openFeed } from './feed.js'
export { eventOperations } from './operations.js'

/** Writes facts for others, in the transaction that makes them. */
export const tell: Tell = recordFacts
