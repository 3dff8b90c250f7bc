import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { attributionOperations, openJudge } from '../features/attribution/index.js'
import { createAuthenticate } from '../features/auth/index.js'
import { type CatalogueSnapshot, openCatalogue } from '../features/catalogue/index.js'
import { openFeed, readConfirmedEntries } from '../features/events/index.js'
import { openLimits } from '../features/limits/index.js'
import { openPortfolio, portfolioOperations } from '../features/portfolio/index.js'
import { type ChainStatus, chainState, listChainStatus } from '../features/status/index.js'
import { findRewardFile } from '../features/streams/index.js'
import type { Log } from '../kernel/log.js'
import type { Operation } from '../kernel/operation.js'
import { createOutbound, type Outbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import { openRequestPools, type RequestBounds } from '../postgres/requests.js'
import { type ChainSettings, type Chains, openChains, type Purpose } from '../rpc/chains.js'
import { describeKey, listSenders, type SenderStatus } from '../rpc/sender/index.js'
import { createSignatureGate } from '../wallets/signatures.js'
import { createTonReader } from '../wallets/tonReader.js'
import { addEmbed } from './http/embed.js'
import { buildPublicApp } from './http/http.js'
import { addPortal, type PortalSettings } from './http/portal.js'
import type { Served } from './http/responseCache.js'
import { readTraceId } from './http/traceparent.js'
import { buildOpenApi } from './openapi/openapi.js'
import { addPublicPages, type ReadDocument } from './openapi/reference.js'
import { operations, type ServiceContext } from './operations.js'
import { type ChainMetrics, createChainMetrics, registerChainGauges, registerSenderGauges } from './ops/chainMetrics.js'
import { registerDoctorGauges } from './ops/doctorGauges.js'
import { createMetrics, joinMetrics, type Metrics, registerPoolGauges } from './ops/metrics.js'
import { buildOpsApp, type Readiness } from './ops/ops.js'
import { openReads } from './reads.js'
import { openSealing } from './sealing.js'
import type { Shutdown } from './shutdown.js'
import { openAttributionSigner, openStreamSigners } from './signer.js'
import { openSwapApis } from './swapApis.js'
import { followCalls, openTraces } from './traces/index.js'
import type { Spans } from './traces/spans.js'
import type { WatcherProcess } from './watcherProcess.js'

export type Service = {
  ctx: ServiceContext
  /** The chains as requests read them: no call is waited for without end. */
  requestChains: Chains
  /** The same for look-ups of transactions, which get in nobody's way. */
  debugChains: Chains
  /** The same for portfolios, which read much at once. */
  holdingsChains: Chains
  /** `/v2` and nothing else. */
  publicApp: FastifyInstance
  /** Health, readiness, metrics, the OpenAPI document and its reference. */
  opsApp: FastifyInstance
  metrics: Metrics
  chainMetrics: ChainMetrics
  /** Takes in a process that watches for this one: its metrics and its health are told with this one's. */
  join(watcher: WatcherProcess): void
}

type ServiceOptions = {
  chains: readonly ChainSettings[]
  shutdown: Shutdown
  bounds?: RequestBounds
  isJoined?: boolean
  /** False for a process that serves no requests. */
  serves?: boolean
  portal?: (() => PortalSettings) | undefined
}

/** Puts the service together on an open, migrated database. Nothing listens and nothing watches yet. */
export async function openService(base: Context, options: ServiceOptions): Promise<Service> {
  const { patience } = base.config
  const metrics = createMetrics()
  const spans = openTraces({
    ...base,
    outbound: createOutbound(base.clock),
    registry: metrics.registry,
    shutdown: options.shutdown,
  })
  const outbound = followCalls(createOutbound(base.clock), spans)
  const catalogue = await openCatalogue(base)
  options.shutdown.add('catalogue', catalogue.close)
  const feed = await openFeed(base, { signal: options.shutdown.signal })
  options.shutdown.add('feed of events', feed.close)
  const ton = base.config.tonUrl === undefined ? undefined : createTonReader(outbound, base.config.tonUrl, base.clock)
  const chainMetrics = createChainMetrics(metrics.registry)
  // Verdicts on final transactions outlive a change of the catalogue.
  const judge = openJudge(base, { patience, shelf: catalogue.answers.shelf('verdict', { lasting: true }) })
  options.shutdown.add('transaction judge', judge.stop)
  const open = (purpose: Purpose) =>
    openChains(outbound, options.chains, chainMetrics.onCall, { purpose, readGas: base.config.readGasCap, patience })
  const ctx: ServiceContext = {
    ...base,
    chains: open('watch'),
    ton,
    catalogue,
    feed,
    readConfirmed: readConfirmedEntries,
    sealing: base.config.secretsKey === undefined ? undefined : openSealing(base.config.secretsKey),
    signatureGate: createSignatureGate(),
    judge,
    portfolio: openPortfolio({ patience }),
    ...(await openSigners(base, outbound, metrics)),
    swapApis: openSwapApis(base.config, { outbound, clock: base.clock }),
  }
  // Requests wait for nothing without end; watchers and jobs wait as long as it takes.
  const pools = openRequestPools(base.db, { patience, spans, ...options.bounds })
  options.shutdown.add('database of requests', pools.end)
  const admission: ServiceContext = { ...ctx, db: pools.admission }
  const requestChains = open('plan')
  const debugChains = open('debug')
  const holdingsChains = open('holdings')
  // The process this one belongs to tells them.
  if (!options.isJoined) {
    registerChainGauges(metrics.registry, admission)
    registerSenderGauges(metrics.registry, admission)
    registerDoctorGauges(metrics.registry, { ...admission, db: pools.operation })
  }
  const reads = await openReads(base, { db: pools.operation, registry: metrics.registry, ...options })
  const own = { work: base.db, admission: pools.admission, operation: pools.operation }
  registerPoolGauges(metrics.registry, { ...own, ...reads.pools })
  let watcher: WatcherProcess | undefined
  const serviceUrl = (): string => base.config.publicUrl ?? urlOf(publicApp.server.address(), base.config)
  const gate = {
    authenticate: createAuthenticate(admission),
    limits: openLimits(admission, reads),
    onRefused: metrics.refused,
    ownOrigin: (): string => new URL(serviceUrl()).origin,
  }
  const publicApp: FastifyInstance = buildPublicApp({
    ctx: { ...ctx, db: pools.operation, chains: requestChains },
    operations: operations.map((operation) => {
      const chains = lookUps.has(operation) ? debugChains : readsHoldings.has(operation) ? holdingsChains : undefined
      return reads.onReplicas(chains ? withChains(operation, chains) : operation)
    }),
    ...gate,
    answers: catalogue.answers,
    ...{ onShed: metrics.shed, spans },
    onAnswered: (operationId, status, seconds, served) => {
      metrics.answered(operationId, status, seconds)
      if (base.config.logRequests) logRequest(base.log, { operationId, status, seconds, served, spans })
    },
  })
  const readDocument = documentOf(ctx, publicApp)
  addPublicPages(publicApp, readDocument, { gate, hasReference: base.config.publicReference })
  if (base.config.embedEnabled) addEmbed(publicApp, gate)
  const portal = options.portal ?? portalOf(base.config)
  const watched = new Set(options.chains.map(({ chainId }) => chainId))
  if (portal)
    addPortal(publicApp, portal, { gate, serviceUrl, chains: () => listActiveChains(catalogue.current(), watched) })
  const opsApp = buildOpsApp(ctx, {
    readDocument,
    checks: async () => [...(await readinessChecks(admission)), ...(watcher ? [checkWatcher(watcher)] : [])],
    metrics: async () => joinMetrics(await metrics.registry.metrics(), await watcher?.readMetrics()),
    contentType: metrics.registry.contentType,
    readFile: (hash) => findRewardFile(pools.operation, hash),
    publicApp,
    chains: options.chains.map(({ chainId }) => chainId),
  })
  const join = (joined: WatcherProcess) => {
    watcher = joined
  }
  return { ctx, requestChains, debugChains, holdingsChains, publicApp, opsApp, metrics, chainMetrics, join }
}

/** The keys that sign for requests, counted. */
async function openSigners({ config, clock }: Context, outbound: Outbound, metrics: Metrics) {
  const io = { outbound, clock }
  const { streamsSigner, withdrawalsSigner } = await openStreamSigners(config, io)
  return {
    attributionSigner: metrics.countSignatures('attribution', await openAttributionSigner(config, io)),
    streamsSigner: metrics.countSignatures('streams', streamsSigner),
    withdrawalsSigner: metrics.countSignatures('withdrawals', withdrawalsSigner),
  }
}

/** The portal of an installation: it is there where its key is set. */
function portalOf({ portalKey }: Context['config']): (() => PortalSettings) | undefined {
  return portalKey === undefined ? undefined : () => ({ apiKey: portalKey })
}

/** Chains as the portal names them: first those that this installation reads, as a reader looks for things on them. */
const listActiveChains = ({ chains }: CatalogueSnapshot, watched: ReadonlySet<number>) =>
  [...chains.values()]
    .filter(({ active }) => active)
    .sort((a, b) => Number(watched.has(b.chainId)) - Number(watched.has(a.chainId)))
    .map(({ chainId, name, explorerUrl }) => ({ chainId, name, explorerUrl }))

/** The document, saying where callers reach the public listener. It is built anew when that becomes known. */
function documentOf({ config }: Context, publicApp: FastifyInstance): ReadDocument {
  let built: { url: string; document: Record<string, unknown> } | undefined
  return () => {
    const url = config.publicUrl ?? urlOf(publicApp.server.address(), config)
    if (built?.url !== url) built = { url, document: buildOpenApi(operations, { url }) }
    return built.document
  }
}

/** The url of a listener on this machine; by the settings for one that is not open. */
function urlOf(address: AddressInfo | string | null, { host, port }: { host: string; port: number }): string {
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${typeof address === 'object' && address ? address.port : port}`
}

/** Operations whose callers choose the transaction that is read. */
const lookUps: ReadonlySet<Operation<ServiceContext>> = new Set(attributionOperations)

/** Operations that read much of every chain at once. */
const readsHoldings: ReadonlySet<Operation<ServiceContext>> = new Set(portfolioOperations)

function withChains(operation: Operation<ServiceContext>, chains: Chains): Operation<ServiceContext> {
  return { ...operation, run: (ctx, input, caller) => operation.run({ ...ctx, chains }, input, caller) }
}

/** A line for a request served. The query stays out: it may name wallets. */
function logRequest(
  log: Log,
  answered: { operationId: string; status: number; seconds: number; served: Served; spans: Spans | undefined },
): void {
  const { operationId, status, seconds, served, spans } = answered
  const { request, requestId, keyId } = served
  // A secret key that someone pastes there does not get into the log.
  const path = request.url?.split('?')[0]?.replace(/^\/embed\/(?!files\/)[^/]+/, '/embed/…')
  const ms = Math.round(seconds * 1e6) / 1e3
  const traceId = spans?.traceIdOf(request) ?? readTraceId(request.headers['traceparent'])
  log.info({ method: request.method, path, operationId, status, ms, requestId, traceId, keyId }, 'served')
}

/** A chain that cannot be read is named and fails nothing: everything else is served as before. */
async function readinessChecks(ctx: ServiceContext): Promise<Readiness[]> {
  try {
    const now = ctx.clock.now()
    const chains = (await listChainStatus(ctx.db, now)).filter(({ watched }) => watched)
    const keys = (await listSenders(ctx.db)).map((status) => checkKey(status, now))
    return [
      { name: 'database', ready: true, detail: 'answers' },
      ...chains.map((chain) => checkChain(chain, now)),
      ...keys,
    ]
  } catch (error) {
    ctx.log.warn({ err: error }, 'the database does not answer')
    return [{ name: 'database', ready: false, detail: 'does not answer; it is restarted or tried again by itself' }]
  }
}

function checkWatcher(watcher: WatcherProcess): Readiness {
  const pid = watcher.pid()
  const detail = pid === undefined ? 'ended; it is started again by itself' : `process ${pid}`
  return { name: 'watcher', ready: pid !== undefined, optional: true, detail }
}

/** Requests are served whatever becomes of our own transactions. */
function checkKey(status: SenderStatus, now: Date): Readiness {
  const { name, well, detail, advice } = describeKey(status, now)
  return { name, ready: well, optional: true, detail: well ? detail : `${detail}; ${advice}` }
}

function checkChain(chain: ChainStatus, now: Date): Readiness {
  const state = chainState(chain, now)
  const seconds = chain.updatedAt ? Math.round((now.getTime() - chain.updatedAt.getTime()) / 1000) : undefined
  const isSilent = state === 'stalled' && chain.state !== 'stalled'
  const detail = isSilent ? `cannot be read: no watcher has heard of it for ${seconds} s` : (chain.reason ?? state)
  return { name: `chain ${chain.chainId}`, ready: state === 'live' || state === 'backfilling', optional: true, detail }
}
