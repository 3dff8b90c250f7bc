import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import type { Database } from '../postgres/pool.js'
import type { PriceProvider } from './providers.js'
import { listProvided } from './storeSources.js'
import { recordProvided } from './storeSuspects.js'

/** How long a provider's price holds. */
const validSeconds = 24 * 3_600

/**
 * Asks the provider for every token that names an id there, in batches; a batch that fails is logged and leaves the prices
 * as they were. What says it is of the future counts as of now.
 */
export async function fetchProvided(
  ctx: { db: Database; clock: Clock; log: Log },
  provider: PriceProvider,
): Promise<void> {
  const tokens = await listProvided(ctx.db)
  const ids = [...new Set(tokens.map(({ priceId }) => priceId))]
  for (let at = 0; at < ids.length; at += provider.batchMax) {
    const batch = ids.slice(at, at + provider.batchMax)
    try {
      const told = new Map((await provider.fetchPrices(batch)).map((price) => [price.priceId, price]))
      const nowSeconds = Math.floor(ctx.clock.now().getTime() / 1_000)
      const observations = tokens.flatMap(({ chainId, address, priceId }) => {
        const price = batch.includes(priceId) ? told.get(priceId) : undefined
        if (!price) return []
        const seconds = Math.min(price.atSeconds, nowSeconds)
        return [
          {
            ...{ chainId, address, priceUsd: price.priceUsd, source: provider.name },
            observedAt: new Date(seconds * 1_000),
            validUntil: new Date((seconds + validSeconds) * 1_000),
          },
        ]
      })
      await recordProvided(ctx.db, observations)
    } catch (error) {
      ctx.log.warn({ err: error, ids: batch.length }, `prices of ${provider.name} could not be fetched`)
    }
  }
}
