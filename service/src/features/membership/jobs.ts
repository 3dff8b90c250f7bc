import type { Context } from '../../postgres/context.js'
import { removeExpiredAgreements } from './store.js'

/** Removes agreements nobody can sign any more. */
export async function sweepAgreements(ctx: Context): Promise<void> {
  const count = await removeExpiredAgreements(ctx.db, ctx.clock.now())
  if (count > 0) ctx.log.debug({ count }, 'swept expired agreements')
}
