import type { Flow, Word, World } from '@openearn/sdk/flows'
import type { FlowStore } from './flowStore.js'
import { openKept } from './keptFlows.js'
import { type Cell, type Engine, load, type SlotState, start, stop } from './slotRuns.js'

export type { Engine, SlotState } from './slotRuns.js'

const nothing: SlotState = { flow: undefined, needs: undefined, error: undefined }
export const getNothing = (): SlotState => nothing

/** The wallet and service of a page, and the store of its flows. */
export type SlotPlace = {
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
  /** Stops. A flow goes on from its last kept state when the page is opened again. */
  close(): void
}

export function createSlot(name: string, kind: Flow['kind'], { world, getStore, onDone }: SlotPlace): Slot {
  const listeners = new Set<() => void>()
  const kept = openKept(name, kind, getStore)
  const place = { world, kept, onDone }
  let isOpened = false
  const cell: Cell = {
    ...{ state: nothing, isOver: true, isReviewed: false, running: undefined, answered: undefined },
    set: (next) => {
      cell.state = next
      for (const listener of listeners) listener()
    },
  }

  /** Goes on with a flow of a page before this one. */
  const open = async () => {
    if (await kept.isEmpty()) return
    const { isLast } = await load()
    const flow = await kept.findOpen(isLast)
    if (flow && cell.isOver && !cell.running && !cell.state.flow)
      await start(cell, place, { make: () => flow, isKept: true })
  }

  return {
    getState: () => cell.state,
    subscribe: (listener) => {
      listeners.add(listener)
      if (!isOpened) {
        isOpened = true
        open().catch((error: unknown) => cell.set({ ...cell.state, error }))
      }
      return () => listeners.delete(listener)
    },
    setReview: (review) => {
      cell.isReviewed = review
    },
    begin: (make) => {
      if (!cell.isOver) return false
      // A kept flow that another tab runs, and shows.
      if (cell.running) stop(cell, cell.running)
      cell.isOver = false
      if (cell.state !== nothing) cell.set(nothing)
      void start(cell, place, { make })
      return true
    },
    say: (word) => {
      const { state, running, answered } = cell
      const { flow, needs } = state
      if (!flow || answered?.flow === flow || needs !== word || (running && !running.say)) return
      cell.answered = { flow, word }
      if (running) {
        running.say?.(word)
        running.wake()
      } else void start(cell, place, { make: () => flow, word })
    },
    forget: () => {
      const { state, running, isOver } = cell
      if (running) {
        running.isForgotten = true
        stop(cell, running)
      }
      cell.answered = undefined
      cell.isOver = true
      if (state.flow && !isOver) void kept.remove(state.flow.id)
      if (state !== nothing) cell.set(nothing)
    },
    cancel: async () => {
      const { flow } = cell.state
      if (flow?.kind !== 'order') return
      const { cancelOrder } = await load()
      await cancelOrder(flow, world)
    },
    close: () => {
      if (cell.running) stop(cell, cell.running)
    },
  }
}
