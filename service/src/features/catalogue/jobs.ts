import { createOutbound } from '../../kernel/outbound.js'
import type { Context, TellStates } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { findPrices } from '../../prices/index.js'
import { type Chain, type ChainContext, openChain } from '../../rpc/chains.js'
import { listChainSettings } from '../../rpc/storeChains.js'
import { writeVaults } from '../../vaults/configured/index.js'
import type { CatalogueContext } from './catalogue.js'
import { listCapabilityPushes } from './jobCapability.js'
import { type KeptTrials, type Observed, readStates, tryStates } from './jobStates.js'
import { listTvlPushes } from './jobTvl.js'
import { computeLpFloor } from './lpFloor.js'
import { buildSnapshot } from './memory/snapshot.js'
import type { OpportunityRecord } from './opportunityRecord.js'
import { bumpLiveVersion, readCatalogue } from './store.js'
import {
  type DeltasPush,
  type StreamAprsPush,
  updateCapabilities,
  updateDeltas,
  updateStreamAprs,
  updateTvl,
} from './storePushes.js'
import { tellCapabilities } from './tellCapabilities.js'

export type CatalogueJobContext = CatalogueContext & ChainContext

/**
 * Reads every vault of every readable chain and pushes its capability and TVL into the catalogue. A chain that does not
 * respond is logged and skipped. `kept` holds the results of trials between two runs; without it all vaults are tried.
 */
export async function runCapabilityAndTvl(ctx: CatalogueJobContext, kept: KeptTrials = new Map()): Promise<void> {
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      const opportunities = [...ctx.catalogue.current().opportunities.values()].filter(
        (record) => record.chainId === chain.chainId,
      )
      if (opportunities.length > 0) await readChain(ctx, chain, opportunities, kept)
    }),
  )
}

/** The same as a job, which keeps what trials concluded from one run to the next. */
export function createCapabilityJob(tellStates?: TellStates): (ctx: CatalogueJobContext) => Promise<void> {
  const kept: KeptTrials = new Map()
  return async (ctx) => {
    await runCapabilityAndTvl(ctx, kept)
    if (tellStates) await tellCapabilities(ctx, tellStates)
  }
}

/**
 * Reads the vaults that were imported and never read, so that none is shown without what it holds and allows until a job
 * comes to it. A chain that does not answer, or has no node, is left to the job.
 */
export async function readNewVaults(ctx: Context): Promise<void> {
  const snapshot = buildSnapshot(await readCatalogue(ctx.db))
  const records = [...snapshot.opportunities.values()].filter(({ capability }) => capability === null)
  const settings = await listChainSettings(ctx.db)
  const outbound = createOutbound(ctx.clock)
  await Promise.all(
    settings.map(async (stored) => {
      const { chainId } = stored
      const opportunities = records.filter((record) => record.chainId === chainId)
      const rpcUrls = ctx.config.rpcUrls.get(chainId) ?? stored.rpcUrls
      if (opportunities.length === 0 || rpcUrls.length === 0) return
      const read = await readChain(ctx, openChain(outbound, { ...stored, rpcUrls }), opportunities, new Map())
      if (read) await setLpFloors(ctx, read)
    }),
  )
}

/** Gives new vaults whose entry names no floor one of a cent's worth, where a price of the asset is known. */
async function setLpFloors({ db, clock }: Pick<Context, 'db' | 'clock'>, { observed, prices }: Seen): Promise<void> {
  const rows = observed.flatMap(({ record: { vault }, state: { figures } }) => {
    const price = prices.get(vault.asset)?.priceUsd
    if (vault.lpFloor.length > 0 || price === undefined) return []
    const shares = computeLpFloor({ ...vault, priceUsd: price, figures })
    return shares === undefined ? [] : [{ ...vault, lpFloor: [{ shares: String(shares) }] }]
  })
  if (rows.length > 0) await inTransaction(db, (tx) => writeVaults(tx, rows, clock.now()))
}

/** Reads vaults of one chain; one that does not answer is logged. */
async function readChain(
  ctx: Context,
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  kept: KeptTrials,
): Promise<Seen | undefined> {
  try {
    return await pushStates(ctx, chain, opportunities, kept)
  } catch (error) {
    ctx.log.warn({ err: error, chainId: chain.chainId }, 'the vaults of a chain could not be read')
    return undefined
  }
}

/** Vaults as they were read, and prices by asset. */
type Seen = { observed: readonly Observed[]; prices: Awaited<ReturnType<typeof findPrices>> }

/** Reads the vaults and tries them; pushes changed capabilities and TVL in one transaction. */
async function pushStates(
  ctx: Pick<Context, 'db' | 'clock'>,
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  kept: KeptTrials,
): Promise<Seen> {
  const now = ctx.clock.now()
  const assets = opportunities.map((record) => record.vault.asset)
  const [observed, prices] = await Promise.all([
    readStates(chain, opportunities).then((read) => tryStates(chain, read, kept, now)),
    findPrices(ctx.db, chain.chainId, assets, now),
  ])
  const capabilities = listCapabilityPushes(observed, now)
  const tvls = listTvlPushes(observed, prices, now)
  if (capabilities.length === 0 && tvls.length === 0) return { observed, prices }
  await inTransaction(ctx.db, async (tx) => {
    if (capabilities.length > 0) await updateCapabilities(tx, capabilities)
    if (tvls.length > 0) await updateTvl(tx, tvls)
    await bumpLiveVersion(tx)
  })
  return { observed, prices }
}

/** Takes the movements computed by those who keep history; every process shows them from its next snapshot on. */
export async function pushDeltas(ctx: Pick<CatalogueContext, 'db'>, pushes: readonly DeltasPush[]): Promise<void> {
  if (pushes.length === 0) return
  await inTransaction(ctx.db, async (tx) => {
    await updateDeltas(tx, pushes)
    await bumpLiveVersion(tx)
  })
}

/** Takes what the streams pay that run on receipt tokens, as pushDeltas takes movements. */
export async function pushStreamAprs(
  ctx: Pick<CatalogueContext, 'db'>,
  pushes: readonly StreamAprsPush[],
): Promise<void> {
  if (pushes.length === 0) return
  await inTransaction(ctx.db, async (tx) => {
    await updateStreamAprs(tx, pushes)
    await bumpLiveVersion(tx)
  })
}
