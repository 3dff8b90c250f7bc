import type { Context } from '../../postgres/context.js'
import { removeUnsigned } from './storeOrders.js'

/** Time after its expiry for which an order that nobody submitted is kept. */
const keptMs = 86_400_000

/** Forgets orders that were built and never submitted, a day after they expired. */
export async function sweepUnsigned({ db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>): Promise<void> {
  const count = await removeUnsigned(db, new Date(clock.now().getTime() - keptMs))
  if (count > 0) log.info({ count }, 'orders that nobody signed are forgotten')
}
