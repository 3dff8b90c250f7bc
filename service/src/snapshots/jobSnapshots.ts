import { daySeconds } from '../kernel/clock.js'
import type { Context } from '../postgres/context.js'
import { inTransaction } from '../postgres/pool.js'
import { askFeed, type Feed, listFeeds, observeFeed, recordObservations } from '../prices/index.js'
import { findBlockAt } from '../rpc/blockAt.js'
import { readBlock, readHead } from '../rpc/blocks.js'
import type { Chain, ChainContext } from '../rpc/chains.js'
import type { Header } from '../rpc/raw.js'
import { type Cursor, findCursor } from '../sync/storeCursors.js'
import { findVaultKind, readFigures } from '../vaults/index.js'
import { isWithheld } from './identity.js'
import { askTokens, completeIdentities, recordUpgraded } from './jobIdentities.js'
import { recordShares } from './shares.js'
import {
  fillSnapshotPrices,
  findNewestSnapshotBlock,
  type GridVault,
  listGridVaults,
  recordSnapshots,
  removeSnapshotsAbove,
} from './store.js'
import { recordSeen, type Span } from './storeGaps.js'
import { findNewestIdentityBlock, listWithheld, recordIdentities } from './storeIdentities.js'

/** How far back a vault's past is read when it is listed: a year of history and the window before it. */
export const pastSeconds = 400 * daySeconds

/**
 * Records, of every vault of every readable chain, the snapshot due on the vault's grid, with the prices its chain tells at
 * the same block. A chain that does not answer is logged and left as it was.
 */
export async function runSnapshots(ctx: ChainContext): Promise<void> {
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      const listed = await listGridVaults(ctx.db, chain.chainId)
      if (listed.length === 0) return
      try {
        const isDue = !isNothingDue(listed.filter(isIndexed), await findCursor(ctx.db, chain.chainId))
        if (isDue) await takeDue(ctx, chain)
      } catch (error) {
        ctx.log.warn({ err: error, chainId: chain.chainId }, 'snapshots of a chain could not be taken')
      }
      await fillSnapshotPrices(ctx.db, chain.chainId)
    }),
  )
}

async function takeDue(ctx: ChainContext, chain: Chain): Promise<void> {
  const head = await readHead(chain)
  await removeOrphanedSnapshots(ctx, chain, head)
  const top = await readConfirmed(chain, head)
  const vaults = (await listGridVaults(ctx.db, chain.chainId)).filter(isIndexed)
  if (top) await recordDueSnapshots(ctx, chain, vaults, top)
}

/** Whether the chain, as far as it is followed, has not come to the next instant of any vault: then no node is asked. */
function isNothingDue(vaults: readonly GridVault[], cursor: Cursor | undefined): boolean {
  if (cursor?.state !== 'live' || !cursor.blockTimestamp) return false
  const timestamp = Math.floor(cursor.blockTimestamp.getTime() / 1_000)
  return vaults.every(
    ({ seenTo, snapshotIntervalSeconds }) =>
      seenTo !== null && getNewestInstant({ timestamp }, snapshotIntervalSeconds) <= seenTo,
  )
}

/** Of a vault of another kind there is nothing to read. */
function isIndexed({ kind }: GridVault): boolean {
  return kind === undefined || findVaultKind(kind)?.readFigures !== undefined
}

/** The newest block that is as deep as the chain's confirmations. */
export async function readConfirmed(chain: Chain, head: Header): Promise<Header | undefined> {
  const number = head.number - chain.confirmations + 1
  if (number < 0) return undefined
  return number === head.number ? head : readBlock(chain, number)
}

/**
 * Removes snapshots of blocks that the chain has dropped, newest first, until one is still on the chain: those below it were
 * checked when they were the newest. A block above the head is not judged, because the node may only be behind.
 */
async function removeOrphanedSnapshots(ctx: Pick<Context, 'db' | 'log'>, chain: Chain, head: Header): Promise<void> {
  const { chainId } = chain
  for (;;) {
    const observed = await Promise.all([
      findNewestSnapshotBlock(ctx.db, chainId, head.number),
      findNewestIdentityBlock(ctx.db, chainId, head.number),
    ])
    const [newest] = observed.filter((each) => each !== undefined).toSorted((a, b) => b.number - a.number)
    if (!newest || (await readBlock(chain, newest.number)).hash === newest.hash) return
    ctx.log.info({ chainId, blockNumber: newest.number }, 'snapshots of a dropped block are removed')
    await removeSnapshotsAbove(ctx.db, { chainId, number: newest.number - 1 })
  }
}

