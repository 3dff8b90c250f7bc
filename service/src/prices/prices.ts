import type { Queryable } from '../postgres/pool.js'
import { listPricesAt, type PriceObservation, ranks, recordObservation, type TokenKey } from './store.js'
import { endPegs, findNewestPeg } from './storePegs.js'

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

/**
 * Records a fixed peg as an observation; the same peg again adds nothing. One that had ended holds again from now on.
 */
export async function recordPeg(
  ctx: { db: Queryable },
  token: TokenKey,
  priceUsd: string,
  now: Date = pegStart,
): Promise<void> {
  const newest = await findNewestPeg(ctx.db, token)
  const observedAt = newest && newest.observedAt > pegStart ? now : pegStart
  if (
    newest &&
    newest.observedAt > pegStart &&
    newest.priceUsd !== null &&
    Number(newest.priceUsd) === Number(priceUsd)
  )
    return
  await recordObservation(ctx.db, { ...token, priceUsd, source: 'peg', observedAt, rank: ranks.peg })
}

/** Ends the pegs of tokens that are listed without one: what was priced by then stays. */
export async function recordPegEnds(ctx: { db: Queryable }, tokens: readonly TokenKey[], now: Date): Promise<void> {
  await endPegs(ctx.db, tokens, now)
}
