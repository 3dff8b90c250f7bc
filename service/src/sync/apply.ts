import type { Queryable } from '../postgres/pool.js'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { inPlace, type Opened, type Place } from './projection.js'
import { readRawBlocks } from './storeRaw.js'
import { matchLogs } from './watchList.js'

/** Rows of each projection, one entry a block. */
export type DerivedBlocks = ReadonlyMap<string, readonly unknown[]>

/** A projection at work: its configuration, its state, and which logs are its own. */
export type Deriving = Opened & { state: unknown; isOwn: ((log: RawLog) => boolean) | undefined }

/**
 * Readies projections for work. Each sees the logs of its sources and no others, so that what another one reads changes
 * nothing of its rows; where only one reads, all logs are its own.
 */
export function startDeriving(opened: readonly Opened[], isWhole: boolean): Deriving[] {
  const readers = opened.filter(({ projection, config }) => projection.sources(config).length > 0)
  return opened.map((each) => {
    const { projection, config } = each
    const isOwn = readers.length > 1 ? matchLogs(projection.sources(config)) : undefined
    return { ...each, state: projection.open(isWhole), isOwn }
  })
}

const seenBy = ({ isOwn }: Deriving, block: RawBlock): RawBlock =>
  isOwn ? { ...block, logs: block.logs.filter(isOwn) } : block

/** Lets each projection take up what blocks need of the rows before them. */
export async function loadStates(
  db: Queryable,
  input: { chainId: number; deriving: readonly Deriving[]; blocks: readonly RawBlock[]; place: Place },
): Promise<void> {
  const { chainId, deriving, place } = input
  for (const each of deriving) {
    const blocks = each.isOwn ? input.blocks.map((block) => seenBy(each, block)) : input.blocks
    await each.projection.load(db, { chainId, config: each.config, state: each.state, blocks, place })
  }
}

/** Derives one block by each projection in turn, each with the rows of those before it. */
export function deriveBlock(
  block: RawBlock,
  chainId: number,
  deriving: readonly Deriving[],
  known: ReadonlyMap<string, unknown> = new Map(),
): ReadonlyMap<string, unknown> {
  const results = new Map(known)
  for (const each of deriving) {
    const { projection, config, state } = each
    results.set(projection.name, projection.derive(seenBy(each, block), { chainId, config, state, results }))
  }
  return results
}

/** Derives blocks in order on what the database holds, and writes the rows. */
export async function applyBlocks(
  db: Queryable,
  chainId: number,
  opened: readonly Opened[],
  blocks: readonly RawBlock[],
): Promise<DerivedBlocks> {
  const deriving = startDeriving(opened, false)
  await loadStates(db, { chainId, deriving, blocks, place: inPlace })
  const results = blocks.map((block) => deriveBlock(block, chainId, deriving))
  const derived = new Map<string, unknown[]>()
  for (const { projection, config } of deriving) {
    const rows = results.map((result) => result.get(projection.name))
    await projection.write(db, rows, { chainId, config, place: inPlace, isLive: true })
    derived.set(projection.name, rows)
  }
  return derived
}

/**
 * Derives blocks that are confirmed by now, in [from, to] of the raw store, at most so many logs, with what the projections
 * needed had given of them. Answers up to where it came.
 */
export async function applyConfirmed(
  db: Queryable,
  input: { chainId: number; all: readonly Opened[]; opened: Opened; from: number; to: number; logsMax: number },
): Promise<number> {
  const { chainId, all, opened, from, to, logsMax } = input
  const { projection } = opened
  const { blocks, next } = await readRawBlocks(db, { chainId, from, to, logsMax })
  const end = next === undefined ? to : next - 1
  const started = startDeriving(all, false)
  const recalled = new Map<string, ReadonlyMap<number, unknown>>()
  for (const name of projection.needs) {
    const needed = started.find((each) => each.projection.name === name)
    if (!needed?.projection.recall) throw new Error(`rows of ${name} cannot be recalled for ${projection.name}`)
    const { config } = needed
    const own = blocks.map((block) => seenBy(needed, block))
    recalled.set(name, await needed.projection.recall(db, { chainId, from, to: end, config, blocks: own }))
  }
  const deriving = started.filter((each) => each.projection === projection)
  await loadStates(db, { chainId, deriving, blocks, place: inPlace })
  const rows = blocks.map((block) => {
    const known = new Map([...recalled].map(([name, rowsOf]) => [name, rowsOf.get(block.number)]))
    return deriveBlock(block, chainId, deriving, known).get(projection.name)
  })
  await projection.write(db, rows, { chainId, config: opened.config, place: inPlace, isLive: true })
  return end
}
