import type { ChildProcess } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import { readAuditLimits, recordChanges } from '../features/audit/index.js'
import { announceCatalogue, listSigners, recordSigner } from '../features/catalogue/index.js'
import { compareRoles } from '../features/streams/index.js'
import type { Clock } from '../kernel/clock.js'
import { type Config, ConfigError } from '../kernel/config.js'
import type { Log } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import { assertWritable, type Database, inTransaction } from '../postgres/pool.js'
import type { ChainSettings } from '../rpc/chains.js'
import { devnetChainId, isDevnetAddress } from '../rpc/devnet.js'
import type { Signer } from '../rpc/signer.js'
import { openServiceDatabase } from './database.js'
import type { PortalSettings } from './http/portal.js'
import type { ServiceContext } from './operations.js'
import { type OperatorToken, withOperatorToken } from './operatorToken.js'
import { findOsUser } from './osUser.js'
import { createQuietLog } from './quietLog.js'
import { readChains } from './readChains.js'
import { openService } from './service.js'
import type { Shutdown } from './shutdown.js'
import { openSigner } from './signer.js'
import { answerParent, startWatcherProcess } from './watcherProcess.js'
import { allRoles, type Role, startWork } from './work.js'

export type StartOptions = {
  config: Config
  log: Log
  clock: Clock
  shutdown: Shutdown
  /** Serve the public listener; the operator listener is there in every process. */
  api: boolean
  /** Follow the watched chains and run the jobs. */
  watch: boolean
  /** The part of that work which this process does; absent: all of it. */
  roles?: ReadonlySet<Role> | undefined
  /** Starts the process that watches; absent: this process watches by itself. Used when it serves as well. */
  forkWatcher?: () => ChildProcess
  /** This process was started by one that serves: the database is up, and metrics and health are asked of that one. */
  isJoined?: boolean
  /** How often vaults are read for what they allow and hold. Default 60. */
  capabilitySeconds?: number
  /** How often reward streams are looked at for what is due. Default 60 for snapshots, 15 for their roots. */
  streamSeconds?: number
  /** How often a node is asked what is final. Default 120. */
  finalSeconds?: number
  /** Looks at the database before anything is written to it; throws where it must not be used. */
  inspect?: (db: Database) => Promise<void>
  /** Runs on the migrated database before anything else opens. */
  prepare?: (ctx: Context) => Promise<void>
  /** The portal of a devnet; absent: that of the settings. It is asked for once the service is prepared. */
  portal?: () => PortalSettings
}

/**
 * How far the heap may grow over what is in use before all of it is looked through. By itself V8 lets it double and more,
 * and keeps it: callers who send large heads would decide how much memory a process holds.
 */
const heapGrowthPercent = 40

export type Running = {
  ctx: ServiceContext
  baseUrl: string | undefined
  opsUrl: string | undefined
  /** The operator's token, where this start made it. */
  madeToken?: OperatorToken | undefined
}

