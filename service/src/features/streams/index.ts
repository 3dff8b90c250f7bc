/**
 * Reward streams: what they are created for, what they owe, and how that is claimed. Owns `stream_points`, `streams`,
 * `stream_events`, `stream_operations` and the tables of snapshots and reward files; the operations that create, read and
 * administer streams; the projection of what factories and streams emit; and the jobs that take snapshots and commit roots.
 */
export type { StreamContext } from './context.js'
export { streamOperations } from './operations.js'
export { streams } from './projection.js'
