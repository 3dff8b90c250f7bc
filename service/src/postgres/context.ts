import type { Context as KernelContext } from '../kernel/context.js'
import type { Written as KernelWritten } from '../kernel/operation.js'
import type { Database, Queryable, Transaction } from './pool.js'
import type { Seen } from './reading.js'

/**
 * The context of every operation, job and loop: the kernel's context and the database. `seen`: what the caller of a request may
 * have seen of it.
 */
export type Context = KernelContext & { readonly db: Database; readonly seen?: Seen | undefined }

/** The result of an operation that writes, made by `written`. */
export type Written<Body> = KernelWritten<Body, Transaction>

/** Who or what a fact is about. Facts of one subject are told in order. */
export type Subject = {
  kind: 'wallet' | 'opportunity' | 'order' | 'stream' | 'chain' | 'key' | 'webhook'
  id: string
}

/** A fact to tell others. `data` is the wire shape of the operation that reads it, as it is now. */
export type Fact = {
  type: string
  at: Date
  chainId: number | null
  /** It became true long ago, and is only known now. */
  late?: boolean
  subject: Subject
  /** The organization that alone may see it. Absent: every key may. */
  organizationId?: string
  data: unknown
}

/**
 * Tells others of facts, in the transaction that makes them. Call it after the subject's own row is written or locked, so that
 * the facts of a subject are told in the order in which they became true.
 */
export type Tell = (tx: Queryable, facts: readonly Fact[]) => Promise<void>

/** The state of a subject as it is now. `facts` are told when it was another one, or unknown, before. */
export type StateNow = { id: string; state: string; facts(before: string | undefined): readonly Fact[] }

/**
 * Compares states of a group with those that were told last, and tells the facts of those that differ, in one transaction: each
 * change once, in whichever process. `read` reads them in it.
 */
export type TellStates = (
  db: Database,
  group: string,
  read: (tx: Transaction) => Promise<readonly StateNow[]>,
) => Promise<void>
