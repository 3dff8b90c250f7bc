import type { Context } from '../../postgres/context.js'
import { removeUnsent } from './storeStreams.js'

/** Forgets signed creations that nobody sent while they could be sent. */
export async function sweepUnsent({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const count = await removeUnsent(db)
  if (count > 0) log.info({ count }, 'signed creations of streams that nobody sent are forgotten')
}
