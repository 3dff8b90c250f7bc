import type { Queryable } from '../postgres/pool.js'
import { listPricesAt, type PriceObservation, ranks, recordObservation, type TokenKey } from './store.js'

/** USD price of a token at an instant; undefined when there was none. Never looks past the instant. */
export async function findPrice(db: Queryable, token: TokenKey, at: Date): Promise<PriceObservation | undefined> {
  const [found] = await listPricesAt(db, [{ ...token, at }])
  return found
}

/** The same for many tokens of one chain, by lower-case address. */
export async function findPrices(
  db: Queryable,
  chainId: number,
  addresses: readonly string[],
  at: Date,
): Promise<Map<string, PriceObservation>> {
  const asked = [...new Set(addresses)].map((address) => ({ chainId, address, at }))
  const found = await listPricesAt(db, asked)
  return new Map(asked.flatMap(({ address }, index) => (found[index] ? [[address, found[index]] as const] : [])))
}

/** Start of every fixed peg: a peg holds for all time unless the operator says otherwise. */
export const pegStart = new Date(0)

/** Records a fixed peg as an observation; the same peg again adds nothing. */
export async function recordPeg(ctx: { db: Queryable }, token: TokenKey, priceUsd: string): Promise<void> {
  await recordObservation(ctx.db, { ...token, priceUsd, source: 'peg', observedAt: pegStart, rank: ranks.peg })
}
