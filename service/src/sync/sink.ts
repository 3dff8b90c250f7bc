import type { Node } from '../rpc/node.js'
import type { Header, RawBlock } from '../rpc/raw.js'
import type { Checks, Range } from './fetch.js'
import type { ChainState, Cursor } from './storeCursors.js'
import type { WatchList } from './watchList.js'

/**
 * Where blocks go. Each call is one database transaction with the cursor; it throws `CursorMoved` when the cursor is not
 * where the caller believes it to be.
 */
export type Sink = {
  /** Takes up changes of the configuration; answers where the chain stands. `head` starts a chain with nothing to read. */
  refresh(head: Header): Promise<Cursor>
  watchList(): WatchList
  /** Adds to blocks what their contracts are asked at their hashes beside: observations. */
  complete(node: Node, blocks: readonly RawBlock[]): Promise<readonly RawBlock[]>
  append(cursor: Cursor, blocks: readonly RawBlock[], tip: Header): Promise<Cursor>
  /** `byOperator` takes finality back too. */
  rewind(cursor: Cursor, ancestor: { number: number; hash: string }, by?: { byOperator: boolean }): Promise<Cursor>
  /** Progress that does not move the cursor: logs of vaults added later. Answers whether there is more to do. */
  backfill(cursor: Cursor, node: Node, checksOf: (range: Range) => Checks): Promise<boolean>
  /**
   * Looks at some final blocks again, closer at those that are doubted, and repairs what was wrong of them. Answers whether
   * there are more.
   */
  recheck(cursor: Cursor, node: Node, isDoubted: (number: number) => boolean): Promise<boolean>
  /** Takes up traces that came later than their blocks, and asks for more of them beside; the head does not wait for it. */
  takeTraces(cursor: Cursor): Promise<void>
  /** All that was read of the past is to be looked at again: a node was caught leaving something out of it. */
  doubtPast(cursor: Cursor): Promise<void>
  /** Nothing when the cursor is no longer there. */
  recordHead(cursor: Cursor, head: HeadRecord): Promise<void>
  localHash(number: number): Promise<string | undefined>
  listHeadersDown(from: number, count: number): Promise<Header[]>
}

export type HeadRecord = {
  headNumber: number
  finalizedNumber: number | null
  state: ChainState
  reason: string | null
}

export class CursorMoved extends Error {
  override readonly name = 'CursorMoved'
}
