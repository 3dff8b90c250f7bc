import type { Context as KernelContext, Tell as KernelTell } from '../kernel/context.js'
import type { Written as KernelWritten } from '../kernel/operation.js'
import type { Database, Queryable, Transaction } from './pool.js'

/** The context of every operation, job and loop: the kernel's context and the database. */
export type Context = KernelContext & { readonly db: Database }

/** The result of an operation that writes, made by `written`. */
export type Written<Body> = KernelWritten<Body, Transaction>

/** Tells others of facts, in the transaction that makes them. */
export type Tell = KernelTell<Queryable>
