import { scanInputs } from '../features/attribution/index.js'
import { runAudits } from '../features/audit/index.js'
import { createCapabilityJob } from '../features/catalogue/index.js'
import { sweepEvents, tell, tellStates } from '../features/events/index.js'
import { runMovements } from '../features/history/index.js'
import { fillLatePrices, settleAmounts } from '../features/ledger/index.js'
import { sweepAddresses, sweepIdempotencyKeys, tellBudgets } from '../features/limits/index.js'
import { sweepAgreements } from '../features/membership/index.js'
import { runUsdDays } from '../features/metrics/index.js'
import { runOrderBook, sweepUnsigned, tellOrders } from '../features/orders/index.js'
import { runShareReadings } from '../features/paid/index.js'
import type { HttpApi } from '../features/plans/index.js'
import { tellRequests, watchHolders } from '../features/positions/index.js'
import { createOrderLook, type OrderSettings } from '../features/solver/index.js'
import { reconcileBalances, tellChains, tellVaults } from '../features/status/index.js'
import {
  runRootWatch,
  runStreamAprs,
  runStreamCommits,
  runStreamSnapshots,
  runStreamTrees,
  sweepUnsent,
  tellStreams,
} from '../features/streams/index.js'
import { fetchProvided, fetchProvidedPast, type PriceProvider } from '../prices/index.js'
import { listNodes } from '../rpc/chains.js'
import { devnetChainId } from '../rpc/devnet.js'
import type { Signer } from '../rpc/signer.js'
import { pastSeconds, runFeedHistory, runHistory, runSnapshots } from '../snapshots/index.js'
import type { ServiceContext } from './operations.js'
import type { Job } from './runJobs.js'
import { createSending } from './sender.js'

/** Every job there is. Running one in several processes at once is wasteful, never wrong. */
export function listJobs(options: {
  capabilitySeconds: number
  streamSeconds?: number | undefined
  provider?: PriceProvider | undefined
  /** Sends the roots of streams; absent: none are sent. */
  committer?: Signer | undefined
  /** How the orders of our own order book are settled; absent: they are only looked at. */
  orders?: OrderSettings
  /** The order book at a url; absent: none is told of orders. */
  orderBooks?: ((url: string) => HttpApi) | undefined
}): readonly Job[] {
  const { provider, committer, orders, orderBooks, streamSeconds } = options
  return [
    {
      name: 'capability and TVL',
      everySeconds: options.capabilitySeconds,
      run: createCapabilityJob(tellStates),
    },
    { name: 'vault snapshots', everySeconds: options.capabilitySeconds, run: runSnapshots },
    { name: 'past of vaults', everySeconds: 1, run: runHistory },
    { name: 'share prices where shares are minted', everySeconds: 2, run: runShareReadings },
    { name: 'past of price feeds', everySeconds: 30, run: runFeedHistory },
    ...(provider
      ? [
          { name: 'prices over HTTP', everySeconds: 300, run: (ctx: ServiceContext) => fetchProvided(ctx, provider) },
          {
            name: 'past of prices over HTTP',
            everySeconds: 30,
            run: (ctx: ServiceContext) => fetchPast(ctx, provider),
          },
        ]
      : []),
    { name: 'reconciliation of balances', everySeconds: 600, run: reconcileBalances },
    { name: viewsJob, everySeconds: 600, run: readViews },
    { name: 'movements of vaults', everySeconds: 240, run: runMovements },
    { name: 'USD-days of whole days', everySeconds: 30, run: countUsdDays },
    { name: 'audits of months', everySeconds: 3_600, run: runAudits },
    { name: 'snapshots of streams', everySeconds: streamSeconds ?? 60, run: takeStreamSnapshots },
    { name: 'trees of streams', everySeconds: streamSeconds ?? 15, run: runStreamTrees },
    { name: 'roots counted again', everySeconds: streamSeconds ?? 15, run: watchRoots },
    {
      // Names of their own: a process without the key must not take the turns of the one that has it.
      name: committer ? 'roots of streams' : 'roots of streams, without a key',
      everySeconds: streamSeconds ?? 15,
      role: 'commit',
      run: (ctx) => commitRoots(ctx, committer),
    },
    { name: 'APR of streams', everySeconds: 60, run: runStreamAprs },
    { name: 'streams nobody sent', everySeconds: 600, run: sweepUnsent },
    ...(committer
      ? [
          {
            ...{ name: 'transactions of our own', everySeconds: 2, atHeads: 'each' as const, role: 'commit' as const },
            run: createSending(committer),
          },
        ]
      : []),
    {
      name: 'orders',
      everySeconds: 1,
      atHeads: 'each',
      role: 'solve',
      run: settleOrders(orders ?? { solver: undefined, costMax: 0n }),
    },
    { name: 'inputs of new blocks', everySeconds: 1, atHeads: 'each', run: scanInputs },
    { name: 'orders nobody signed', everySeconds: 600, run: sweepUnsigned },
    ...(orderBooks
      ? [
          {
            name: 'order books',
            everySeconds: 2,
            atHeads: 'all' as const,
            run: (ctx: ServiceContext) => runOrderBook(ctx, orderBooks),
          },
        ]
      : []),
    { name: 'prices that came late', everySeconds: 60, run: priceLateEntries },
    { name: 'events of chains', everySeconds: 5, run: (ctx) => tellChains(ctx, tellStates) },
    { name: 'events of vaults', everySeconds: 30, run: (ctx) => tellVaults(ctx, tellStates) },
    {
      name: 'events of streams',
      everySeconds: streamSeconds ?? 10,
      run: (ctx) => tellStreams(ctx, { tell, tellStates }),
    },
    { name: 'events of requests', everySeconds: 30, run: (ctx) => tellRequests(ctx, tell) },
    { name: 'events of orders', everySeconds: 1, atHeads: 'all', run: (ctx) => tellOrders(ctx, tell) },
    { name: 'events of budgets', everySeconds: 30, run: (ctx) => tellBudgets(ctx, tellStates) },
    { name: 'old events', everySeconds: 3_600, run: sweepEvents },
    { name: 'expired agreements', everySeconds: 60, run: sweepAgreements },
    { name: 'expired idempotency keys', everySeconds: 60, run: sweepIdempotencyKeys },
    { name: 'what addresses used before', everySeconds: 600, run: sweepAddresses },
  ]
}

