import { startDeliveries, tell } from '../features/events/index.js'
import { tellEntries } from '../features/ledger/index.js'
import { createOutbound } from '../kernel/outbound.js'
import { type ChainSettings, openChains } from '../rpc/chains.js'
import type { Signer } from '../rpc/signer.js'
import { listJobs } from './jobs.js'
import { openPriceProvider } from './prices.js'
import { startJobs } from './runJobs.js'
import { readSolverLimits } from './sender.js'
import type { Service } from './service.js'
import type { Shutdown } from './shutdown.js'
import { openOrderBooks } from './swapApis.js'
import { startWatching } from './watch.js'

/**
 * A part of the work that serves nobody. Any number may do the same: a chain has one watcher by its lock, a job one process by
 * its lease, the orders of a chain one by theirs, and a key signs under the lock of its row.
 */
export type Role = 'watch' | 'jobs' | 'commit' | 'solve'
export const allRoles: ReadonlySet<Role> = new Set<Role>(['watch', 'jobs', 'commit', 'solve'])

export type WorkOptions = {
  roles: ReadonlySet<Role>
  shutdown: Shutdown
  chains: readonly ChainSettings[]
  committer: Signer | undefined
  solver: Signer | undefined
  capabilitySeconds?: number | undefined
  streamSeconds?: number | undefined
  finalSeconds?: number | undefined
}

/** Starts the work of these roles, each part until the shutdown. */
export function startWork({ ctx, chainMetrics }: Pick<Service, 'ctx' | 'chainMetrics'>, options: WorkOptions): void {
  const { roles, shutdown, chains, committer, solver } = options
  const { clock, config } = ctx
  if (roles.has('watch')) {
    const { finalSeconds } = options
    const watching = startWatching(ctx, {
      ...{ reactions: [chainMetrics.reaction, tellEntries(tell, clock)], onRetry: chainMetrics.onRetry },
      ...(finalSeconds === undefined ? {} : { finalMs: finalSeconds * 1_000 }),
    })
    shutdown.add('watchers', watching.stop)
  }
  if (roles.has('jobs') && ctx.sealing) {
    const { sealing } = ctx
    const deliveries = startDeliveries(ctx, { tell, sealing, allowed: config.webhooksAllowed })
    shutdown.add('deliveries to webhooks', deliveries.stop)
  }
  const { capabilitySeconds = 60, streamSeconds } = options
  const provider = openPriceProvider(config, createOutbound(clock))
  const orderBooks = openOrderBooks({ outbound: createOutbound(clock), clock })
  const trialChains = openChains(createOutbound(clock), chains, chainMetrics.onCall, {
    purpose: 'plan',
    readGas: config.readGasCap,
  })
  const senders = { committer, orders: { solver, trialChains, ...readSolverLimits(config, [...ctx.chains.keys()]) } }
  const jobs = listJobs({ capabilitySeconds, streamSeconds, provider, orderBooks, ...senders })
  const own = jobs.filter(({ role }) => roles.has(role ?? 'jobs'))
  if (own.length > 0) shutdown.add('jobs', startJobs(ctx, own).stop)
}
