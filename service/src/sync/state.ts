import type { Clock } from '../kernel/clock.js'
import type { Header, RawBlock, RawTransaction } from '../rpc/raw.js'
import type { Cursor } from './storeCursors.js'
import type { Awaited } from './storeEvidence.js'
import type { Taken } from './taken.js'
import type { WatchList } from './watchList.js'

/** Settings for watching a chain; a subset of `Chain`. */
export type WatchSettings = {
  chainId: number
  confirmations: number
  finalityDepth: number
  reorgRecheckSeconds: number
}

/** Milliseconds between calls of a node other than for its head; both sooner if `againBlocks` wait. */
export type Pace = { finalMs: number; againMs: number; againBlocks: number }

/** A step of a turn; `rest` ends the turn. */
export type Step = 'range' | 'blocks' | 'fork' | 'past' | 'confirm' | 'recheck' | 'traces' | 'rest'

/** Up to where blocks are final, and the hash of the last of them where the node names it. */
export type Final = { number: number | null; hash?: string }

/** The configuration that a process uses, and its version when it was read. */
export type Held = { version: string; taken: Taken }

/** A block that both chains have. The hash is empty below the first block. */
export type Ancestor = { number: number; hash: string }

/** The state of the search for the common ancestor. `first` is the result of the first read, during the second. */
export type Search = { from: number; by: 'first' | 'other' | 'same'; first?: Ancestor }

/**
 * One turn of a chain, as a plain value: its cursor, its head and final block at a node, and the steps done so far.
 * It is loaded when the turn begins; each step gives the next one.
 */
export type State = {
  chain: WatchSettings
  /** As it is stored. From `past` on with the final block by the node's word. */
  cursor: Cursor
  head: Header
  /** The hash that is stored at the height of the head, where the head is not above the tip. */
  hashAtHead?: string | undefined
  /** A step found that the chain has forked. */
  isForked: boolean
  search?: Search
  final: Final
  held: Held
  done: readonly Step[]
  /** Sources or confirmed blocks are left for the next turn. */
  isMore: boolean
  /** Final blocks are left that are to be read again. */
  isMoreToCheck: boolean
  /** Set by a step that ends the turn. */
  result?: TurnResult
  /** Traces are awaited, or it is not stored yet whether nodes give them. */
  areTracesAwaited: boolean
  /** Read before each decision. */
  nowMs: number
  pace: Pace
  memory: Memory
}

/** The part of the state that a step writes on. There is no head where no node was asked. */
export type Standing = Pick<State, 'cursor' | 'held' | 'memory'> & Partial<Pick<State, 'head'>>

/** `progress`: look again at once; `idle`: nothing new; `stalled`: an operator is needed. */
export type TurnResult = 'progress' | 'idle' | 'stalled'

/** A window of the past that is on its way while the one before it is written. */
export type Ahead = { from: number; list: WatchList; range: Promise<Window> }

export type Window = { blocks: readonly RawBlock[]; last: Header }

/** Traces that arrived, and the awaited traces that they end. */
export type Asked = { awaited: readonly Awaited[]; answers: readonly RawTransaction[] }

/**
 * The block up to which every block of the past is checked, because one was found wrong; and the time until which no second
 * look runs: asked at once, a node may repeat its lie.
 */
export type SuspectRange = { to: number; untilMs?: number }

/** Values of a chain that a process keeps between turns. If the process dies, only calls are lost. */
export type Memory = {
  /** Blocks of the next window of the past, and how many windows it does not grow. */
  window: { size: number; steady: number }
  ahead?: Ahead | undefined
  /** Kept from one watcher of a chain to the next. */
  suspect: SuspectRange
  /** A node omitted logs of the past; this is not stored yet. */
  isPastDoubted: boolean
  /** A bloom with bits was seen. */
  makesBlooms: boolean
  /** The last head that was new, and when. */
  moved: { number: number; atMs: number }
  /** The reorganisation that was refused last, by the tip that it would take back. */
  refused?: { tip: string; read: { kind: 'refuse'; reason: string }; atMs: number }
  /** The block a node called final, and when it was asked. */
  told?: { header: Header | undefined; atMs: number }
  /** When final blocks were looked at again, and how many at a time. */
  again: { atMs: number; blocks: number }
  traces: {
    /** The kind of evidence that was stored last in the database. */
    said?: 'trace' | 'calldata'
    /** False once no trace is awaited. True at the start: another process may have left awaited traces. */
    isAnything: boolean
    asking?: Promise<void> | undefined
    asked?: Asked | undefined
  }
  held?: Held
}

/** Blocks of the first window of the past: a busy chain must not bring more than memory holds; a quiet one soon doubles it. */
const firstWindow = 25
/** Final blocks that are looked at again at a time, so that the head does not wait. */
export const recheckBlocksMax = 200

/** The memory of a new process. */
export function createMemory(clock: Pick<Clock, 'monotonicMs'>, suspect: SuspectRange = { to: -1 }): Memory {
  const nowMs = clock.monotonicMs()
  return {
    window: { size: firstWindow, steady: 0 },
    suspect,
    isPastDoubted: false,
    makesBlooms: false,
    moved: { number: -1, atMs: nowMs },
    again: { atMs: nowMs, blocks: recheckBlocksMax },
    traces: { isAnything: true },
  }
}
