import type { Context } from '../../postgres/context.js'
import { pruneFeed } from './storeFeed.js'
import { pruneAttempts } from './webhooks/storeWebhooks.js'

const dayMs = 86_400_000
/** Days that the tries of webhooks are kept. */
const attemptsKeptDays = 30
/** Rows removed in one statement. */
const batch = 5_000

/** Removes events and tries of webhooks that are older than they are kept. */
export async function sweepEvents({ db, clock, config }: Pick<Context, 'db' | 'clock' | 'config'>): Promise<void> {
  const before = (days: number) => new Date(clock.now().getTime() - days * dayMs)
  while ((await pruneFeed(db, before(config.eventsKeptDays), batch)) === batch);
  while ((await pruneAttempts(db, before(attemptsKeptDays), batch)) === batch);
}
