import type { Queryable } from '../postgres/pool.js'
import { findPriceAt, findPricesAt, type PriceObservation, recordObservation, type TokenKey } from './store.js'

/** USD price of a token at an instant; undefined when nothing was observed by then. Never looks past the instant. */
export async function findPrice(db: Queryable, token: TokenKey, at: Date): Promise<PriceObservation | undefined> {
  return findPriceAt(db, token, at)
}

/** The same for many tokens of one chain, by lower-case address. */
export async function findPrices(
  db: Queryable,
  chainId: number,
  addresses: readonly string[],
  at: Date,
): Promise<Map<string, PriceObservation>> {
  const rows = await findPricesAt(db, chainId, addresses, at)
  return new Map(rows.map(({ address, ...observation }) => [address, observation]))
}

/** Start of every fixed peg: a peg holds for all time unless the operator says otherwise. */
export const pegStart = new Date(0)

/** Records a fixed peg as an observation; the same peg again adds nothing. */
export async function recordPeg(ctx: { db: Queryable }, token: TokenKey, priceUsd: string): Promise<void> {
  await recordObservation(ctx.db, { ...token, priceUsd, source: 'peg', observedAt: pegStart })
}
