import type { Transaction } from '../postgres/pool.js'
import { applyBlocks } from './apply.js'
import { withObservations } from './observations.js'
import { joinNeeds, type Opened } from './projection.js'
import { findStoredBlockAt, readRawBlocks } from './storeRaw.js'
import { spoilRebuild } from './storeRebuilds.js'
import { listDerivations, nameSource, type SourceName } from './storeSources.js'

const logsMax = 10_000

/**
 * Derives projections, and those that go with them, again from an instant on, from the raw store alone, inside the
 * caller's transaction.
 */
export async function rederive(
  tx: Transaction,
  input: { chainId: number; all: readonly Opened[]; names: ReadonlySet<string>; from: number; to: number },
): Promise<void> {
  const first = await findStoredBlockAt(tx, input.chainId, input.from)
  if (first === undefined || first > input.to) return
  await rederiveFromBlock(tx, { ...input, from: first })
}

/** The same from a block on. */
export async function rederiveFromBlock(
  tx: Transaction,
  input: { chainId: number; all: readonly Opened[]; names?: ReadonlySet<string>; from: number; to: number },
): Promise<void> {
  const { chainId, all, names, from, to } = input
  const opened = names ? joinNeeds(all, names) : all
  const above = { chainId, number: from - 1, tip: to }
  for (const { projection } of opened.toReversed()) await projection.rewind(tx, above, {})
  await spoilRebuild(tx, chainId, from)
  await deriveRaw(tx, { chainId, opened, from, to })
}

/**
 * Adds sources whose past is now in the raw store to the derived rows. If their past concerns only them, it is derived by
 * itself; otherwise all later rows of their projections are derived again.
 */
export async function joinSources(
  tx: Transaction,
  input: {
    chainId: number
    /** All projections with the sources that join, and with these sources alone. */
    all: readonly Opened[]
    alone: readonly Opened[]
    joining: readonly SourceName[]
    from: number
    to: number
    /** Chain time of the last block. */
    timestamp: number
  },
): Promise<void> {
  const { chainId, all, joining, from, to, timestamp } = input
  const names = new Set(joining.map(({ projection }) => projection))
  const alone = input.alone.filter(({ projection }) => names.has(projection.name))
  if (
    !isWholeAlone(alone, joining) ||
    !alone.every(({ projection, config }) => projection.standsAlone?.(config, timestamp))
  ) {
    await rederiveFromBlock(tx, { chainId, all, names, from, to })
    return
  }
  const opened = joinNeeds(all, names).map(
    (each) => alone.find(({ projection }) => projection === each.projection) ?? each,
  )
  // A source that is read again from an earlier block has rows already.
  const beside = new Map(alone.map(({ projection, config }) => [projection.name, config]))
  for (const { projection, config } of opened.toReversed())
    await projection.rewind(tx, { chainId, number: from - 1, tip: to }, { only: config, beside })
  await spoilRebuild(tx, chainId, from)
  await deriveRaw(tx, { chainId, opened, from, to })
}

/** Whether the sources can be derived without others: a second contract of a vault that was known before cannot. */
function isWholeAlone(alone: readonly Opened[], joining: readonly SourceName[]): boolean {
  const read = alone.flatMap(({ projection, config }) =>
    projection.sources(config).flatMap(({ key, beside }) => (beside ? [] : [{ projection: projection.name, key }])),
  )
  const known = new Set(read.map(nameSource))
  return joining.every((each) => known.has(nameSource(each)))
}

async function deriveRaw(
  tx: Transaction,
  input: { chainId: number; opened: readonly Opened[]; from: number; to: number },
): Promise<void> {
  const { chainId, opened, to } = input
  const sources = opened.flatMap(({ projection, config }) => projection.sources(config))
  const addresses = [...new Set(sources.filter(({ beside }) => !beside).flatMap((source) => source.addresses))]
  if (addresses.length === 0) return
  const derivedTo = new Map((await listDerivations(tx, chainId)).map((each) => [each.name, each.derivedTo]))
  for (let from: number | undefined = input.from; from !== undefined; ) {
    const { blocks, next } = await readRawBlocks(tx, { chainId, from, to, logsMax, addresses })
    const told = await withObservations(tx, { chainId, all: opened, blocks })
    let start: number = from
    for (const { end, group } of splitRange(opened, derivedTo, { from, to: next === undefined ? to : next - 1 })) {
      const part = told.filter(({ number }) => number >= start && number <= end)
      await applyBlocks(tx, chainId, group, part)
      start = end + 1
    }
    from = next
  }
}

/** A range in parts, each with the projections that are derived through it: some wait for confirmations before its end. */
export function splitRange(
  opened: readonly Opened[],
  derivedTo: ReadonlyMap<string, number>,
  { from, to }: { from: number; to: number },
): { end: number; group: readonly Opened[] }[] {
  const reach = ({ projection }: Opened) =>
    projection.at === 'head' ? to : Math.min(to, derivedTo.get(projection.name) ?? from - 1)
  const ends = [...new Set([to, ...opened.map(reach)])].filter((end) => end >= from).sort((a, b) => a - b)
  return ends.map((end) => ({ end, group: opened.filter((each) => reach(each) >= end) }))
}
