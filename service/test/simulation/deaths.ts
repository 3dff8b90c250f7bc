import type { Transaction } from '../../src/postgres/pool.js'
import type { Random } from './random.js'
import type { Inside, Sink } from './underTest.js'

export class Crash extends Error {
  override readonly name = 'Crash'
}

/**
 * Ways to die around a transaction: in the middle of it, by the loss of the database connection it runs on, and after it
 * was committed but before anybody knew. Keeps the ids of entries that were committed.
 */
export function createDeaths(input: {
  random: Random
  isCrashing: () => boolean
  committed: Set<string>
  /** What happens between the reading and the writing of a step. */
  interrupt: () => Promise<void>
  onLoss: () => void
}): { inside: Inside; wrap: (sink: Sink) => Sink } {
  const { random, isCrashing, committed, interrupt } = input
  let written: readonly string[] = []
  const die = async (tx: Transaction) => {
    if (!isCrashing()) return
    if (random.chance(0.03)) throw new Crash()
    if (!random.chance(0.01)) return
    input.onLoss()
    await tx`select pg_terminate_backend(pg_backend_pid())`
  }
  const forget = (share: number) => {
    if (isCrashing() && random.chance(share)) throw random.chance(0.5) ? new Crash() : new Error('the answer was lost')
  }
  const inside: Inside = {
    onWritten: async (tx, entryIds) => {
      written = entryIds
      await die(tx)
    },
    onRewound: (tx) => die(tx),
  }
  const wrap = (sink: Sink): Sink => ({
    ...sink,
    recordHead: async (...given) => {
      await interrupt()
      return sink.recordHead(...given)
    },
    backfill: async (...given) => {
      await interrupt()
      return sink.backfill(...given)
    },
    append: async (...given) => {
      await interrupt()
      written = []
      const cursor = await sink.append(...given)
      for (const id of written) committed.add(id)
      forget(0.02)
      return cursor
    },
    rewind: async (...given) => {
      await interrupt()
      const cursor = await sink.rewind(...given)
      forget(0.04)
      return cursor
    },
  })
  return { inside, wrap }
}

/** Integrity violations (SQLSTATE class 23), a deadlock, a lock waited for in vain: no fault around the database explains one. */
export function isRejected(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(23|40P01|55P03)/.test(String(error.code))
}
