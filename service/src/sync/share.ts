/** A process that follows chains, as its session shows it: those it can follow, and those whose lock it has. */
export type Watcher = { pid: number; known: readonly number[]; held: readonly number[] }

/** The other processes that can follow a chain. */
const rivals = (watchers: readonly Watcher[], own: number, chainId: number): Watcher[] =>
  watchers.filter(({ pid, known }) => pid !== own && known.includes(chainId))

const countOf = (watchers: readonly Watcher[], own: number): number =>
  watchers.find(({ pid }) => pid === own)?.held.length ?? 0

/** Whether a free chain is this process's to take at once: no other that can follow it has fewer. */
export function isNext(watchers: readonly Watcher[], own: number, chainId: number): boolean {
  const count = countOf(watchers, own)
  return rivals(watchers, own, chainId).every(({ held }) => held.length >= count)
}

/** Whether to leave a chain to others: one of them then has as many as this process, or fewer. So nothing goes to and fro. */
export function isTooMany(watchers: readonly Watcher[], own: number, chainId: number): boolean {
  const count = countOf(watchers, own)
  return rivals(watchers, own, chainId).some(({ held }) => held.length <= count - 2)
}
