import type { Flow, Word, World } from '@openearn/sdk/flows'
import type { FlowStore, Kept } from './flowStore.js'
import { createLock, createPause } from './waiting.js'

/** The flows of the sdk: loaded with the first flow, as a page that only shows vaults needs none of it. */
const load = () => import('@openearn/sdk/flows')
export type Engine = Awaited<ReturnType<typeof load>>

export type SlotState = {
  flow: Flow | undefined
  /** The word that the user is asked for. */
  needs: Word | undefined
  /** Why the flow could not be run at all: its program did not load, or the store is full. A later word tries again. */
  error: unknown
}

const nothing: SlotState = { flow: undefined, needs: undefined, error: undefined }
export const getNothing = (): SlotState => nothing

/** Where flows live: the wallet and service of a page, and what happens when one of them has done something. */
export type Place = {
  world: World
  getStore(): FlowStore
  /** A transaction was mined, or a flow came to its end. */
  onDone(): void
}

/** One flow at a time, whichever parts of a page show it. It goes on while none of them does. */
export type Slot = {
  getState(): SlotState
  subscribe(listener: () => void): () => void
  /** Whether the wallet is asked only after a word about each request. */
  setReview(review: boolean): void
  /** Begins a flow; false where one is under way that was not forgotten. */
  begin(make: (engine: Engine) => Flow): boolean
  say(word: Word): void
  forget(): void
  cancel(): Promise<void>
  /** Stops: what was written down goes on when the page is opened again. */
  close(): void
}

type Run = { abort: AbortController; isForgotten: boolean; say: ((word: Word) => void) | undefined; wake: () => void }

const done = new Set([
  'mined',
  'credited',
  'requested',
  'done',
  'mined, not credited',
  'filled',
  'partially-filled',
  'claimed',
])

/** What came to its end is kept so long. */
const dayMs = 86_400_000

export function createSlot(name: string, kind: Flow['kind'], place: Place): Slot {
  const listeners = new Set<() => void>()
  let state = nothing
  let isOver = true
  let isReviewed = false
  let isOpened = false
  let running: Run | undefined
  /** The state about which a word was said: a second click on it says nothing. */
  let answered: { flow: Flow; word: Word } | undefined

  const set = (next: SlotState) => {
    state = next
    for (const listener of listeners) listener()
  }

  /** Shows a state of the flow that runs; answers whether the user has to be asked first. */
  const show = (own: Run, { isLast }: Engine, flow: Flow) => {
    if (running !== own || (state.flow === flow && !state.error)) return
    const isNews = state.flow?.status !== flow.status
    isOver = isLast(flow)
    const isAsked = isReviewed && flow.status === 'ready' && !flow.needs
    // Before the listeners hear of it: they may say the word at once.
    if (isAsked) stop(own)
    set({ flow, needs: flow.needs ?? (isAsked ? 'go' : undefined), error: undefined })
    if (isNews && done.has(flow.status)) place.onDone()
  }
  const stop = (own: Run) => {
    own.abort.abort()
    if (running === own) running = undefined
  }

  const start = async (make: (engine: Engine) => Flow, word?: Word, isKept = false): Promise<void> => {
    const abort = new AbortController()
    const { pause, wake } = createPause(abort.signal)
    const own: Run = { abort, isForgotten: false, say: undefined, wake }
    running = own
    let id: string | undefined
    try {
      const engine = await load()
      if (running !== own) return
      const flow = make(engine)
      id = flow.id
      if (!isKept) show(own, engine, flow)
      const options = {
        ...{ store: storeOf(own, place.getStore()), lock: createLock(abort.signal), signal: abort.signal, pause },
        onState: (next: Flow) => show(own, engine, next),
      }
      const { done: end, say } = engine.run(flow, place.world, word, options)
      own.say = say
      const last = await end
      show(own, engine, last)
      // A word that came when the run had already stopped.
      const late = answered?.flow === last && last !== flow ? answered.word : undefined
      answered = undefined
      if (running === own && late && !isOver) return await start(() => last, late)
    } catch (error) {
      if (running !== own) return
      answered = undefined
      if (!state.flow) isOver = true
      // What was kept and is no flow.
      if (isKept && !state.flow && id !== undefined && error instanceof TypeError)
        await place.getStore().remove(name, id)
      else set({ ...state, needs: state.flow && (state.needs ?? 'go'), error })
    } finally {
      if (running === own) running = undefined
    }
  }

  /**
   * What a run reads and writes. A flow that came to its end stays there: another tab may still show a former state of it, and a
   * word that is said there must not send it again.
   */
  const storeOf = (own: Run, store: FlowStore) => ({
    get: async (id: string) => (await listFlows(store)).find(({ flow }) => flow.id === id)?.flow,
    put: (_: string, flow: Flow) => (own.isForgotten ? undefined : store.put(name, flow)),
  })
  const listFlows = async (store: FlowStore) =>
    (await store.list(name)).filter((kept): kept is Kept & { flow: Flow } => isFlow(kept?.flow))
  const isFlow = (value: unknown): value is Flow =>
    typeof value === 'object' &&
    value !== null &&
    (value as Flow).kind === kind &&
    typeof (value as Flow).id === 'string'

  /** Goes on with the newest flow that is not at its end, where a page before this one left one. */
  const open = async () => {
    const store = place.getStore()
    const kept = await listFlows(store)
    if (kept.length === 0) return
    const { isLast } = await load()
    for (const { at, flow } of kept)
      if (isLast(flow) && Math.abs(Date.now() - at) > dayMs) await store.remove(name, flow.id)
    const found = kept.find(({ flow }) => !isLast(flow))
    if (found && isOver && !running && !state.flow) await start(() => found.flow, undefined, true)
  }

  return {
    getState: () => state,
    subscribe: (listener) => {
      listeners.add(listener)
      if (!isOpened) {
        isOpened = true
        void open().catch((error: unknown) => set({ ...state, error }))
      }
      return () => listeners.delete(listener)
    },
    setReview: (review) => {
      isReviewed = review
    },
    begin: (make) => {
      if (!isOver) return false
      // What was kept and is run by another tab, and shown there.
      if (running) stop(running)
      isOver = false
      if (state !== nothing) set(nothing)
      void start(make)
      return true
    },
    say: (word) => {
      const { flow, needs } = state
      if (!flow || answered?.flow === flow || needs !== word) return
      if (running && !running.say) return
      answered = { flow, word }
      if (running?.say) {
        running.say(word)
        running.wake()
      } else void start(() => flow, word)
    },
    forget: () => {
      const { flow } = state
      if (running) {
        running.isForgotten = true
        stop(running)
      }
      answered = undefined
      if (flow && !isOver) void place.getStore().remove(name, flow.id)
      isOver = true
      if (state !== nothing) set(nothing)
    },
    cancel: async () => {
      const { flow } = state
      if (flow?.kind !== 'order') return
      const { cancelOrder } = await load()
      await cancelOrder(flow, place.world)
    },
    close: () => {
      if (running) stop(running)
    },
  }
}
