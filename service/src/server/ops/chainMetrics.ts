import { Counter, Gauge, type Registry } from 'prom-client'
import type { LedgerRows } from '../../features/ledger/index.js'
import { type ChainStatus, listChainStatus } from '../../features/status/index.js'
import { inFlight } from '../../kernel/async/inFlight.js'
import type { Context } from '../../postgres/context.js'
import type { RpcObserver } from '../../rpc/rpc.js'
import { computeOpenSeconds, listSenders, type SenderStatus } from '../../rpc/sender/index.js'
import type { Reaction } from '../../sync/steps/step.js'
import { createLook } from './look.js'

export type ChainMetrics = {
  /** Counts every call of a node. */
  onCall: RpcObserver
  /** Counts what the watcher derives. */
  reaction: Reaction
  /** Counts failures after which a chain was looked at again. */
  onRetry(chainId: number): void
}

/** Calls of nodes by job, method and outcome, retries, reorganisations and events derived. */
export function createChainMetrics(registry: Registry): ChainMetrics {
  const calls = new Counter({
    name: 'openearn_rpc_calls_total',
    help: 'Calls of a node, by job, method and outcome',
    labelNames: ['chain', 'job', 'method', 'outcome'],
    registers: [registry],
  })
  const retries = new Counter({
    name: 'openearn_chain_retries_total',
    help: 'Failures after which the chain was looked at again',
    labelNames: ['chain'],
    registers: [registry],
  })
  const events = new Counter({
    name: 'openearn_chain_events_total',
    help: 'Logs taken into the raw store and derived',
    labelNames: ['chain'],
    registers: [registry],
  })
  const entries = new Counter({
    name: 'openearn_ledger_entries_total',
    help: 'Ledger entries derived by this process',
    labelNames: ['chain'],
    registers: [registry],
  })
  const reorgs = new Counter({
    name: 'openearn_chain_reorgs_total',
    help: 'Reorganisations applied by this process',
    labelNames: ['chain'],
    registers: [registry],
  })
  return {
    onCall: ({ chainId: chain, method, outcome, job }) => calls.inc({ chain, job, method, outcome }),
    onRetry: (chain) => retries.inc({ chain }),
    reaction: {
      name: 'metrics',
      onBlocks: async (_tx, chain, blocks, rows) => {
        events.inc(
          { chain },
          blocks.reduce((sum, block) => sum + block.logs.length, 0),
        )
        const written = (rows.get('ledger') ?? []) as readonly LedgerRows[]
        entries.inc(
          { chain },
          written.reduce((sum, { interactions }) => sum + interactions.length, 0),
        )
      },
      onRewind: async (_tx, chain) => reorgs.inc({ chain }),
    },
  }
}

/** Gauges that are read from the database when somebody looks, all of one look from one query. */
export function registerChainGauges(registry: Registry, ctx: Pick<Context, 'db' | 'clock' | 'log'>): void {
  const { attempt } = createLook(ctx)
  const looks = inFlight<ChainStatus[]>()
  const readStatus = () => looks('status', () => listChainStatus(ctx.db, ctx.clock.now()))
  const add = (name: string, help: string, read: (status: ChainStatus) => number | null) =>
    new Gauge({
      name: `openearn_chain_${name}`,
      help,
      labelNames: ['chain'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const status of (await attempt(readStatus)) ?? []) {
          const value = read(status)
          if (value !== null) this.set({ chain: status.chainId }, value)
        }
      },
    })
  add('head_block', 'Newest block a node told of', ({ headBlock }) => headBlock)
  add('indexed_block', 'Last block derived', ({ indexedBlock }) => indexedBlock)
  add('finalized_block', 'Last final block', ({ finalizedBlock }) => finalizedBlock)
  add('lag_blocks', 'Blocks between the head and the last one derived', ({ lagBlocks }) => lagBlocks ?? 0)
  add('reorgs_24h', 'Reorganisations of the last 24 hours', ({ reorgs24h }) => reorgs24h)
  add('silent_seconds', 'Since a watcher last heard of the chain', ({ watched, updatedAt }) =>
    watched && updatedAt ? Math.max(0, Math.round((ctx.clock.now().getTime() - updatedAt.getTime()) / 1000)) : null,
  )
  add(
    'indexed_age_seconds',
    'Age of the last block of a chain that has caught up, by its own time; below 0 where this clock is behind',
    (status) =>
      status.watched && status.indexedAt && status.state !== 'backfilling'
        ? Math.round((ctx.clock.now().getTime() - status.indexedAt.getTime()) / 1000)
        : null,
  )
  add('unchecked_blocks', 'Final blocks of a chain that is live that were not looked at a second time', (status) =>
    status.state !== 'live' || status.finalizedBlock === null
      ? null
      : Math.max(0, status.finalizedBlock - (status.checkedTo ?? 0)),
  )
  new Gauge({
    name: 'openearn_database_answers',
    help: '1 when the database answered this look',
    registers: [registry],
    async collect() {
      this.set(Number((await attempt(readStatus)) !== undefined))
    },
  })
  add('traces', '1 when its nodes tell how transactions ran', ({ evidence }) => Number(evidence === 'trace'))
  add('traces_awaited', 'Transactions whose trace has not come yet', ({ tracesAwaited }) => tracesAwaited)
  add('traces_missing', 'Transactions of which no trace was to be had', ({ tracesMissing }) => tracesMissing)
  add('stalled', '1 when an operator is needed', ({ state }) => Number(state === 'stalled'))
  add('watched', '1 when this installation follows the chain', ({ watched }) => Number(watched))
}

/** Gauges of the keys that send, read from the database when somebody looks. */
export function registerSenderGauges(
  registry: Registry,
  { db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>,
): void {
  const { attempt } = createLook({ clock, log })
  const add = (name: string, help: string, read: (status: SenderStatus) => number) =>
    new Gauge({
      name: `openearn_sender_${name}`,
      help,
      labelNames: ['chain', 'sender'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const status of (await attempt(() => listSenders(db))) ?? [])
          this.set({ chain: status.chainId, sender: status.address }, read(status))
      },
    })
  add('oldest_open_seconds', 'Age of the oldest transaction of the key that is not over', (status) =>
    computeOpenSeconds(status, clock.now()),
  )
  add('open', 'Transactions of the key that are not over', ({ open }) => open)
  add('stopped', '1 when nothing is signed with the key until an operator looks', ({ stopped }) =>
    Number(stopped !== null),
  )
}
