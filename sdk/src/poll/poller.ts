import type { EarnClient } from '../client/client.js'
import type { Subject } from './subjects.js'

/** The page of a program that has one; nothing is read while it is hidden. */
type Page = { readonly hidden?: boolean; addEventListener(name: string, listener: () => void, options: object): void }

export type PollerOptions = {
  earn: EarnClient
  /** Waits; a timer unless given. */
  pause?: ((milliseconds: number, signal: AbortSignal) => Promise<unknown>) | undefined
  /** `document` unless given. */
  page?: Page | undefined
}

export type Listener<T> = { onValue(value: T): void; onError?: ((error: unknown) => void) | undefined }

export type Poller = {
  /** Reads a subject now and again; returns what ends it. A second watcher of the same gets the value that is there. */
  watch<T>(subject: Subject<T>, listener: Listener<T>): () => void
  /** Something was done: what is watched is read now, and often for a while. Absent: all. */
  refresh(key?: string): void
}

type Watched = {
  subject: Subject<unknown>
  listeners: Set<Listener<unknown>>
  value: { it: unknown } | undefined
  /** Ends the present wait. */
  wake: () => void
  isRefreshed: boolean
  abort: AbortController
}

/** While less than this part of the key's hour is left, everything is read as much more slowly. */
const low = { part: 0.1, slower: 4 }

/**
 * Reads what several parts of a page show, each thing once for all of them: at once, then in growing pauses, at its first pace
 * again after `refresh`. In a hidden page nothing is read, nor once nobody watches or nothing can change any more. An error is
 * told and does not end it.
 */
export function createPoller({ earn, pause = waitFor, page = defaultPage() }: PollerOptions): Poller {
  const all = new Map<string, Watched>()
  let left = 1
  const client: EarnClient = {
    ...earn,
    onResponse: (info) => {
      const limit = Number(info.headers.get('x-ratelimit-limit'))
      if (info.remaining !== undefined && limit > 0) left = info.remaining / limit
      earn.onResponse?.(info)
    },
  }

  const run = async (watched: Watched): Promise<void> => {
    const { subject, listeners, abort } = watched
    const { first, factor, longest } = subject.pace
    let wait = first
    while (listeners.size > 0) {
      await shown(page)
      if (listeners.size === 0) break
      watched.isRefreshed = false
      try {
        const value = await subject.read(client, abort.signal, watched.value !== undefined)
        if (value !== undefined) {
          watched.value = { it: value }
          for (const { onValue } of listeners) onValue(value)
        }
        if (value !== undefined && subject.isOver?.(value)) break
      } catch (error) {
        if (abort.signal.aborted) break
        for (const { onError } of listeners) onError?.(error)
      }
      if (!watched.isRefreshed) {
        const waking = new AbortController()
        watched.wake = () => waking.abort()
        await pause(left < low.part ? wait * low.slower : wait, AbortSignal.any([waking.signal, abort.signal]))
      }
      wait = watched.isRefreshed ? first : Math.min(wait * factor, longest)
    }
    forget(watched)
  }
  /** Another one may have its key by now. */
  const forget = (watched: Watched) => {
    if (all.get(watched.subject.key) === watched) all.delete(watched.subject.key)
  }
  const begin = (subject: Subject<unknown>): Watched => {
    const watched: Watched = {
      ...{ subject, listeners: new Set(), value: undefined, wake: () => undefined, isRefreshed: false },
      abort: new AbortController(),
    }
    all.set(subject.key, watched)
    return watched
  }

  return {
    watch: (subject, listener) => {
      const known = all.get(subject.key)
      const watched = known ?? begin(subject as Subject<unknown>)
      // Each its own, also of one listener that is given twice.
      const own: Listener<unknown> = {
        onValue: (value) => listener.onValue(value as never),
        onError: (error) => listener.onError?.(error),
      }
      watched.listeners.add(own)
      if (!known) void run(watched)
      else if (known.value) own.onValue(known.value.it)
      return () => {
        watched.listeners.delete(own)
        if (watched.listeners.size > 0) return
        forget(watched)
        watched.abort.abort()
      }
    },
    refresh: (key) => {
      for (const watched of all.values())
        if (key === undefined || watched.subject.key === key) {
          watched.isRefreshed = true
          watched.wake()
        }
    },
  }
}

const defaultPage = (): Page | undefined => (globalThis as { document?: Page }).document

/** Waits until a page is seen. */
async function shown(page: Page | undefined): Promise<void> {
  while (page?.hidden)
    await new Promise<void>((resolve) => page.addEventListener('visibilitychange', resolve, { once: true }))
}

const waitFor = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
