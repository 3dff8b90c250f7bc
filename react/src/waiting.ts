type Page = { hidden?: boolean; addEventListener(name: string, listener: () => void, options: object): void }

/** A pause that ends early where somebody has something to say. In a page that nobody sees it lasts until the page is shown. */
export function createPause(signal: AbortSignal) {
  let isWoken = false
  let end: () => void = () => undefined
  signal.addEventListener('abort', () => end(), { once: true })
  const wait = (begin: (resolve: () => void) => void) =>
    new Promise<void>((resolve) => {
      end = resolve
      if (isWoken || signal.aborted) resolve()
      else begin(resolve)
    })
  const pause = async (milliseconds: number): Promise<void> => {
    const page = (globalThis as { document?: Page }).document
    let timer: ReturnType<typeof setTimeout> | undefined
    await wait((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    })
    clearTimeout(timer)
    while (page?.hidden && !isWoken && !signal.aborted)
      await wait((resolve) => page.addEventListener('visibilitychange', resolve, { once: true }))
    isWoken = false
  }
  const wake = () => {
    isWoken = true
    end()
  }
  return { pause, wake }
}

type Locks = { request<T>(name: string, options: object, run: () => Promise<T>): Promise<T> }

/** One program at a time under a name: a tab waits until the other one that runs the flow is closed, and goes on from there. */
export const createLock =
  (signal: AbortSignal) =>
  <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const locks = (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks
    return locks ? locks.request(name, { signal }, run) : run()
  }
