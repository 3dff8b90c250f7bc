import { computeUsd } from '../../kernel/amount.js'
import { findPrice } from '../../prices/index.js'
import type { TokenRecord } from '../catalogue/index.js'
import type { ActionContext } from '../plans/index.js'

/** The present worth of an amount; undefined without a price or without an amount. */
export async function findValueUsd(
  ctx: ActionContext,
  token: TokenRecord,
  amount: bigint | undefined,
): Promise<string | undefined> {
  const price = amount === undefined ? undefined : await findPrice(ctx.db, token, ctx.clock.now())
  return price && amount !== undefined ? computeUsd(amount, token.decimals, price.priceUsd) : undefined
}
