import { admissionConnections } from '../postgres/requests.js'

/** The ways to run that have connections of their own; `watch` follows chains and does all else that is not serving. */
export const ways = ['serve', 'watch', 'watch --chains', 'jobs', 'commit', 'solve'] as const

/** One for changes of the catalogue, one for events. */
const listeners = 2

/** Most connections that `serve` opens to each replica: a pool for operations, and one by which it is asked how far it is. */
export const countReplicaConnections = (poolSize: number): number => poolSize + 1

/** Most connections to the database that a process has, once it runs. `openearn start` is `serve` and `watch`. */
export function countConnections(
  way: (typeof ways)[number],
  { poolSize, chains }: { poolSize: number; chains: number },
): number {
  // A pool for timers, watchers and what is read ahead, another for operations; each listener of an operator has the latter too.
  const usual = 2 * poolSize + Math.min(poolSize, admissionConnections) + listeners
  const watcher = way === 'watch' || way === 'watch --chains' ? 1 : 0
  const solvers = way === 'watch' || way === 'solve' ? chains : 0
  return usual + watcher + solvers
}
