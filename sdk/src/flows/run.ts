import type { World } from '../wallet/world.js'
import { advance } from './advance.js'
import type { Flow } from './flow.js'
import { isLast, isOwn, pauseOf, type Word } from './state.js'

/** Keeps flows between programs: a reload, another tab, a server. Every state is written before the wallet is asked. */
export type Store = {
  get(id: string): Promise<unknown> | unknown
  put(id: string, flow: Flow): Promise<void> | void
}

export type RunOptions = {
  store?: Store | undefined
  /**
   * Runs one function at a time under a name, in all programs that share the store; returns `busy` where another one runs.
   * Web Locks of the page unless given, else a list of this program.
   */
  lock?: (<T>(name: string, run: () => Promise<T>) => Promise<T | 'busy'>) | undefined
  /** Called with each new state. */
  onState?: ((flow: Flow) => void) | undefined
  signal?: AbortSignal | undefined
  /** Waits between two looks; a timer unless given. A page that is hidden waits until it is shown. */
  pause?: ((milliseconds: number) => Promise<unknown>) | undefined
}

/** A flow under way. */
export type Running<F extends Flow> = {
  /** The state it ends with, or stops at until the user says a word: `needs` names the word. */
  done: Promise<F>
  /** Says the word that an open flow asks for meanwhile (`again`). */
  say(word: Word): void
}

/**
 * Advances a flow until it is at its end or needs a word of the user. One flow is run once at a time; a state that the store
 * has of it goes before the one given.
 */
export function run<F extends Flow>(flow: F, world: World, word?: Word, options: RunOptions = {}): Running<F> {
  const { lock = defaultLock } = options
  const said: { word: Word | undefined } = { word }
  const done = lock(`openearn:${flow.id}`, () => loop(flow, world, said, options)).then((found) =>
    found === 'busy' ? flow : found,
  )
  const say = (next: Word) => {
    said.word = next
  }
  return { done, say }
}

async function loop<F extends Flow>(
  given: F,
  world: World,
  said: { word: Word | undefined },
  { store, onState, signal, pause = waitFor }: RunOptions,
): Promise<F> {
  let flow = await findNewest(given, store)
  for (;;) {
    signal?.throwIfAborted()
    const { word } = said
    said.word = undefined
    const next = (await advance(flow, world, word)) as F
    if (next !== flow) {
      await store?.put(next.id, next)
      onState?.(next)
    }
    const isStuck = next.status === flow.status
    // A transaction that may be under way is looked for while the user thinks.
    if (isLast(next) || (next === flow && !said.word) || (isStuck && next.needs && next.needs !== 'again')) return next
    if (isStuck && (next.looks || next.needs === 'again')) await pause(pauseOf(next))
    flow = next
  }
}

/** The state of the store, unless it is the one given: a state that this program made needs no word. */
async function findNewest<F extends Flow>(given: F, store: Store | undefined): Promise<F> {
  const stored = (await store?.get(given.id)) as F | undefined
  if (!stored) {
    await store?.put(given.id, given)
    return given
  }
  return isOwn(given) && JSON.stringify(stored) === JSON.stringify(given) ? given : stored
}

type Page = { hidden?: boolean; addEventListener(name: string, listener: () => void, options: object): void }

/** Nothing is looked for in a tab that nobody sees. */
async function waitFor(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  const page = (globalThis as { document?: Page }).document
  while (page?.hidden)
    await new Promise<void>((resolve) => page.addEventListener('visibilitychange', resolve, { once: true }))
}

const running = new Set<string>()

type Locks = { request(name: string, options: object, run: (lock: unknown) => unknown): Promise<unknown> }

async function defaultLock<T>(name: string, run: () => Promise<T>): Promise<T | 'busy'> {
  const locks = (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks
  if (locks) return locks.request(name, { ifAvailable: true }, (lock) => (lock ? run() : 'busy')) as Promise<T | 'busy'>
  if (running.has(name)) return 'busy'
  running.add(name)
  try {
    return await run()
  } finally {
    running.delete(name)
  }
}
