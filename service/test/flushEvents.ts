import { moveAll } from '../src/features/events/index.js'
import type { Database } from '../src/postgres/pool.js'

/** Moves every committed event into the feed, also where another process is moving them. */
export async function flushEvents(db: Database): Promise<void> {
  for (;;) {
    await moveAll(db)
    const [row] = await db<{ waits: boolean }[]>`select exists (select from outbox) as waits`
    if (!row?.waits) return
  }
}
