import type { Transaction } from '../../postgres/pool.js'
import { isSameSighting, listCarriers, toSighting } from './carriers.js'
import { openDepth } from './depth.js'
import { listSightingsIn, recordSighting } from './storeSightings.js'
import type { AttributionContext, LookedAt } from './transaction.js'

/** Keeps which actions a transaction that was looked at carries; undefined where that is no news. */
export async function keepCarriers(
  ctx: AttributionContext,
  looked: LookedAt,
): Promise<((tx: Transaction) => Promise<void>) | undefined> {
  const carriers = await listCarriers(ctx, looked)
  if (carriers.length === 0) return undefined
  const { chainId, hash } = looked.transaction
  const [{ finalTo }, kept] = await Promise.all([openDepth(ctx, chainId), listSightingsIn(ctx.db, hash, chainId)])
  const news = carriers
    .map(({ action, carrier }) => toSighting(action, carrier, { finalTo, at: ctx.clock.now() }))
    .filter((sighting) => !kept.some((each) => each.actionId === sighting.actionId && isSameSighting(each, sighting)))
  if (news.length === 0) return undefined
  return async (tx) => {
    for (const sighting of news) await recordSighting(tx, sighting)
  }
}
