import { conflict, type EarnError } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import type { Database } from '../../postgres/pool.js'
import { openLateTransaction } from './lateTransaction.js'
import {
  findIdempotencyRow,
  type IdempotencyRow,
  type Name,
  recordAnswer,
  removeExpired,
  removeTurn,
  type Turn,
  takeTurn,
} from './storeIdempotency.js'

/** An answer as it is kept: the status and the exact text, until the time it names itself, if it names one. */
export type KeptAnswer = { status: number; body: string; heldUntil?: Date | undefined }

/** A request by its Idempotency-Key and what it asks. */
export type NamedRequest = Name & { fingerprint: Uint8Array }

/** A request answered before, or one that must not be served now. */
export type Found = { kind: 'answered'; answer: KeptAnswer } | { kind: 'refused'; error: EarnError }

export type Once = {
  /** What became of the key before; undefined when it is free. Writes nothing. */
  find(request: NamedRequest): Promise<Found | undefined>
  /**
   * Takes a key found free and does its work. What the work writes through the database it is given commits together with
   * the answer, or not at all; a refusal frees the key. Throws when another request has taken the key meanwhile.
   */
  run(request: NamedRequest, work: (db: Database) => Promise<KeptAnswer>): Promise<KeptAnswer>
}

const keptMs = 24 * 3_600_000
const leaseMs = 60_000

/** Idempotency keys: of any number of equal requests one does its work, the others repeat its answer. */
export function createOnce(ctx: Pick<Context, 'db' | 'clock' | 'log'>): Once {
  const release = async (turn: Turn) => {
    try {
      await removeTurn(ctx.db, turn)
    } catch (error) {
      // The lease frees it.
      ctx.log.warn({ err: error }, 'an idempotency key could not be freed')
    }
  }
  const take = async ({ fingerprint, ...name }: NamedRequest): Promise<Turn> => {
    const now = ctx.clock.now()
    const turn = { ...name, turn: newId() }
    const leasedUntil = new Date(now.getTime() + leaseMs)
    const times = { now, leasedUntil, expiresAt: new Date(now.getTime() + keptMs) }
    for (;;) {
      if (await takeTurn(ctx.db, turn, times, fingerprint)) return turn
      const row = await findIdempotencyRow(ctx.db, name, now)
      // A twin that came between has its answer by now or soon: it is given to whoever asks again.
      if (row) throw isSame(row, fingerprint) ? stillRunning() : usedOtherwise()
    }
  }
  return {
    find: async ({ fingerprint, ...name }) => {
      const row = await findIdempotencyRow(ctx.db, name, ctx.clock.now())
      if (!row) return undefined
      if (!isSame(row, fingerprint)) return { kind: 'refused', error: usedOtherwise() }
      if (row.status === null || row.body === null) return { kind: 'refused', error: stillRunning() }
      return { kind: 'answered', answer: { status: row.status, body: row.body } }
    },
    run: async (request, work) => {
      const turn = await take(request)
      const late = openLateTransaction(ctx.db)
      try {
        const answer = await work(late.db)
        await late.commit(async (tx) => {
          if (!(await recordAnswer(tx, turn, { heldUntil: undefined, ...answer }))) throw overtaken()
        })
        return answer
      } catch (error) {
        await late.rollback()
        await release(turn)
        throw error
      }
    },
  }
}

function isSame(row: IdempotencyRow, fingerprint: Uint8Array): boolean {
  return Buffer.compare(row.fingerprint, fingerprint) === 0
}

function usedOtherwise(): EarnError {
  return conflict('this Idempotency-Key was used for a different request')
}

const comeBack = { retryAfterSeconds: 1, context: { retryable: true } }

function stillRunning(): EarnError {
  return conflict('a request with this Idempotency-Key is still running; try again shortly', comeBack)
}

function overtaken(): EarnError {
  return conflict('the request took longer than its Idempotency-Key is held; another one took its place', comeBack)
}

/** Removes answers nobody can ask for any more. */
export async function sweepIdempotencyKeys(ctx: Pick<Context, 'db' | 'clock'>): Promise<void> {
  while ((await removeExpired(ctx.db, ctx.clock.now())) > 0);
}
