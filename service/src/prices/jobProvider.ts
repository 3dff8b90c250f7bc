import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import type { Database } from '../postgres/pool.js'
import type { PriceProvider, ProvidedPrice } from './providers.js'
import type { NewObservation, TokenKey } from './store.js'
import { listProvided } from './storeSources.js'
import { recordProvided } from './storeSuspects.js'

/** How long a provider's price holds. */
const validSeconds = 24 * 3_600

/** A provider's price as an observation of a token; a time in the future counts as now. */
export function toObservation(
  { chainId, address }: TokenKey,
  { priceUsd, atSeconds }: ProvidedPrice,
  { source, nowSeconds }: { source: string; nowSeconds: number },
): NewObservation {
  const seconds = Math.min(atSeconds, nowSeconds)
  return {
    ...{ chainId, address, priceUsd, source },
    observedAt: new Date(seconds * 1_000),
    validUntil: new Date((seconds + validSeconds) * 1_000),
  }
}

/**
 * Asks the provider for every token that names an id there, in batches; a batch that fails is logged and leaves the prices
 * as they were.
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
        return [toObservation({ chainId, address }, price, { source: provider.name, nowSeconds })]
      })
      await recordProvided(ctx.db, observations)
    } catch (error) {
      ctx.log.warn({ err: error, ids: batch.length }, `prices of ${provider.name} could not be fetched`)
    }
  }
}
