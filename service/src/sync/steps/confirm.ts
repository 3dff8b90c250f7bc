import type { Queryable } from '../../postgres/pool.js'
import { applyConfirmed, type Fresh } from '../apply.js'
import type { Opened } from '../projection.js'
import type { Standing } from '../state.js'
import { findConfirmations, listDerivations, recordDerivedTo } from '../storeSources.js'
import type { Writing } from './step.js'

/** Stored logs that are derived at once for projections that wait for confirmations. */
const confirmedLogsMax = 10_000

/** Derives confirmed blocks for the projections that wait for them. Calls no node. Returns whether more is left. */
export function commitConfirm(to: Writing, state: Standing): Promise<boolean> {
  return applyPutOff(to, state, state.cursor.blockNumber)
}

/** The same with the chain at `tip`. `fresh` are the blocks that were derived in this transaction. */
export async function applyPutOff(to: Writing, state: Standing, tip: number, fresh?: Fresh): Promise<boolean> {
  const { tx, tell } = to
  const { chainId } = state.cursor
  const all = state.held.taken.opened
  if (all.every(({ projection }) => projection.at !== 'confirmed')) return false
  const end = await findConfirmedTo(tx, state, tip)
  const derivedTo = new Map((await listDerivations(tx, chainId)).map((each) => [each.name, each.derivedTo]))
  let isMore = false
  for (const { from, late } of groupLate(all, derivedTo)) {
    if (from > end) continue
    const input = { chainId, all, late, from, to: end, logsMax: confirmedLogsMax, fresh, tell }
    const derived = await applyConfirmed(tx, input)
    for (const { projection } of late) await recordDerivedTo(tx, chainId, projection.name, derived)
    isMore ||= derived < end
  }
  return isMore
}

/** The last block of a chain at `tip` that is confirmed or final. */
export async function findConfirmedTo(
  tx: Queryable,
  { cursor }: Pick<Standing, 'cursor'>,
  tip: number,
): Promise<number> {
  const depth = tip - (await findConfirmations(tx, cursor.chainId)) + 1
  return Math.max(depth, Math.min(cursor.finalizedNumber ?? depth, tip))
}

/** Projections that wait for confirmations, those together that go on from the same block. */
function groupLate(all: readonly Opened[], derivedTo: ReadonlyMap<string, number>): { from: number; late: Opened[] }[] {
  const groups = new Map<number, Opened[]>()
  for (const each of all.filter(({ projection }) => projection.at === 'confirmed')) {
    const from = (derivedTo.get(each.projection.name) ?? -1) + 1
    groups.set(from, [...(groups.get(from) ?? []), each])
  }
  return [...groups].map(([from, late]) => ({ from, late }))
}