/** Starts a process of the service. Everything that exists is created here, in this order. */
export async function startService(options: StartOptions): Promise<Running> {
  const { clock, shutdown } = options
  // Thresholds that nobody can read are refused here, and not a month later.
  readAuditLimits(options.config.auditLimits)
  const log = createQuietLog(options.log, clock)
  if (options.api) setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`)
  const isJoined = options.isJoined === true
  const db = await openServiceDatabase(options.config, log, shutdown, {
    inspect: options.inspect,
    isJoined,
    asItIs: isJoined,
  })
  await assertWritable(db)
  // One that was started by another answers on no listener.
  const { config, made } = isJoined ? { config: options.config } : await withOperatorToken(options.config, log)
  const base: Context = { db, clock, log, config }
  await options.prepare?.(base)
  const chains = await readChains(base)
  const service = await openService(base, { chains, shutdown, isJoined, serves: options.api, portal: options.portal })
  const { ctx, publicApp, opsApp } = service
  const io = { outbound: createOutbound(clock), clock }
  const { countSignatures } = service.metrics
  const committer = countSignatures('committer', await openSigner(config.committerKey, io))
  assertKeysFit(ctx.attributionSigner, chains, 'ATTRIBUTION')
  assertKeysFit(ctx.streamsSigner, chains, 'STREAMS')
  assertKeysFit(ctx.withdrawalsSigner, chains, 'WITHDRAWALS')
  assertKeysFit(committer, chains, 'COMMITTER')
  const solver = countSignatures('solver', await openSigner(config.solverKey, io))
  assertKeysFit(solver, chains, 'SOLVER')
  if (!isJoined) await sayRoles(ctx, committer)
  // The key signs for every process, so whichever starts first makes its address known to the watcher.
  if (ctx.attributionSigner) {
    const { address } = ctx.attributionSigner
    const signing = { osUser: findOsUser(), command: 'start (attribution key)', look: listSigners }
    await inTransaction(recordChanges(base, signing).db, async (tx) => {
      await recordSigner(tx, address, clock.now())
      await announceCatalogue(tx)
    })
  }
  if (options.watch && options.api && options.forkWatcher) {
    const watcher = startWatcherProcess({ fork: options.forkWatcher, log, clock, signal: shutdown.signal })
    shutdown.add('watcher process', watcher.stop)
    service.join(watcher)
  } else if (options.watch) {
    const { roles = allRoles, capabilitySeconds, streamSeconds, finalSeconds } = options
    sayKeyless(log, roles, { commit: committer, solve: solver })
    startWork(service, { roles, shutdown, chains, committer, solver, capabilitySeconds, streamSeconds, finalSeconds })
  }
  if (isJoined) {
    answerParent(service.metrics)
    return { ctx, baseUrl: undefined, opsUrl: undefined }
  }
  const opened: FastifyInstance[] = []
  // Both at once: the operator listener reports the stop for as long as the public one serves.
  shutdown.add('listeners', async () => {
    await Promise.all(opened.map((app) => app.close()))
  })
  const opsUrl = await listen(opsApp, { host: config.opsHost, port: config.opsPort }, opened)
  if (!options.api) {
    // Watching matters more than being measured: several processes of one machine may have got the same settings.
    if (!opsUrl) log.warn(`port ${config.opsPort} of ${config.opsHost} is taken: no metrics; set OPS_PORT to another`)
    return { ctx, baseUrl: undefined, opsUrl, madeToken: made }
  }
  if (!opsUrl) throw taken(config.opsHost, config.opsPort, 'OPS_PORT')
  const baseUrl = await listen(publicApp, { host: config.host, port: config.port }, opened)
  if (!baseUrl) throw taken(config.host, config.port, 'PORT')
  return { ctx, baseUrl, opsUrl, madeToken: made }
}

function taken(host: string, port: number, setting: string): ConfigError {
  return new ConfigError(`port ${port} of ${host} is taken; free it or set ${setting} to another`)
}

/** The devnet's keys are public: anyone could sign with them, so they are refused on every other chain. */
function assertKeysFit(signer: Signer | undefined, chains: readonly ChainSettings[], name: string): void {
  if (!signer || !isDevnetAddress(signer.address)) return
  const other = chains.find((chain) => chain.chainId !== devnetChainId)
  if (other)
    throw new ConfigError(
      `${name}_KEY is a public test key and ${other.name} (${other.chainId}) is not the devnet; use a key of your own`,
    )
}

/** A process for what a key signs goes on without the key: it looks, and others may have it. */
function sayKeyless(log: Log, roles: ReadonlySet<Role>, keys: Record<'commit' | 'solve', Signer | undefined>): void {
  if (roles.size === allRoles.size) return
  if (roles.has('commit') && !keys.commit) log.warn('without COMMITTER_KEY no root is committed: it is only looked at')
  if (roles.has('solve') && !keys.solve) log.warn('without SOLVER_KEY no order is settled: it is only looked at')
}

/** Compares the keys of streams with the roles of the factories. A chain that cannot be read now is no reason not to start. */
async function sayRoles(ctx: ServiceContext, committer: Signer | undefined): Promise<void> {
  const [creates, withdraws] = [ctx.streamsSigner?.address, ctx.withdrawalsSigner?.address]
  const keys = { creates, withdraws, commits: committer?.address }
  if (Object.values(keys).every((key) => key === undefined)) return
  try {
    for (const problem of await compareRoles(ctx, keys)) ctx.log.error(problem)
  } catch (error) {
    ctx.log.warn({ err: error }, 'the roles of the factories of streams could not be compared with the keys')
  }
}

/** The url of the opened listener; undefined if its port is taken. */
async function listen(
  app: FastifyInstance,
  at: { host: string; port: number },
  opened: FastifyInstance[],
): Promise<string | undefined> {
  try {
    const url = await app.listen(at)
    opened.push(app)
    return url
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
    throw error
  }
}
