import type { Context as KernelContext } from '../kernel/context.js'
import type { Database } from './pool.js'

/** What every operation, job and loop is handed: the kernel's context and the database. */
export type Context = KernelContext & { readonly db: Database }
