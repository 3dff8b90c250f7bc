import { OutboundError } from '../kernel/outbound.js'
import { RpcError } from '../rpc/rpc.js'
import type { Range } from './fetch.js'

/** Reads a range of blocks in order, in windows as large as the node accepts. */
export async function* readInRanges<Answer>(
  { from, to }: Range,
  read: (range: Range) => Promise<Answer>,
): AsyncGenerator<Answer> {
  let size = to - from + 1
  for (let next = from; next <= to; ) {
    const range = { from: next, to: Math.min(to, next + size - 1) }
    let answer: Answer
    try {
      answer = await read(range)
    } catch (error) {
      // Nodes refuse long ranges in many ways; a range of one block is not too long.
      if (!(error instanceof RpcError || error instanceof OutboundError) || range.from === range.to) throw error
      size = Math.ceil((range.to - range.from + 1) / 4)
      continue
    }
    next = range.to + 1
    size *= 2
    yield answer
  }
}
