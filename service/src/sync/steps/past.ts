import type { Database } from '../../postgres/pool.js'
import type { Header, RawBlock } from '../../rpc/raw.js'
import { CursorMoved } from '../failures.js'
import { fetchBlock, fetchRange } from '../fetch.js'
import { recordObservations } from '../observations.js'
import { joinSources } from '../rederive.js'
import type { Standing, State } from '../state.js'
import { listHeadersDown, recordBlocks } from '../storeRaw.js'
import { listSources, noteJoin, recordLines, recordSourceProgress, type SourceProgress } from '../storeSources.js'
import { openWith, watchAlone } from '../taken.js'
import { checksOf, type Reading, type Writing } from './step.js'
import { noteAwaited } from './traces.js'

/** Blocks of one window of the past that are not final: each is asked for by itself, and the head waits meanwhile. */
const unfinalWindow = 32

/**
 * The next step for sources that were added later. `read`: a window of their past, with the headers we hold of it. `join`:
 * they are read as far as the chain and join it. Undefined: nothing to do.
 */
export type PastPlan =
  | { kind: 'read'; group: readonly SourceProgress[]; syncedTo: number; to: number; held: readonly Header[] }
  | { kind: 'join'; group: readonly SourceProgress[]; syncedTo: number; synced: readonly SourceProgress[] }

/** Sources that are furthest behind go first, until they are where the next ones are. */
export async function planPast(
  db: Database,
  state: Pick<State, 'cursor'>,
  window: number,
): Promise<PastPlan | undefined> {
  const { cursor } = state
  // An operator's rewind removes the logs that were read of them, without a notice.
  const sources = await listSources(db, cursor.chainId)
  const pending = sources.filter(({ synced }) => !synced)
  if (pending.length === 0) return undefined
  const syncedTo = Math.min(...pending.map((each) => each.syncedTo))
  const group = pending.filter((each) => each.syncedTo === syncedTo)
  if (syncedTo >= cursor.blockNumber)
    return { kind: 'join', group, syncedTo, synced: sources.filter(({ synced }) => synced) }
  const others = pending.filter((each) => each.syncedTo > syncedTo).map((each) => each.syncedTo)
  const finalized = cursor.finalizedNumber ?? -1
  const reach =
    syncedTo < finalized ? Math.min(syncedTo + window, finalized) : syncedTo + Math.min(window, unfinalWindow)
  const to = Math.min(reach, cursor.blockNumber, ...others)
  const held = await listHeadersDown(db, cursor.chainId, to, to - syncedTo)
  return { kind: 'read', group, syncedTo, to, held }
}

/** Blocks of the past for these sources. Blocks that are not final are read by the hashes we hold, so that they are of our chain. */
export async function readPast(by: Reading, state: State, plan: PastPlan): Promise<readonly RawBlock[]> {
  if (plan.kind === 'join') return []
  const { node } = by
  const range = { from: plan.syncedTo + 1, to: plan.to }
  const list = watchAlone(state.held.taken.full, plan.group)
  if (range.to <= (state.cursor.finalizedNumber ?? -1))
    return (await fetchRange(node, range, list, checksOf(by, state, range))).blocks
  const numbers = Array.from({ length: range.to - range.from + 1 }, (_, index) => range.from + index)
  const headers = await node.listHeaders(numbers)
  const held = new Map(plan.held.map(({ number, hash }) => [number, hash]))
  if (headers.some(({ number, hash }) => (held.get(number) ?? hash) !== hash))
    throw new CursorMoved('the chain moved while a source was read')
  const blocks = await Promise.all(headers.map((header) => fetchBlock(node, header, list)))
  return blocks.filter(({ logs }) => logs.length > 0)
}

/** Stores a window of the past, or joins the sources. */
export async function commitPast(
  to: Writing,
  state: Standing,
  { plan, blocks }: { plan: PastPlan; blocks: readonly RawBlock[] },
): Promise<void> {
  const { tx } = to
  const { chainId } = state.cursor
  const { group, syncedTo } = plan
  if (plan.kind === 'join') {
    await join(to, state, plan)
    await advance(to, state, group, { from: syncedTo, syncedTo: state.cursor.blockNumber, synced: true })
    await noteJoin(tx, chainId)
    return
  }
  await recordBlocks(tx, chainId, blocks, { isWider: true })
  await recordObservations(tx, { chainId, all: state.held.taken.full, blocks })
  await noteAwaited(to, state, blocks, watchAlone(state.held.taken.full, group))
  await advance(to, state, group, { from: syncedTo, syncedTo: plan.to, synced: false })
}

/** Derives the rows of the sources, and stores the configuration of these rows. */
async function join(
  { tx }: Writing,
  { cursor, held }: Standing,
  { group, synced }: Extract<PastPlan, { kind: 'join' }>,
): Promise<void> {
  const { chainId, blockNumber, startBlock } = cursor
  const { full } = held.taken
  const all = openWith(full, [...synced, ...group])
  const from = Math.min(...group.map(({ fromBlock }) => fromBlock))
  const timestamp = (cursor.blockTimestamp?.getTime() ?? 0) / 1000
  const alone = openWith(full, group)
  await joinSources(tx, { chainId, all, alone, joining: group, from, to: blockNumber, timestamp })
  const names = new Set(group.map(({ projection }) => projection))
  for (const { projection, config } of all) {
    const { name } = projection
    if (names.has(name)) await recordLines(tx, { chainId, name, lines: projection.lines(config), startBlock })
  }
}

/** Records progress of sources that are still where they were when their logs were read. */
async function advance(
  { tx }: Writing,
  { cursor }: Standing,
  group: readonly SourceProgress[],
  progress: { from: number; syncedTo: number; synced: boolean },
): Promise<void> {
  const count = await recordSourceProgress(tx, cursor.chainId, group, progress)
  if (count !== group.length) throw new CursorMoved('another process moved the sources')
}
