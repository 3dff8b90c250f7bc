/** Functions that look at, or replace, what passes by; in the order in which they were added. */
export type Interceptors<F> = {
  /** An ejected one is null, so that the numbers of the others stay. */
  fns: (F | null)[]
  /** Adds a function; returns its number. */
  use(fn: F): number
  eject(which: number | F): void
  exists(which: number | F): boolean
  update(which: number | F, fn: F): number | F | false
  clear(): void
}

export function createInterceptors<F>(): Interceptors<F> {
  const placeOf = (which: number | F) => (typeof which === 'number' ? which : list.fns.indexOf(which))
  const list: Interceptors<F> = {
    fns: [],
    use: (fn) => list.fns.push(fn) - 1,
    eject: (which) => {
      if (list.exists(which)) list.fns[placeOf(which)] = null
    },
    exists: (which) => !!list.fns[placeOf(which)],
    update: (which, fn) => {
      if (!list.exists(which)) return false
      list.fns[placeOf(which)] = fn
      return which
    },
    clear: () => {
      list.fns = []
    },
  }
  return list
}
