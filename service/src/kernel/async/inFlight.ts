/** Runs work under a name; who asks under the same name while it runs gets the same result, a failure included. */
export type InFlight<T> = (name: string, work: () => Promise<T>) => Promise<T>

export function inFlight<T>(): InFlight<T> {
  const running = new Map<string, Promise<T>>()
  return (name, work) => {
    const known = running.get(name)
    if (known) return known
    const begun = work().finally(() => running.delete(name))
    running.set(name, begun)
    return begun
  }
}
