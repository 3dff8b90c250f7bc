/**
 * Limits: cost-unit budgets of keys and of the addresses they are used from, token buckets of addresses, and idempotency
 * keys. Owns the tables `budgets`, `address_budgets` and `idempotency_keys`. The server asks it around every operation; its
 * own one shows a caller the key, with what is used of it.
 *
 * Idempotency: a request takes its key by a row of its own, committed at once, so that twins see it and a crash is freed
 * by the lease. The operation then decides, and the server runs its `write` and keeps the answer in one transaction:
 * either both are there or neither. A request whose lease ran out and whose key was taken by another cannot commit: it
 * finds its lease gone, and everything is undone. A refusal wrote nothing, so it frees the key.
 */
import type { Context } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'
import { type Budgets, createBudgets } from './budgets.js'
import { createIdempotencyRecords, type IdempotencyRecords } from './idempotencyRecords.js'
import { createIpBuckets, type IpBuckets } from './ipBuckets.js'
import { type LastEventOf, markWrite } from './store.js'

export type { Allowance } from './budget.js'
export { type Charge, sweepAddresses } from './budgets.js'
export { getKeyOperation, type KeyContext } from './getKey.js'
export { computeFingerprint, parseIdempotencyKey, readHeldUntil } from './idempotency.js'
export { type IdempotencyRecords, type IdempotentRequest, sweepIdempotencyKeys } from './idempotencyRecords.js'
export { isLoopback, networkOf } from './ipBuckets.js'

export { tellBudgets } from './tellBudgets.js'

export type Limits = {
  budgets: Budgets
  ipBuckets: IpBuckets
  idempotency: IdempotencyRecords
  /** Marks that a key writes, last in the transaction of the write; absent where no replica is read. */
  markWrite?: ((tx: Transaction, keyId: string) => Promise<void>) | undefined
}

/** The limits of one process. With `lastEventOf` charges tell what their key may have seen, and writes are marked. */
export function openLimits(ctx: Context, { lastEventOf }: { lastEventOf?: LastEventOf | undefined } = {}): Limits {
  return {
    budgets: createBudgets({ ...ctx, lastEventOf }),
    markWrite: lastEventOf && markWrite,
    ipBuckets: createIpBuckets(ctx.clock, ctx.config.ipLimitPerMinute),
    idempotency: createIdempotencyRecords(ctx),
  }
}
