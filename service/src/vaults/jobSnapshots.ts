import type { Context } from '../postgres/context.js'
import { readBlock, readHead } from '../rpc/blocks.js'
import type { Chain, ChainContext } from '../rpc/chains.js'
import type { Header } from '../rpc/raw.js'
import { findBlockAt, readVaultStates } from './snapshots.js'
import {
  findNewestSnapshotBlock,
  type GridVault,
  listGridVaults,
  listVaultsSnapshotAt,
  recordSnapshots,
  removeSnapshotsAt,
} from './store.js'

/**
 * Records, of every vault of every readable chain, the snapshot due on the vault's grid. A chain that does not answer is
 * logged and left as it was.
 */
export async function runSnapshots(ctx: ChainContext): Promise<void> {
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      const vaults = await listGridVaults(ctx.db, chain.chainId)
      if (vaults.length === 0) return
      try {
        const head = await readHead(chain)
        await removeOrphanedSnapshots(ctx, chain, head)
        await recordDueSnapshots(ctx, chain, vaults, head)
      } catch (error) {
        ctx.log.warn({ err: error, chainId: chain.chainId }, 'snapshots of a chain could not be taken')
      }
    }),
  )
}

/**
 * Removes snapshots of blocks the chain has dropped, newest first, until one stands: what lies below it does too, as it
 * was looked at when it was the newest. A block above the head is not judged, for the node may only be behind.
 */
async function removeOrphanedSnapshots(ctx: Pick<Context, 'db' | 'log'>, chain: Chain, head: Header): Promise<void> {
  for (;;) {
    const newest = await findNewestSnapshotBlock(ctx.db, chain.chainId, head.number)
    if (!newest || (await readBlock(chain, newest.number)).hash === newest.hash) return
    ctx.log.info({ chainId: chain.chainId, blockNumber: newest.number }, 'snapshots of a dropped block are removed')
    await removeSnapshotsAt(ctx.db, chain.chainId, newest)
  }
}

/** Records, for every vault, the last block at or before the newest instant of its grid, unless it is there already. */
async function recordDueSnapshots(
  { db }: Pick<Context, 'db'>,
  chain: Chain,
  vaults: readonly GridVault[],
  head: Header,
): Promise<void> {
  for (const interval of new Set(vaults.map((vault) => vault.snapshotIntervalSeconds))) {
    const block = await findBlockAt(chain, head, Math.floor(head.timestamp / interval) * interval)
    if (!block) continue
    const recorded = await listVaultsSnapshotAt(db, chain.chainId, block)
    const due = vaults.filter(
      ({ snapshotIntervalSeconds, startBlock, address }) =>
        snapshotIntervalSeconds === interval && startBlock <= block.number && !recorded.has(address),
    )
    if (due.length === 0) continue
    const states = await readVaultStates(chain, due, block.hash)
    const snapshots = due.flatMap(({ address: vaultAddress }, index) => {
      const figures = states[index]?.figures
      return figures ? [{ chainId: chain.chainId, vaultAddress, block, figures }] : []
    })
    if (snapshots.length > 0) await recordSnapshots(db, snapshots)
  }
}
