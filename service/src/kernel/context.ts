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
