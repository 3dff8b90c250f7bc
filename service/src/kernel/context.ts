import type { Database } from '../postgres/pool.js'
import type { Clock } from './clock.js'
import type { Config } from './config.js'
import type { Log } from './log.js'

/**
 * What every operation, job and loop is handed. Layers above add what they own with an intersection type
 * (`Context & { chains: Chains }`); nothing is global.
 */
export type Context = {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly config: Config
}
