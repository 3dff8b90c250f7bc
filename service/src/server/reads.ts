import { createHash } from 'node:crypto'
import type { Registry } from 'prom-client'
import { lastEventOf } from '../features/events/index.js'
import { historyOperations } from '../features/history/index.js'
import { ledgerOperations } from '../features/ledger/index.js'
import { metricsOperations } from '../features/metrics/index.js'
import { portfolioOperations } from '../features/portfolio/index.js'
import type { Clock } from '../kernel/clock.js'
import type { Operation } from '../kernel/operation.js'
import type { Context } from '../postgres/context.js'
import type { Database } from '../postgres/pool.js'
import type { Reader } from '../postgres/reading.js'
import { openReading } from '../postgres/replicaReads.js'
import { openReplicas } from '../postgres/replicas.js'
import type { ServiceContext } from './operations.js'
import { registerReplicas } from './ops/replicaMetrics.js'
import type { Shutdown } from './shutdown.js'

type ServiceOperation = Operation<ServiceContext>

/** How operations that only read are asked of replicas. */
export type Reads = {
  /** Where charges tell what their key may have seen; absent without replicas. */
  lastEventOf?: typeof lastEventOf
  /** The pools of the replicas, by what metrics call them. */
  pools: Readonly<Record<string, Database>>
  /** The same operation, with its statements asked of a replica where it may be. */
  onReplicas(operation: ServiceOperation): ServiceOperation
}

/** Those that read much, and nothing that requests write. By their names, for they may be wrapped. */
const readNames: ReadonlySet<string> = new Set(
  [...ledgerOperations, ...historyOperations, ...metricsOperations, ...portfolioOperations].map(
    ({ operationId }) => operationId,
  ),
)

/** Opens the replicas of this process, if there are any and it serves. */
export async function openReads(
  { config, log, clock }: Context,
  options: { db: Database; registry: Registry; shutdown: Shutdown; serves?: boolean },
): Promise<Reads> {
  const { db, registry, shutdown, serves = true } = options
  if (config.databaseReadUrls.length === 0 || !serves) return { pools: {}, onReplicas: (operation) => operation }
  const { patience } = config
  const replicas = await openReplicas(db, { urls: config.databaseReadUrls, log, lastEventOf, patience })
  shutdown.add('replicas of the database', replicas.end)
  const told = registerReplicas(registry, replicas)
  const pages = createPageMemory(clock)
  return {
    lastEventOf,
    pools: Object.fromEntries(replicas.list.map((replica) => [`replica ${replica.name}`, replica.db])),
    onReplicas: (operation) => {
      if (!readNames.has(operation.operationId)) return operation
      const isPaged = operation.query?.properties?.['page'] !== undefined
      return {
        ...operation,
        run: (ctx, input, caller) => {
          const list = nameList(caller.keyId, operation.operationId, input)
          const reading = {
            seen: ctx.seen,
            preferred: list.readUInt32LE(0) % replicas.list.length,
            before: isPaged && isLaterPage(input) ? pages.find(list) : undefined,
            onServed: (reader: Reader) => {
              told.served(reader)
              if (isPaged) pages.keep(list, reader)
            },
            onFailed: told.failed,
          }
          return operation.run({ ...ctx, db: openReading(ctx.db, replicas, reading) }, input, caller)
        },
      }
    },
  }
}

type Paged = { page?: number; after?: string }

const isLaterPage = ({ page = 1, after }: Paged) => page > 1 || after !== undefined

/** All pages of one list that one key reads have the same name, in whichever process: so they prefer the same replica. */
function nameList(keyId: string, operationId: string, { page: _page, after: _after, ...input }: Paged): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([keyId, operationId, input]))
    .digest()
}

const keptMs = 600_000
const keptMax = 10_000

/** Who served the pages of lists that were read lately. */
export function createPageMemory(clock: Pick<Clock, 'monotonicMs'>) {
  const served = new Map<string, { reader: Reader; atMs: number }>()
  return {
    find: (list: Buffer): Reader | undefined => {
      const known = served.get(list.toString('base64'))
      return known && clock.monotonicMs() - known.atMs < keptMs ? known.reader : undefined
    },
    keep: (list: Buffer, reader: Reader): void => {
      const name = list.toString('base64')
      served.delete(name)
      served.set(name, { reader, atMs: clock.monotonicMs() })
      const [oldest] = served.keys()
      if (served.size > keptMax && oldest !== undefined) served.delete(oldest)
    },
  }
}
