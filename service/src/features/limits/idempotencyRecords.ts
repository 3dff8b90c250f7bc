import { conflict, type EarnError } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'
import { type Standing, standingOf } from './lease.js'
import {
  findRecord,
  type IdempotencyKey,
  insertLease,
  type Lease,
  recordAnswer,
  removeExpired,
  removeLease,
  replaceLease,
} from './storeIdempotency.js'

/** An answer as it is kept: the status and the exact text, until the time it names itself, if it names one. */
export type KeptAnswer = { status: number; body: string; heldUntil?: Date | undefined }

/** A request by its Idempotency-Key and what it asks. */
export type IdempotentRequest = IdempotencyKey & { fingerprint: Uint8Array }

/** A request answered before, or one that must not be served now. */
export type Found = { kind: 'answered'; answer: KeptAnswer } | { kind: 'refused'; error: EarnError }

/** Keeps the answer. To be called last in the transaction that writes. Throws when another request has taken the key. */
export type KeepAnswer = (tx: Transaction, answer: KeptAnswer) => Promise<void>

export type IdempotencyRecords = {
  /** The stored state of the key; undefined if it is free. Writes nothing. */
  find(request: IdempotentRequest): Promise<Found | undefined>
  /**
   * Takes a key found free and does its work, which keeps the answer in the transaction of its writes: both are there or
   * neither. Work that fails frees the key. Throws when another request has taken the key meanwhile.
   */
  run<T>(request: IdempotentRequest, work: (keep: KeepAnswer) => Promise<T>): Promise<T>
}

const keptMs = 24 * 3_600_000
const leaseMs = 60_000

/** Idempotency keys: of any number of equal requests one does its work, the others repeat its answer. */
export function createIdempotencyRecords(ctx: Pick<Context, 'db' | 'clock' | 'log'>): IdempotencyRecords {
  const free = async (lease: Lease) => {
    try {
      await removeLease(ctx.db, lease)
    } catch (error) {
      // It ends by itself.
      ctx.log.warn({ err: error }, 'an idempotency key could not be freed')
    }
  }
  const take = async ({ fingerprint, ...key }: IdempotentRequest): Promise<Lease> => {
    const now = ctx.clock.now()
    const lease = { ...key, turn: newId() }
    const leasedUntil = new Date(now.getTime() + leaseMs)
    const times = { leasedUntil, expiresAt: new Date(now.getTime() + keptMs) }
    for (;;) {
      if (await insertLease(ctx.db, lease, times, fingerprint)) return lease
      const record = await findRecord(ctx.db, key)
      const standing = standingOf(record, fingerprint, now)
      // A second request that came between has its response now or soon; a repetition gets it.
      if (standing.kind !== 'free') throw refuse(standing.kind)
      if (record && (await replaceLease(ctx.db, lease, record, times, fingerprint))) return lease
    }
  }
  return {
    find: async ({ fingerprint, ...key }) => {
      const standing = standingOf(await findRecord(ctx.db, key), fingerprint, ctx.clock.now())
      if (standing.kind === 'free') return undefined
      if (standing.kind === 'answered') return standing
      return { kind: 'refused', error: refuse(standing.kind) }
    },
    run: async (request, work) => {
      const lease = await take(request)
      try {
        return await work(async (tx, answer) => {
          if (!(await recordAnswer(tx, lease, { heldUntil: undefined, ...answer }))) throw overtaken()
        })
      } catch (error) {
        await free(lease)
        throw error
      }
    },
  }
}

const comeBack = { retryAfterSeconds: 1, context: { retryable: true } }

function refuse(kind: Exclude<Standing['kind'], 'free'>): EarnError {
  if (kind === 'taken') return conflict('this Idempotency-Key was used for a different request')
  return conflict('a request with this Idempotency-Key is still running; try again shortly', comeBack)
}

function overtaken(): EarnError {
  return conflict('the request took longer than its Idempotency-Key is held; another one took its place', comeBack)
}

/** Removes expired responses. */
export async function sweepIdempotencyKeys(ctx: Pick<Context, 'db' | 'clock'>): Promise<void> {
  while ((await removeExpired(ctx.db, ctx.clock.now())) > 0);
}
