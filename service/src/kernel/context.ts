import type { Clock } from './clock.js'
import type { Config } from './config.js'
import type { Log } from './log.js'

/**
 * The context that every function receives. Rooms above add their own members with an intersection type (`Context & { chains:
 * Chains }`); nothing is global.
 */
export type Context = {
  readonly clock: Clock
  readonly log: Log
  readonly config: Config
}

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
export type Tell<Tx> = (tx: Tx, facts: readonly Fact[]) => Promise<void>
