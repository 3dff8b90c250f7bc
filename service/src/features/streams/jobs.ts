import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../postgres/context.js'
import { type CatalogueContext, pushStreamAprs, type StreamAprs } from '../catalogue/index.js'
import { listNewest } from './storeReadings.js'
import { listStreams, removeUnsent } from './storeStreams.js'

/** Forgets signed creations that nobody sent while they could be sent. */
export async function sweepUnsent({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const count = await removeUnsent(db)
  if (count > 0) log.info({ count }, 'signed creations of streams that nobody sent are forgotten')
}

/**
 * Pushes into the catalogue the APR of running streams, in percent a year, summed by receipt token. Unchanged figures are not
 * pushed.
 */
export async function runStreamAprs(ctx: CatalogueContext): Promise<void> {
  const now = ctx.clock.now()
  const running = (await listStreams(ctx.db, {})).filter(
    ({ startsAt, endsAt }) => startsAt <= now && (endsAt === null || endsAt > now),
  )
  const { last } = await listNewest(
    ctx.db,
    running.map(({ id }) => id),
  )
  const byToken = new Map<string, StreamAprs>()
  for (const { id, targetChainId, targetToken, pointId } of running) {
    const aprs = byToken.get(`${targetChainId}:${targetToken}`) ?? {}
    byToken.set(`${targetChainId}:${targetToken}`, aprs)
    const type = pointId === null ? 'tokens' : 'points'
    const apr = last.get(id)?.apr ?? null
    const sum = apr === null ? (aprs[type] ?? null) : (aprs[type] ?? 0) + Number(apr) * 100
    aprs[type] = sum === null ? null : Number(sum.toPrecision(12))
  }
  const pushes = [...ctx.catalogue.current().opportunities.values()].flatMap(({ id, vault, streamAprs: shown }) => {
    const streamAprs = byToken.get(`${vault.chainId}:${vault.receiptToken}`) ?? {}
    return isDeepStrictEqual(shown, streamAprs) ? [] : [{ opportunityId: id, streamAprs }]
  })
  await pushStreamAprs(ctx, pushes)
}
