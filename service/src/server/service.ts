import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { attributionOperations, openJudge } from '../features/attribution/index.js'
import { createAuthenticate } from '../features/auth/index.js'
import { openCatalogue } from '../features/catalogue/index.js'
import { openLimits } from '../features/limits/index.js'
import type { Operation } from '../kernel/operation.js'
import { createOutbound } from '../kernel/outbound.js'
import type { Shutdown } from '../kernel/shutdown.js'
import type { Context } from '../postgres/context.js'
import { openRequestPools, type RequestBounds } from '../postgres/requests.js'
import { type ChainSettings, type Chains, openChains, type Purpose } from '../rpc/chains.js'
import { createSignatureGate } from '../wallets/signatures.js'
import { createTonReader } from '../wallets/tonReader.js'
import { buildPublicApp } from './http/http.js'
import { buildOpenApi } from './openapi/openapi.js'
import { addPublicReference, type ReadDocument } from './openapi/reference.js'
import { operations, type ServiceContext } from './operations.js'
import { type ChainMetrics, createChainMetrics, registerChainGauges } from './ops/chainMetrics.js'
import { createMetrics, type Metrics } from './ops/metrics.js'
import { buildOpsApp, type Readiness } from './ops/ops.js'

export type Service = {
  ctx: ServiceContext
  /** The chains as requests read them: no call is waited for without end. */
  requestChains: Chains
  /** The same for look-ups of transactions, which get in nobody's way. */
  debugChains: Chains
  /** `/v2` and nothing else. */
  publicApp: FastifyInstance
  /** Health, readiness, metrics, the OpenAPI document and its reference. */
  opsApp: FastifyInstance
  metrics: Metrics
  chainMetrics: ChainMetrics
}

/** Puts the service together on an open, migrated database. Nothing listens and nothing watches yet. */
export async function openService(
  base: Context,
  options: { chains: readonly ChainSettings[]; shutdown: Shutdown; bounds?: RequestBounds },
): Promise<Service> {
  const outbound = createOutbound(base.clock)
  const catalogue = await openCatalogue(base)
  options.shutdown.add('catalogue', catalogue.close)
  const ton = base.config.tonUrl === undefined ? undefined : createTonReader(outbound, base.config.tonUrl, base.clock)
  const metrics = createMetrics()
  const chainMetrics = createChainMetrics(metrics.registry)
  // Verdicts on final transactions outlive a change of the catalogue.
  const judge = openJudge(base, { shelf: catalogue.answers.shelf('verdict', { lasting: true }) })
  options.shutdown.add('transaction judge', judge.stop)
  const open = (purpose: Purpose) =>
    openChains(outbound, options.chains, chainMetrics.onCall, { purpose, readGas: base.config.readGasCap })
  const ctx: ServiceContext = {
    ...base,
    chains: open('watch'),
    ton,
    catalogue,
    signatureGate: createSignatureGate(),
    judge,
  }
  // Requests wait for nothing without end; watchers and jobs wait as long as it takes.
  const pools = openRequestPools(base.db, options.bounds)
  options.shutdown.add('database of requests', pools.end)
  const admission: ServiceContext = { ...ctx, db: pools.admission }
  const requestChains = open('plan')
  const debugChains = open('debug')
  registerChainGauges(metrics.registry, admission)
  const gate = {
    authenticate: createAuthenticate(admission),
    limits: openLimits(admission),
    onRefused: metrics.refused,
  }
  const publicApp = buildPublicApp({
    ctx: { ...ctx, db: pools.operation, chains: requestChains },
    operations: operations.map((operation) =>
      lookUps.has(operation) ? withChains(operation, debugChains) : operation,
    ),
    ...gate,
    answers: catalogue.answers,
    onAnswered: metrics.answered,
  })
  const readDocument = documentOf(ctx, publicApp)
  if (base.config.publicReference) addPublicReference(publicApp, readDocument, gate)
  const opsApp = buildOpsApp(ctx, {
    readDocument,
    checks: () => readinessChecks(admission),
    registry: metrics.registry,
    publicApp,
  })
  return { ctx, requestChains, debugChains, publicApp, opsApp, metrics, chainMetrics }
}

/** The document, saying where callers reach the public listener. It is built anew when that becomes known. */
function documentOf({ config }: Context, publicApp: FastifyInstance): ReadDocument {
  let built: { url: string; document: Record<string, unknown> } | undefined
  return () => {
    const url = config.publicUrl ?? urlOf(publicApp.server.address(), config)
    if (built?.url !== url) built = { url, document: buildOpenApi(operations, { url }) }
    return built.document
  }
}

/** Where a listener answers on this machine; the settings say it of one that is not open. */
function urlOf(address: AddressInfo | string | null, { host, port }: { host: string; port: number }): string {
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${typeof address === 'object' && address ? address.port : port}`
}

/** Operations whose callers choose the transaction that is read. */
const lookUps: ReadonlySet<Operation<ServiceContext>> = new Set(attributionOperations)

function withChains(operation: Operation<ServiceContext>, chains: Chains): Operation<ServiceContext> {
  return { ...operation, run: (ctx, input, caller) => operation.run({ ...ctx, chains }, input, caller) }
}

async function readinessChecks(ctx: ServiceContext): Promise<Readiness[]> {
  try {
    await ctx.db`select 1`
    return [{ name: 'database', ready: true, detail: 'answers' }]
  } catch (error) {
    ctx.log.warn({ err: error }, 'the database does not answer')
    return [{ name: 'database', ready: false, detail: 'does not answer; it is restarted or tried again by itself' }]
  }
}
