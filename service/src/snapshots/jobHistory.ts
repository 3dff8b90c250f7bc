import { EarnError } from '../kernel/errors.js'
import { inTransaction } from '../postgres/pool.js'
import { listFeeds, readFeedHistory } from '../prices/index.js'
import { findBlockAt, type ReadBlocks, rememberBlocks } from '../rpc/blockAt.js'
import { readHead } from '../rpc/blocks.js'
import type { Chain, ChainContext } from '../rpc/chains.js'
import type { Header } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { readFigures } from '../vaults/index.js'
import { isWithheld, type Withheld } from './identity.js'
import { pastSeconds, readConfirmed } from './jobSnapshots.js'
import { type GridVault, listGridVaults, type NewSnapshot, recordSnapshots } from './store.js'
import { closeGaps, dropGaps, type Gap, listHistoryProgress, listNewestGaps, recordFailedGaps } from './storeGaps.js'
import { listWithheld } from './storeIdentities.js'

/** How long one run goes on, so that a service that stops does not wait for it. */
const runMs = 3_000
/** Instants that are read side by side. */
const lanes = 4
/** Instants that could not be read are looked at again after this long: a node may become an archive. */
const retryMs = 3_600_000

/**
 * Reads what lies unread of the vaults' grids, newest first, for a moment: the next run goes on where this one ended, after
 * a restart too. Instants a node cannot read, having no archive, stay noted with the reason.
 */
export async function runHistory(ctx: ChainContext, options: { runMs?: number } = {}): Promise<void> {
  const endMs = ctx.clock.monotonicMs() + (options.runMs ?? runMs)
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      try {
        const before = await countUnread(ctx, chain)
        if (before === 0) return
        const blocks = rememberBlocks(chain)
        let more = true
        while (more && ctx.clock.monotonicMs() < endMs) more = await readNewestGaps(ctx, chain, blocks)
      } catch (error) {
        ctx.log.warn({ err: error, chainId: chain.chainId }, 'the past of the vaults of a chain could not be read')
      }
    }),
  )
}

/** Reads the past of price feeds, as far back as vaults are read, and prices by it what waits for a price. */
export async function runFeedHistory(ctx: ChainContext, options: { runMs?: number } = {}): Promise<void> {
  const endMs = ctx.clock.monotonicMs() + (options.runMs ?? runMs)
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      try {
        if ((await listFeeds(ctx.db, chain.chainId)).length === 0) return
        const top = await readConfirmed(chain, await readHead(chain))
        if (!top) return
        const since = top.timestamp - pastSeconds
        while ((await readFeedHistory(ctx, chain, { top, since })) && ctx.clock.monotonicMs() < endMs);
      } catch (error) {
        ctx.log.warn({ err: error, chainId: chain.chainId }, 'the past of price feeds could not be read')
      }
    }),
  )
}

async function countUnread({ db }: ChainContext, { chainId }: Chain): Promise<number> {
  return (await listHistoryProgress(db)).find((each) => each.chainId === chainId)?.unread ?? 0
}

/** Reads the newest missed instants of a chain; returns false if no instant is missing or can be read now. */
async function readNewestGaps(ctx: ChainContext, chain: Chain, blocks: ReadBlocks): Promise<boolean> {
  const { db, clock } = ctx
  const vaults = new Map((await listGridVaults(db, chain.chainId)).map((vault) => [vault.id, vault]))
  const count = Math.max(1, Math.min(32, Math.floor(128 / Math.ceil(vaults.size / 100))))
  const retryBefore = new Date(clock.now().getTime() - retryMs)
  const gaps = await listNewestGaps(db, chain.chainId, { count, retryBefore })
  const [first] = gaps
  if (!first) return false
  const { intervalSeconds } = first
  const newest = Math.max(...gaps.map(({ to }) => to))
  const oldest = Math.max(newest - (count - 1) * intervalSeconds, Math.min(...gaps.map(({ from }) => from)))
  const instants: number[] = []
  for (let at = newest; at >= oldest; at -= intervalSeconds) instants.push(at)
  const top = await readConfirmed(chain, await readHead(chain))
  if (!top) return false
  // Of an instant that is not past the last block is not known.
  const past = instants.filter((at) => at < top.timestamp)
  if (past.length === 0) return false
  const withheld = await listWithheld(
    db,
    chain.chainId,
    gaps.map(({ vaultId }) => vaultId),
  )
  const read = await readInstants(chain, { top, blocks, instants: past, gaps, vaults, withheld })
  const now = clock.now()
  await inTransaction(db, async (tx) => {
    if (read.snapshots.length > 0) await recordSnapshots(tx, read.snapshots)
    if (read.readTo !== undefined) await closeGaps(tx, { gaps, from: read.readTo, now })
    await dropGaps(tx, read.ended)
    await recordFailedGaps(tx, read.failed, { reason: read.reason ?? '', now })
  })
  return true
}

