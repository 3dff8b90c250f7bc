import type { Clock } from './clock.js'
import type { Config } from './config.js'
import type { Log } from './log.js'

/**
 * What everything is handed. Rooms above add what they own with an intersection type (`Context & { chains: Chains }`);
 * nothing is global.
 */
export type Context = {
  readonly clock: Clock
  readonly log: Log
  readonly config: Config
}
