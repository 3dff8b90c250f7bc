import { createOutbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import type { ChainSettings } from '../rpc/chains.js'
import { devnetChainId, isDevnetAddress } from '../rpc/devnet.js'
import { listChainSettings } from '../rpc/storeChains.js'
import { countConnections } from '../server/connectionCount.js'
import { openAttributionSigner, openSigner } from '../server/signer.js'
import { type DatabaseFacts, findDatabaseFacts } from '../server/storeDatabaseFacts.js'
import type { CheckResult } from './doctorPrices.js'
import { examineReplicas } from './doctorReplicas.js'

/** From so far on two clocks are told apart. */
const clockMsMax = 2_000
/** A block that has fewer above it is taken back again and again on most chains. */
const confirmationsLeast = 2
const dayMs = 86_400_000

/** Looks for things that an installation that serves others should not have. Each finding says what to do. */
export async function examineProduction(ctx: Context): Promise<CheckResult[]> {
  const { config, clock, db } = ctx
  const chains = await listChainSettings(db, { watchedOnly: true })
  const before = clock.now().getTime()
  const facts = await findDatabaseFacts(db)
  const skewMs = facts.at.getTime() - (before + clock.now().getTime()) / 2
  return [
    await examineKeys(ctx, chains),
    examineListeners(config),
    examineSettings(config),
    examineBackups(facts, config.databaseUrl !== undefined, clock.now()),
    {
      what: 'production: clock',
      well: Math.abs(skewMs) <= clockMsMax,
      detail: `that of the database differs by ${Math.round(Math.abs(skewMs))} ms`,
      advice: 'let NTP set the clocks of this machine and of the database: leases, signatures and limits end by them',
    },
    ...examineNodes(chains, config.rpcUrls),
    examineConnections(facts, config.databasePoolSize, chains.length),
    ...(await examineReplicas(ctx)),
  ]
}

type Config = Context['config']

const finding = (what: string, faults: readonly string[], fine: string, advice: string): CheckResult => ({
  ...{ what: `production: ${what}`, well: faults.length === 0, advice },
  detail: faults.length === 0 ? fine : faults.join('; '),
})

async function examineKeys({ config, clock }: Context, chains: readonly ChainSettings[]): Promise<CheckResult> {
  const io = { outbound: createOutbound(clock), clock }
  const keys = {
    ATTRIBUTION_KEY: await openAttributionSigner(config, io),
    STREAMS_KEY: await openSigner(config.streamsKey, io),
    WITHDRAWALS_KEY: await openSigner(config.withdrawalsKey, io),
    COMMITTER_KEY: await openSigner(config.committerKey, io),
    SOLVER_KEY: await openSigner(config.solverKey, io),
  }
  const faults = Object.entries(keys).flatMap(([name, signer]) =>
    signer && isDevnetAddress(signer.address) ? [`${name} is a public test key`] : [],
  )
  if (chains.some(({ chainId }) => chainId === devnetChainId)) faults.push('a devnet is watched')
  if (keys.ATTRIBUTION_KEY === undefined) faults.push('no ATTRIBUTION_KEY: plans are not built')
  return finding(
    'keys',
    faults,
    'none is a public one',
    'make a key of your own that holds no funds, and unwatch the devnet',
  )
}

const isLocal = (host: string) => /^(127(\.\d+){3}|::1|localhost)$/.test(host)

export function examineListeners(
  config: Pick<Config, 'host' | 'opsHost' | 'opsProbesOpen' | 'publicUrl' | 'trustedProxies'>,
): CheckResult {
  const faults: string[] = []
  if (!isLocal(config.opsHost) && config.opsProbesOpen)
    faults.push(`the operator listener is open on ${config.opsHost}, and /metrics and /readyz need no token`)
  if (!isLocal(config.host) && config.trustedProxies.length === 0)
    faults.push(`the public listener speaks http on ${config.host} with no proxy before it that is trusted`)
  if (!config.publicUrl?.startsWith('https:')) faults.push('PUBLIC_URL is not https')
  return finding(
    'listeners',
    faults,
    'callers come by https and a proxy',
    'let a proxy speak https: PUBLIC_URL, TRUSTED_PROXIES, HOST; keep OPS_HOST on loopback, or OPS_PROBES_OPEN=false',
  )
}

export function examineSettings(
  config: Pick<
    Config,
    | 'unsignedFallback'
    | 'eventLoopDelayMaxMs'
    | 'ipLimitPerMinute'
    | 'connectionsPerAddress'
    | 'tonTestnet'
    | 'logLevel'
    | 'databaseUrl'
    | 'databaseReadUrls'
  >,
): CheckResult {
  const faults: string[] = []
  if (config.unsignedFallback) faults.push('ATTRIBUTION_UNSIGNED_FALLBACK builds plans that anybody could have built')
  if (config.eventLoopDelayMaxMs === 0) faults.push('EVENT_LOOP_DELAY_MAX_MS=0: nothing is refused under load')
  if (config.ipLimitPerMinute === 0) faults.push('IP_LIMIT_PER_MINUTE=0: keys may be guessed without end')
  if (config.connectionsPerAddress === 0)
    faults.push('CONNECTIONS_PER_ADDRESS=0: one address may hold every connection')
  if (config.tonTestnet) faults.push('TON_TESTNET takes addresses of a test network')
  if (config.logLevel === 'silent') faults.push('LOG_LEVEL=silent: faults are told nowhere')
  if (config.databaseUrl !== undefined && !isProtected(config.databaseUrl))
    faults.push('DATABASE_URL leads to another machine without sslmode=verify-full')
  if (!config.databaseReadUrls.every(isProtected))
    faults.push('DATABASE_READ_URLS leads to another machine without sslmode=verify-full')
  return finding(
    'settings',
    faults,
    'none is weak',
    'leave these settings at what they are by default (docs/configuration.md), and add sslmode=verify-full to the urls of databases',
  )
}

/** Whether nobody between reads what is said to the database. */
function isProtected(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const host = url?.searchParams.get('host') ?? url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  return host === '' || host.startsWith('/') || isLocal(host) || url?.searchParams.get('sslmode') === 'verify-full'
}

export function examineBackups(
  {
    isArchiving,
    archivedAt,
    failedAt,
    isDurable,
  }: Pick<DatabaseFacts, 'isArchiving' | 'archivedAt' | 'failedAt' | 'isDurable'>,
  isExternal: boolean,
  now: Date,
): CheckResult {
  const faults: string[] = []
  if (!isExternal) faults.push('the embedded database keeps no copy elsewhere')
  else if (!isArchiving)
    faults.push('the server does not archive its log: after a loss there is no way back to a time of your choice')
  else if (archivedAt === null || now.getTime() - archivedAt.getTime() > dayMs)
    faults.push('nothing was archived for a day')
  else if (failedAt !== null && failedAt > archivedAt)
    faults.push(`the last try to archive failed at ${failedAt.toISOString()}`)
  if (!isDurable) faults.push('fsync or full_page_writes is off: a crash of the machine may ruin the database')
  return finding(
    'backups',
    faults,
    `archived up to ${archivedAt?.toISOString()}`,
    'set archive_mode and archive_command of PostgreSQL, as pgBackRest does; docs/runbook.md, "Backup and restore"',
  )
}

export function examineNodes(
  chains: readonly Pick<ChainSettings, 'chainId' | 'name' | 'confirmations' | 'rpcUrls'>[],
  own: ReadonlyMap<number, readonly string[]>,
): CheckResult[] {
  const few = chains.filter(({ confirmations }) => confirmations < confirmationsLeast)
  const alone = chains.filter(({ chainId, rpcUrls }) => {
    const hosts = (own.get(chainId) ?? rpcUrls).filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname)
    return new Set(hosts).size < 2
  })
  return [
    finding(
      'confirmations',
      few.map(({ name, confirmations }) => `${name} takes a block for confirmed with ${confirmations}`),
      'every chain waits for blocks to settle',
      `openearn chains add ID --confirmations N: at least ${confirmationsLeast}, and 12 on Ethereum`,
    ),
    finding(
      'nodes',
      alone.map(({ name }) => `${name} has one node`),
      'every chain has nodes of two hosts',
      'add a second --rpc of another operator: one node that lies or stops is then noticed and passed over',
    ),
  ]
}

/** Sums: docs/runbook.md, "Connections to the database". */
export function examineConnections(
  {
    connectionsMax,
    connectionsReserved,
    others,
  }: Pick<DatabaseFacts, 'connectionsMax' | 'connectionsReserved' | 'others'>,
  poolSize: number,
  chains: number,
): CheckResult {
  const needed = (['serve', 'watch'] as const)
    .map((way) => countConnections(way, { poolSize, chains }))
    .reduce((sum, each) => sum + each, 0)
  const left = connectionsMax - connectionsReserved - others
  return {
    ...{ what: 'production: connections', well: needed + 4 <= left },
    detail: `one serve and one watch may open ${needed}, commands 4; the server has ${left} for them`,
    advice:
      'raise max_connections of PostgreSQL or lower DATABASE_POOL_SIZE; docs/runbook.md has the sum for more processes',
  }
}