type Instant =
  | { at: number; block: Header; snapshots: NewSnapshot[] }
  | { at: number; block: undefined }
  | { at: number; refused: RpcError }

type ReadPast = {
  snapshots: NewSnapshot[]
  /** The oldest instant read without a hole above it. */
  readTo: number | undefined
  /** Gaps that reach below the first block, or below where the vault begins. */
  ended: Gap[]
  failed: Gap[]
  reason: string | undefined
}

async function readInstants(
  chain: Chain,
  input: {
    top: Header
    blocks: ReadBlocks
    instants: readonly number[]
    gaps: readonly Gap[]
    vaults: ReadonlyMap<number, GridVault>
    withheld: ReadonlyMap<number, readonly Withheld[]>
  },
): Promise<ReadPast> {
  const { top, blocks, instants, gaps, vaults, withheld } = input
  const results = new Map<number, Instant>()
  // Blocks that are further apart than the instants of the grid are read once.
  const figuresAt = new Map<string, ReturnType<typeof readFigures>>()
  const readOnce = (due: readonly GridVault[], hash: string) => {
    const key = [hash, ...due.map(({ id }) => id)].join()
    const reading = figuresAt.get(key) ?? readFigures(chain, due, hash)
    figuresAt.set(key, reading)
    return reading
  }
  const meanSeconds = top.number > 0 ? await estimateBlockSeconds(blocks, top) : 0
  let next = 0
  const work = async () => {
    for (let at = instants[next++]; at !== undefined; at = instants[next++]) {
      const result = await readInstant(chain, { top, blocks, at, gaps, vaults, withheld, meanSeconds, readOnce })
      results.set(at, result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, instants.length) }, work))
  const past: ReadPast = { snapshots: [], readTo: undefined, ended: [], failed: [], reason: undefined }
  for (const at of instants) {
    const result = results.get(at)
    if (!result) break
    if ('refused' in result) {
      past.failed = gaps.filter(({ from, to }) => from <= at && (past.readTo ?? to) >= from && to >= from)
      past.reason = `the node does not answer for the blocks of then: ${result.refused.message}`
      break
    }
    if (!result.block) {
      past.ended = gaps.filter(({ from }) => from <= at)
      break
    }
    past.snapshots.push(...result.snapshots)
    past.readTo = at
    const { number } = result.block
    const begun = past.ended
    past.ended = [...begun, ...gaps.filter((gap) => gap.startBlock > number && gap.to >= at && !begun.includes(gap))]
  }
  return past
}

/** Reads the vaults that miss an instant, at its block. */
async function readInstant(
  chain: Chain,
  input: {
    top: Header
    blocks: ReadBlocks
    at: number
    gaps: readonly Gap[]
    vaults: ReadonlyMap<number, GridVault>
    withheld: ReadonlyMap<number, readonly Withheld[]>
    meanSeconds: number
    /** Figures of vaults at the hash of a block. */
    readOnce(due: readonly GridVault[], hash: string): ReturnType<typeof readFigures>
  },
): Promise<Instant> {
  const { top, blocks, at, gaps, vaults, withheld, meanSeconds, readOnce } = input
  try {
    const block = await findBlockAt(chain, top, at, meanSeconds, blocks)
    if (!block) return { at, block }
    const due = gaps.flatMap(({ vaultId, from, to, startBlock }) => {
      const vault = vaults.get(vaultId)
      const isRead = from <= at && at <= to && startBlock <= block.number
      return vault && isRead && !isWithheld(withheld.get(vaultId), block.number) ? [vault] : []
    })
    if (due.length === 0) return { at, block, snapshots: [] }
    const { figures } = await readOnce(due, block.hash)
    const snapshots = due.flatMap(({ address: vaultAddress }, index) => {
      const found = figures[index]?.figures
      return found ? [{ chainId: chain.chainId, vaultAddress, block, figures: found }] : []
    })
    return { at, block, snapshots }
  } catch (error) {
    if (error instanceof EarnError && error.cause instanceof RpcError) return { at, refused: error.cause }
    throw error
  }
}

/** Seconds between blocks, of the last thousand. */
async function estimateBlockSeconds(blocks: ReadBlocks, top: Header): Promise<number> {
  const back = Math.min(1_000, top.number)
  const earlier = await blocks.read(top.number - back)
  return (top.timestamp - earlier.timestamp) / back
}