/** The newest instant of a grid whose last block is known: a later block may still have the time of `top`. */
export function getNewestInstant(top: Pick<Header, 'timestamp'>, intervalSeconds: number): number {
  return Math.floor((top.timestamp - 1) / intervalSeconds) * intervalSeconds
}

/** Records, for every vault, the last block at or before the newest instant of its grid; missed instants are noted. */
async function recordDueSnapshots(
  ctx: Pick<Context, 'db' | 'clock' | 'log'>,
  chain: Chain,
  vaults: readonly GridVault[],
  top: Header,
): Promise<void> {
  await recordUpgraded(ctx, chain, vaults, top)
  for (const interval of new Set(vaults.map((vault) => vault.snapshotIntervalSeconds))) {
    const instant = getNewestInstant(top, interval)
    const open = vaults.filter(
      ({ snapshotIntervalSeconds, seenTo }) => snapshotIntervalSeconds === interval && (seenTo ?? -1) < instant,
    )
    if (open.length === 0) continue
    const block = await findBlockAt(chain, top, instant)
    const due = block ? open.filter(({ startBlock }) => startBlock <= block.number) : []
    if (!block || due.length === 0) continue
    const taken = await takeSnapshots(ctx, chain, due, block)
    const begins = await findBeginning(chain, due)
    const gaps = due.flatMap((vault, index): Span[] => {
      const first = taken.refused.has(index) ? instant : instant - interval
      const from = vault.seenTo === null ? getFirstInstant(instant, begins, interval) : vault.seenTo + interval
      return from <= first ? [{ vaultId: vault.id, from: Math.max(0, from), to: first }] : []
    })
    const vaultIds = due.map(({ id }) => id)
    await inTransaction(ctx.db, (tx) => recordSeen(tx, { vaultIds, instant, gaps, now: ctx.clock.now() }))
  }
}

/** When the first of the vaults that are new began. */
async function findBeginning(chain: Chain, vaults: readonly GridVault[]): Promise<number> {
  const starts = vaults.filter(({ seenTo }) => seenTo === null).map(({ startBlock }) => startBlock)
  return starts.length === 0 ? 0 : (await readBlock(chain, Math.min(...starts))).timestamp
}

/** The oldest instant of a vault's past that is read. */
function getFirstInstant(instant: number, begins: number, interval: number): number {
  return Math.ceil(Math.max(instant - pastSeconds, begins) / interval) * interval
}

/**
 * Reads vaults and price feeds at one block and records what they say. Of a vault that is not what is configured no
 * snapshot is taken.
 */
export async function takeSnapshots(
  { db }: Pick<Context, 'db'>,
  chain: Chain,
  vaults: readonly GridVault[],
  block: Header,
  options: { withFeeds?: boolean } = {},
): Promise<{ refused: ReadonlySet<number>; calls: number; halvings: number }> {
  const { chainId } = chain
  const feeds: Feed[] = options.withFeeds === false ? [] : await listFeeds(db, chainId)
  const read = await readFigures(chain, vaults, block.hash, feeds.map(askFeed), askTokens)
  const named = vaults.map(({ id: vaultId }, index) => ({ vaultId, tokens: read.told[index] }))
  await recordIdentities(db, await completeIdentities(chain, named, block))
  const withheld = await listWithheld(db, chainId)
  const observed = feeds.flatMap((feed, index) => observeFeed(feed, read.besides[index], block))
  await recordObservations(db, observed)
  const snapshots = vaults.flatMap(({ id, address: vaultAddress }, index) => {
    const figures = isWithheld(withheld.get(id), block.number) ? undefined : read.figures[index]?.figures
    return figures ? [{ chainId, vaultAddress, block, figures }] : []
  })
  if (snapshots.length > 0) await recordSnapshots(db, snapshots)
  await recordShares(db, chainId)
  const refused = new Set(read.figures.flatMap(({ isRefused }, index) => (isRefused ? [index] : [])))
  return { refused, calls: read.calls, halvings: read.halvings }
}
