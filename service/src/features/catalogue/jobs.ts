import { computeUsd } from '../../kernel/amount.js'
import { inTransaction } from '../../postgres/pool.js'
import { findPrices } from '../../prices/index.js'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import {
  type Block,
  decideByTrial,
  findBlockAt,
  findNewestSnapshotBlock,
  findVaultKind,
  listVaultsSnapshotAt,
  readBlock,
  readHead,
  readVaultStates,
  recordSnapshots,
  removeSnapshotsAt,
  toVault,
  tryVaults,
  type VaultState,
} from '../../vaults/index.js'
import type { CatalogueContext } from './catalogue.js'
import type { OpportunityRecord } from './opportunityRecord.js'
import { bumpLiveVersion } from './store.js'
import {
  type CapabilityPush,
  type DeltasPush,
  type TvlPush,
  updateCapabilities,
  updateDeltas,
  updateTvl,
} from './storePushes.js'

export type CatalogueJobContext = CatalogueContext & ChainContext

/** An unchanged figure is written again after this long, so that its age shows. */
const freshSeconds = 60

/**
 * Reads every vault of every readable chain: what it allows and holds goes to the catalogue, and the snapshot due on
 * the vault's grid is recorded. A chain that does not answer is logged and left as it was.
 */
export async function runCapabilityAndTvl(ctx: CatalogueJobContext): Promise<void> {
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      const opportunities = [...ctx.catalogue.current().opportunities.values()].filter(
        (record) => record.chainId === chain.chainId,
      )
      if (opportunities.length === 0) return
      try {
        const head = await readHead(chain)
        await pushStates(ctx, chain, opportunities, head)
        await removeOrphanedSnapshots(ctx, chain, head)
        await recordDueSnapshots(ctx, chain, opportunities, head)
      } catch (error) {
        ctx.log.warn({ err: error, chainId: chain.chainId }, 'the vaults of a chain could not be read')
      }
    }),
  )
}

async function readStates(
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  block: Block,
): Promise<{ record: OpportunityRecord; state: VaultState }[]> {
  const states = await readVaultStates(
    chain,
    opportunities.map(({ vault }) => vault),
    block.hash,
  )
  return opportunities.flatMap((record, index) => {
    const state = states[index]
    return state ? [{ record, state }] : []
  })
}

/** What the vaults allow is tried: a deposit and its redemption, by a wallet nobody knows. */
async function tryStates(
  chain: Chain,
  read: readonly { record: OpportunityRecord; state: VaultState }[],
  block: Block,
): Promise<{ record: OpportunityRecord; state: VaultState }[]> {
  const tried = read.flatMap(({ record, state }, index) => {
    const kind = findVaultKind(record.vault.kind)
    const { asyncDeposit, asyncWithdraw } = record
    return kind ? [{ index, vault: toVault(record.vault), kind, asyncDeposit, asyncWithdraw, state }] : []
  })
  const trials = await tryVaults(chain, tried, block)
  const byIndex = new Map(tried.map(({ index }, at) => [index, trials[at]]))
  return read.map(({ record, state }, index) => {
    const trial = byIndex.get(index)
    return { record, state: trial ? decideByTrial(state, trial) : state }
  })
}

async function pushStates(
  ctx: CatalogueJobContext,
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  head: Block,
): Promise<void> {
  const now = ctx.clock.now()
  const assets = opportunities.map((record) => record.vault.asset)
  const [states, prices] = await Promise.all([
    readStates(chain, opportunities, head).then((read) => tryStates(chain, read, head)),
    findPrices(ctx.db, chain.chainId, assets, now),
  ])
  const isOld = (at: Date | null | undefined) => !at || now.getTime() - at.getTime() >= freshSeconds * 1000
  const capabilities: CapabilityPush[] = []
  const tvls: TvlPush[] = []
  for (const { record, state } of states) {
    const { figures, maxDeposit, ...allowed } = state
    if (isOld(record.capability?.capabilityAt) || !sameCapability(record, state))
      capabilities.push({ opportunityId: record.id, capability: { ...allowed, capabilityAt: now } })
    const price = prices.get(record.vault.asset)?.priceUsd
    const tvlUsd =
      figures && price !== undefined ? computeUsd(figures.totalAssets, record.vault.assetDecimals, price) : null
    if (isOld(record.analyticsAt) || !sameNumber(record.tvlUsd, tvlUsd))
      tvls.push({ opportunityId: record.id, tvlUsd, analyticsAt: now })
  }
  if (capabilities.length === 0 && tvls.length === 0) return
  await inTransaction(ctx.db, async (tx) => {
    if (capabilities.length > 0) await updateCapabilities(tx, capabilities)
    if (tvls.length > 0) await updateTvl(tx, tvls)
    await bumpLiveVersion(tx)
  })
}

function sameCapability({ capability }: OpportunityRecord, state: VaultState): boolean {
  return (
    capability?.depositOpen === state.depositOpen &&
    capability.withdrawOpen === state.withdrawOpen &&
    capability.depositClosedReason === state.depositClosedReason &&
    capability.withdrawClosedReason === state.withdrawClosedReason
  )
}

function sameNumber(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && Number(a) === Number(b))
}

/**
 * Removes snapshots of blocks the chain has dropped, newest first, until one stands: what lies below it does too, as it
 * was looked at when it was the newest. A block above the head is not judged, for the node may only be behind.
 */
async function removeOrphanedSnapshots(ctx: CatalogueJobContext, chain: Chain, head: Block): Promise<void> {
  for (;;) {
    const newest = await findNewestSnapshotBlock(ctx.db, chain.chainId, head.number)
    if (!newest || (await readBlock(chain, newest.number)).hash === newest.hash) return
    ctx.log.info({ chainId: chain.chainId, blockNumber: newest.number }, 'snapshots of a dropped block are removed')
    await removeSnapshotsAt(ctx.db, chain.chainId, newest)
  }
}

/** Records, for every vault, the last block at or before the newest instant of its grid, unless it is there already. */
async function recordDueSnapshots(
  ctx: CatalogueJobContext,
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  head: Block,
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

/** Takes the movements computed by those who keep history; every process shows them from its next snapshot on. */
export async function pushDeltas(ctx: Pick<CatalogueContext, 'db'>, pushes: readonly DeltasPush[]): Promise<void> {
  if (pushes.length === 0) return
  await inTransaction(ctx.db, async (tx) => {
    await updateDeltas(tx, pushes)
    await bumpLiveVersion(tx)
  })
}
