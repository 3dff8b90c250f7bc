import type { Context as KernelContext } from '../kernel/context.js'
import type { Written as KernelWritten } from '../kernel/operation.js'
import type { Database, Transaction } from './pool.js'

/** What every operation, job and loop is handed: the kernel's context and the database. */
export type Context = KernelContext & { readonly db: Database }

/** What an operation that writes returns, made by `written`. */
export type Written<Body> = KernelWritten<Body, Transaction>