function takeStreamSnapshots(ctx: ServiceContext): Promise<void> {
  const { streamSnapshotSeconds: everySeconds, streamUsedUpSeconds: usedUpSeconds } = ctx.config
  return runStreamSnapshots(ctx, { everySeconds, usedUpSeconds })
}

/** The next run counts the days that one run leaves. */
async function countUsdDays(ctx: ServiceContext): Promise<void> {
  await runUsdDays(ctx)
}

/** A few requests a run: free services refuse more than some thirty a minute. */
async function fetchPast(ctx: ServiceContext, provider: PriceProvider): Promise<void> {
  await fetchProvidedPast(ctx, provider, { pastSeconds, requests: 10 })
}

/** By the setting alone: it reads the transfers of a stream's target from the first one on, at each url. */
async function watchRoots(ctx: ServiceContext): Promise<void> {
  const { rootWatch } = ctx.config
  if (rootWatch === undefined) return
  await runRootWatch(ctx, { vetoes: rootWatch === 'veto', nodesOf: (chain) => listNodes(chain, 'roots counted again') })
}

const viewsJob = 'views of holders'

function readViews(ctx: ServiceContext): Promise<void> {
  return watchHolders(ctx, { nodesOf: (chain) => listNodes(chain, viewsJob) })
}

/** Without a key nothing is committed, but a root that is not ours is seen. */
function commitRoots(ctx: ServiceContext, committer: Signer | undefined): Promise<void> {
  const vetoSeconds = ctx.config.vetoSeconds ?? defaultVetoSeconds([...ctx.chains.keys()])
  const costMax = BigInt(ctx.config.commitMaxGwei) * 1_000_000_000n
  return runStreamCommits(ctx, { vetoSeconds, committerOf: () => committer?.address, costMax })
}

/** How long a root waits for a veto where no setting says so: on a devnet alone not at all. */
export function defaultVetoSeconds(chainIds: readonly number[]): number {
  return chainIds.every((chainId) => chainId === devnetChainId) ? 0 : 3_600
}

/** Sends the transactions queued at a block before the next block is looked at, also when a look fails. */
export function settleOrders(settings: OrderSettings): (ctx: ServiceContext) => Promise<void> {
  const look = createOrderLook(settings)
  const send = settings.solver && createSending(settings.solver)
  return async (ctx) => {
    try {
      await look(ctx)
    } finally {
      await send?.(ctx)
    }
  }
}

async function priceLateEntries({ db, chains }: ServiceContext): Promise<void> {
  for (const chainId of chains.keys()) {
    await settleAmounts(db, chainId)
    await fillLatePrices(db, chainId)
  }
}
