/** A function that does its work at the first call; every later call returns the same result, a failure included. */
export function once<T>(work: () => T): () => T {
  let done: { result: T } | undefined
  return () => {
    done ??= { result: work() }
    return done.result
  }
}
