/**
 * Limits: cost-unit budgets of keys and of the addresses they are used from, token buckets of addresses, and idempotency
 * keys. Owns the tables `budgets`, `address_budgets` and `idempotency_keys`. Has no operations; the server asks it around
 * every one.
 *
 * Idempotency: a request first takes its key by a row of its own, committed at once, so that twins see it and a crash
 * is freed by the lease. The operation then runs with a `ctx.db` whose writes all belong to one transaction, begun by
 * the first of them; the answer is written into the row in that same transaction. So either both are there or neither.
 * `ctx.db.begin` inside such an operation is a savepoint. A request whose lease ran out and whose key was taken by
 * another cannot commit: writing the answer finds its turn gone and everything is undone. A refusal wrote nothing, so it
 * frees the key.
 */
import type { Context } from '../../postgres/context.js'
import { type Budgets, createBudgets } from './budgets.js'
import { createIpBuckets, type IpBuckets } from './ipBuckets.js'
import { createOnce, type Once } from './once.js'

export type { Allowance } from './budget.js'
export { type Charge, sweepAddresses } from './budgets.js'
export { computeFingerprint, parseIdempotencyKey, readHeldUntil } from './idempotency.js'
export { isLoopback, networkOf } from './ipBuckets.js'
export { type NamedRequest, sweepIdempotencyKeys } from './once.js'

export type Limits = { budgets: Budgets; ipBuckets: IpBuckets; once: Once }

/** The limits of one process. */
export function openLimits(ctx: Context): Limits {
  return {
    budgets: createBudgets(ctx),
    ipBuckets: createIpBuckets(ctx.clock, ctx.config.ipLimitPerMinute),
    once: createOnce(ctx),
  }
}
