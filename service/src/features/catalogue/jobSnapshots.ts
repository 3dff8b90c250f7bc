import { readBlock } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import {
  findBlockAt,
  findNewestSnapshotBlock,
  listVaultsSnapshotAt,
  recordSnapshots,
  removeSnapshotsAt,
} from '../../vaults/index.js'
import type { CatalogueContext } from './catalogue.js'
import { readStates } from './jobStates.js'
import type { OpportunityRecord } from './opportunityRecord.js'

/**
 * Removes snapshots of blocks the chain has dropped, newest first, until one stands: what lies below it does too, as it
 * was looked at when it was the newest. A block above the head is not judged, for the node may only be behind.
 */
export async function removeOrphanedSnapshots(ctx: CatalogueContext, chain: Chain, head: Header): Promise<void> {
  for (;;) {
    const newest = await findNewestSnapshotBlock(ctx.db, chain.chainId, head.number)
    if (!newest || (await readBlock(chain, newest.number)).hash === newest.hash) return
    ctx.log.info({ chainId: chain.chainId, blockNumber: newest.number }, 'snapshots of a dropped block are removed')
    await removeSnapshotsAt(ctx.db, chain.chainId, newest)
  }
}

/** Records, for every vault, the last block at or before the newest instant of its grid, unless it is there already. */
export async function recordDueSnapshots(
  ctx: CatalogueContext,
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  head: Header,
): Promise<void> {
  for (const interval of new Set(opportunities.map((record) => record.vault.snapshotIntervalSeconds))) {
    const block = await findBlockAt(chain, head, Math.floor(head.timestamp / interval) * interval)
    if (!block) continue
    const recorded = await listVaultsSnapshotAt(ctx.db, chain.chainId, block)
    const due = opportunities.filter(
      ({ vault }) =>
        vault.snapshotIntervalSeconds === interval && vault.startBlock <= block.number && !recorded.has(vault.address),
    )
    if (due.length === 0) continue
    const states = await readStates(chain, due, block)
    const snapshots = states.flatMap(({ record: { vault }, state: { figures } }) =>
      figures
        ? [
            {
              chainId: chain.chainId,
              vaultAddress: vault.address,
              block,
              figures,
            },
          ]
        : [],
    )
    if (snapshots.length > 0) await recordSnapshots(ctx.db, snapshots)
  }
}
