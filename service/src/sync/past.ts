import type { Node } from '../rpc/node.js'
import type { Header, RawBlock } from '../rpc/raw.js'
import { type Checks, fetchBlock, fetchRange } from './fetch.js'
import { CursorMoved } from './follow.js'
import type { Cursor } from './storeCursors.js'
import type { WatchList } from './watchList.js'

/** Blocks of the past for sources added later. What is not final is read by the hashes we hold, so that it is our chain. */
export async function fetchPast(input: {
  node: Node
  from: number
  to: number
  list: WatchList
  cursor: Cursor
  held: readonly Header[]
  checksOf: (range: { from: number; to: number }) => Checks
}): Promise<RawBlock[]> {
  const { node, from, to, list, cursor, checksOf } = input
  const range = { from, to }
  if (to <= (cursor.finalizedNumber ?? -1)) return (await fetchRange(node, range, list, checksOf(range))).blocks
  const headers = await node.listHeaders(Array.from({ length: to - from + 1 }, (_, index) => from + index))
  const held = new Map(input.held.map(({ number, hash }) => [number, hash]))
  if (headers.some(({ number, hash }) => (held.get(number) ?? hash) !== hash))
    throw new CursorMoved('the chain moved while a source was read')
  const blocks = await Promise.all(headers.map((header) => fetchBlock(node, header, list)))
  return blocks.filter(({ logs }) => logs.length > 0)
}
