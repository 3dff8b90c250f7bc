import { OutboundError } from '../../kernel/outbound.js'
import type { RawBlock } from '../../rpc/raw.js'
import { deepEnd } from '../decide.js'
import { asksTooMuch, ForkFound } from '../failures.js'
import { fetchRange, LogsDiffer, type Range } from '../fetch.js'
import type { State, Window } from '../state.js'
import { type Above, checksOf, type Reading, waitForCalm } from './step.js'

/** Logs a window of the past should bring. */
const logsPerWindow = 10_000
/** Windows that do not grow after a larger one was refused, so that few calls are spent on trying again. */
const steadyWindows = 16

/** The next window of blocks that are final; the one after it is asked for meanwhile. Written as `blocks` are. */
export async function readRange(by: Reading, state: State): Promise<Above> {
  const { cursor, memory } = state
  const { list } = state.held.taken
  await assertTip(by, state)
  const [from, to] = [cursor.blockNumber + 1, deepEnd(state)]
  const { ahead } = memory
  const range = ahead?.from === from && ahead.list === list ? ahead.range : readWindow(by, state, { from, to })
  memory.ahead = undefined
  const { blocks, last } = await range
  if (last.number < to) {
    const next = readWindow(by, state, { from: last.number + 1, to })
    // The consumer sees the failure; until then it must not end the process.
    next.catch(() => undefined)
    memory.ahead = { from: last.number + 1, list, range: next }
  }
  waitForCalm(by, state)
  return { blocks, tip: last }
}

/** The tip must still be the node's block before a range is stored above it without a link. */
async function assertTip({ node }: Reading, { cursor }: State): Promise<void> {
  if (cursor.blockHash === '') return
  const held = await node.findHeader(cursor.blockNumber)
  if (!held) throw new OutboundError('malformed', 'a node does not know a block below its head')
  if (held.hash !== cursor.blockHash) throw new ForkFound()
}

async function readWindow(by: Reading, state: State, { from, to }: Range): Promise<Window> {
  const { memory, cursor } = state
  const { window, suspect } = memory
  for (;;) {
    window.size = Math.min(window.size, by.windowMax)
    const end = Math.min(to, from + window.size - 1)
    try {
      const range = { from, to: end }
      const read = await fetchRange(by.node, range, state.held.taken.list, checksOf(by, state, range))
      adaptWindow(by, state, read.blocks)
      return read
    } catch (error) {
      if (error instanceof LogsDiffer) {
        // With other samples the same response might be believed, as earlier ones were.
        suspect.to = Math.max(suspect.to, end)
        memory.isPastDoubted ||= from < cursor.followedFrom
      }
      if (!asksTooMuch(error) || end === from) throw error
      window.size = Math.max(1, Math.floor((end - from + 1) / 2))
      window.steady = steadyWindows
    }
  }
}

/** Windows aim at a number of logs, so that busy and quiet stretches cost about the same memory and time. */
function adaptWindow({ windowMax }: Reading, { memory: { window } }: State, blocks: readonly RawBlock[]): void {
  const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0)
  if (logs > logsPerWindow * 2) {
    window.size = Math.max(1, Math.floor(window.size / 2))
    return
  }
  window.steady = Math.max(0, window.steady - 1)
  if (window.steady === 0 && logs < logsPerWindow / 2) window.size = Math.min(windowMax, window.size * 2)
}
