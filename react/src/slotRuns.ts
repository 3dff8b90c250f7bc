import type { Flow, Word, World } from '@openearn/sdk/flows'
import type { KeptFlows } from './keptFlows.js'
import { createLock, createPause } from './waiting.js'

/** The flows of the sdk: loaded with the first flow, as a page that only shows vaults needs none of it. */
export const load = () => import('@openearn/sdk/flows')
export type Engine = Awaited<ReturnType<typeof load>>

export type SlotState = {
  flow: Flow | undefined
  /** The word that the user is asked for. */
  needs: Word | undefined
  /** Why the flow could not be run at all: its program did not load, or the store is full. A later word tries again. */
  error: unknown
}

type Run = { abort: AbortController; isForgotten: boolean; say: ((word: Word) => void) | undefined; wake: () => void }

/** The state of a slot, which its run and its words change. */
export type Cell = {
  state: SlotState
  set(next: SlotState): void
  /** Whether another flow may begin. */
  isOver: boolean
  /** Whether the wallet is asked only after a word about each request. */
  isReviewed: boolean
  running: Run | undefined
  /** The state about which a word was said: a second click on it says nothing. */
  answered: { flow: Flow; word: Word } | undefined
}

export type Place = {
  world: World
  kept: KeptFlows
  /** A transaction was mined, or a flow came to its end. */
  onDone(): void
}

const done = new Set<string>([
  ...['mined', 'credited', 'requested', 'done', 'mined, not credited', 'filled', 'partially-filled', 'claimed'],
])

/** Ends a run: it asks for nothing more, and what it still brings is not shown. */
export function stop(cell: Cell, run: Run): void {
  run.abort.abort()
  if (cell.running === run) cell.running = undefined
}

/** Shows a state of the flow that runs. With a review the run stops where the wallet is asked next. */
function show(cell: Cell, run: Run, { isLast, isOwn }: Engine, flow: Flow, place: Place): void {
  const { state, isReviewed } = cell
  if (cell.running !== run || (state.flow === flow && !state.error)) return
  cell.isOver = isLast(flow)
  // A stored one is compared first, and asks for a word then.
  const isAsked = isReviewed && flow.status === 'ready' && !flow.needs && isOwn(flow)
  // Before the listeners hear of it: they may say the word at once.
  if (isAsked) stop(cell, run)
  cell.set({ flow, needs: flow.needs ?? (isAsked ? 'go' : undefined), error: undefined })
  if (state.flow?.status !== flow.status && done.has(flow.status)) place.onDone()
}

/** A flow to run. `isKept`: it comes from the store, and is shown once it was compared. */
type Start = { make(engine: Engine): Flow; word?: Word | undefined; isKept?: boolean }

/** Runs a flow until it is at its end or waits for a word. */
export async function start(cell: Cell, place: Place, { make, word, isKept = false }: Start): Promise<void> {
  const abort = new AbortController()
  const { signal } = abort
  const { pause, wake } = createPause(signal)
  const run: Run = { abort, isForgotten: false, say: undefined, wake }
  const { kept, world } = place
  cell.running = run
  let id: string | undefined
  try {
    const engine = await load()
    if (cell.running !== run) return
    const flow = make(engine)
    id = flow.id
    if (!isKept) show(cell, run, engine, flow, place)
    const store = { get: kept.get, put: (_: string, next: Flow) => (run.isForgotten ? undefined : kept.put(next)) }
    const onState = (next: Flow) => show(cell, run, engine, next, place)
    const running = engine.run(flow, world, word, { store, lock: createLock(signal), signal, pause, onState })
    run.say = running.say
    const last = await running.done
    show(cell, run, engine, last, place)
    // A word that came when the run had already stopped.
    const late = cell.answered?.flow === last && last !== flow ? cell.answered.word : undefined
    if (cell.running !== run) return
    cell.answered = undefined
    if (late && !cell.isOver) return await start(cell, place, { make: () => last, word: late })
  } catch (error) {
    if (cell.running !== run) return
    cell.answered = undefined
    const { state } = cell
    if (!state.flow) cell.isOver = true
    // It was kept, and is no flow.
    if (isKept && !state.flow && id !== undefined && error instanceof TypeError) await kept.remove(id)
    else cell.set({ ...state, needs: state.flow && (state.needs ?? 'go'), error })
  } finally {
    if (cell.running === run) cell.running = undefined
  }
}
