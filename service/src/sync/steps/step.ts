import type { Clock } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import type { Transaction } from '../../postgres/pool.js'
import type { Node } from '../../rpc/node.js'
import type { Header, RawBlock } from '../../rpc/raw.js'
import type { Tracer } from '../../rpc/tracer.js'
import type { DerivedBlocks, Tell } from '../apply.js'
import type { Checks, Range } from '../fetch.js'
import type { Observations } from '../projection.js'
import type { State } from '../state.js'

/** How traces of a chain are requested. */
export type Tracing = { tracer: Tracer; waitSeconds: number; trusts: boolean }

/** Work of other rooms in the transaction of the derived rows. */
export type Reaction = {
  name: string
  onBlocks?(tx: Transaction, chainId: number, blocks: readonly RawBlock[], rows: DerivedBlocks): Promise<void>
  onRewind?(tx: Transaction, chainId: number, ancestor: number): Promise<void>
  /** At the end of the transaction of every step. */
  onWritten?(tx: Transaction, chain: Written): Promise<void>
}

/** A chain as a step has left it. */
export type Written = {
  chainId: number
  /** The last derived block, and the last one that is confirmed. */
  tip: number
  confirmedTo: number
  /** The head of the node as the step saw it. */
  head: number
}

/** Input of the reading half of a step: nodes, and no database. */
export type Reading = {
  node: Node
  tracing?: Tracing | undefined
  clock: Clock
  log: Log
  /** Chooses the blocks of the past that are checked against receipts. */
  random: () => number
  /** Most blocks of a window of the past. */
  windowMax: number
  /** How long after a contradiction, or a window of the past, final blocks are not looked at again. */
  calmMs: number
}

/** Input of the writing half: one transaction, and no node. */
export type Writing = {
  tx: Transaction
  clock: Clock
  log: Log
  tracing?: Tracing | undefined
  observed: readonly Observations[]
  reactions: readonly Reaction[]
  /** Absent: nothing is logged. */
  tell?: Tell | undefined
}

/** Blocks above the tip, in order, and the header of the last of them. */
export type Above = { blocks: readonly RawBlock[]; tip: Header }

/** Share of blocks of the deeper past whose logs are compared with header and receipts. */
const checkedShare = 0.01

/** Whether a block of the past is checked closely: all where the node was caught lying, else a share. */
export function isDoubted(
  { random }: Pick<Reading, 'random'>,
  { memory: { suspect } }: State,
  number: number,
): boolean {
  return number <= suspect.to || random() < checkedShare
}

/** Every block since the first start is compared with its header; of the deeper past a share, and all is read twice. */
export function checksOf(by: Pick<Reading, 'random'>, state: State, { from }: Pick<Range, 'from'>): Checks {
  const { followedFrom } = state.cursor
  return { byBloom: (number) => number >= followedFrom || isDoubted(by, state, number), twice: from < followedFrom }
}

/** Final blocks are not looked at again for a while. */
export function waitForCalm({ clock, calmMs }: Pick<Reading, 'clock' | 'calmMs'>, { memory }: State): void {
  memory.suspect.untilMs = clock.monotonicMs() + calmMs
}
