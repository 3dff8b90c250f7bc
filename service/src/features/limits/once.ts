import type { Context } from '../../kernel/context.js'
import type { Database } from '../../kernel/database.js'
import { conflict, type EarnError } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { isKept } from './idempotency.js'
import { openLateTransaction } from './lateTransaction.js'
import { findIdempotencyRow, recordAnswer, removeExpired, removeTurn, type Turn, takeTurn } from './storeIdempotency.js'

/** An answer as it is kept: the status and the exact text. */
export type KeptAnswer = { status: number; body: string }

/** Whether a request may do its work, is answered already, or must not be served now. */
export type Claim =
  | { kind: 'mine'; turn: Turn }
  | { kind: 'answered'; answer: KeptAnswer }
  | { kind: 'refused'; error: EarnError }

export type Once = {
  claim(input: { organizationId: string; key: string; fingerprint: Uint8Array }): Promise<Claim>
  /**
   * Does the work of a claimed turn. What it writes through the database it is given commits together with the answer
   * kept, or not at all. `toAnswer` turns a failure into what the caller will see; kept if it is the operation's own.
   */
  run(
    turn: Turn,
    work: (db: Database) => Promise<KeptAnswer>,
    toAnswer: (error: unknown) => KeptAnswer,
  ): Promise<KeptAnswer>
  /** Gives a claimed turn back, its work not done. */
  release(turn: Turn): Promise<void>
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
  return {
    release,
    claim: async ({ organizationId, key, fingerprint }) => {
      const now = ctx.clock.now()
      const turn = { organizationId, key, turn: newId() }
      const leasedUntil = new Date(now.getTime() + leaseMs)
      const times = { now, leasedUntil, expiresAt: new Date(now.getTime() + keptMs) }
      for (;;) {
        if (await takeTurn(ctx.db, turn, times, fingerprint)) return { kind: 'mine', turn }
        const row = await findIdempotencyRow(ctx.db, organizationId, key)
        // Freed between the two statements: try to take it again.
        if (!row) continue
        if (Buffer.compare(row.fingerprint, fingerprint) !== 0)
          return { kind: 'refused', error: conflict('this Idempotency-Key was used for a different request') }
        if (row.status !== null && row.body !== null)
          return { kind: 'answered', answer: { status: row.status, body: row.body } }
        const text = 'a request with this Idempotency-Key is still running; try again shortly'
        return { kind: 'refused', error: conflict(text, { retryAfterSeconds: 1 }) }
      }
    },
    run: async (turn, work, toAnswer) => {
      const late = openLateTransaction(ctx.db)
      try {
        const answer = await work(late.db)
        await late.commit(async (tx) => {
          if (!(await recordAnswer(tx, turn, answer.status, answer.body)))
            throw conflict('the request took longer than its Idempotency-Key is held; another one took its place')
        })
        return answer
      } catch (error) {
        await late.rollback()
        const answer = toAnswer(error)
        if (!isKept(answer.status) || !(await recordAnswer(ctx.db, turn, answer.status, answer.body)))
          await release(turn)
        throw error
      }
    },
  }
}

/** Removes answers nobody can ask for any more. */
export async function sweepIdempotencyKeys(ctx: Pick<Context, 'db' | 'clock'>): Promise<void> {
  while ((await removeExpired(ctx.db, ctx.clock.now())) > 0);
}
