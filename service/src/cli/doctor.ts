import { findEventsHealth } from '../features/events/index.js'
import {
  describeCut,
  describeHolders,
  describeJobs,
  listChainStatus,
  listGaps,
  listInvalidIndexes,
  listJobStatus,
  listMissingIndexes,
  listVaultStatus,
  type VaultStatus,
} from '../features/status/index.js'
import { listDoubtedRoots } from '../features/streams/index.js'
import { formatTs } from '../kernel/clock.js'
import { redactUrls } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import { type Migration, readMigrations } from '../postgres/migrate.js'
import { openChain } from '../rpc/chains.js'
import { createNode } from '../rpc/node.js'
import { describeKey, listSenders } from '../rpc/sender/index.js'
import { listChainSettings } from '../rpc/storeChains.js'
import { defaultVetoSeconds } from '../server/jobs.js'
import { listDisagreements } from '../snapshots/index.js'
import { withContext } from './command.js'
import { type CheckResult, examinePrices } from './doctorPrices.js'
import { examineProduction } from './doctorProduction.js'
import { type Command, parseFlags, printTable } from './terminal.js'

const lagSecondsMax = 300
/** From so far above the wall clock on a chain is named. */
const clockSecondsMax = 60
/** Roots are counted again every 15 s, and a single url is asked twice. */
const vetoSecondsLeast = 60
/** As many blocks as are looked at again after the first start, and some. */
const uncheckedMax = 12_000

export const doctor: Command = {
  usage:
    'openearn doctor [--production]    (--production: also what an installation that serves others should not have)',
  run: async (words) => {
    const { values } = parseFlags(words, { production: { type: 'boolean' } })
    await withContext(async (ctx) => {
      const own = values.production === true ? await examineProduction(ctx) : []
      const findings = [...(await examine(ctx)), ...own]
      printTable(
        ['', 'WHAT', 'FOUND', 'DO'],
        findings.map(({ what, well, detail, advice }) => [well ? 'ok' : 'NOT WELL', what, detail, well ? '' : advice]),
        findings,
      )
      if (findings.some(({ well }) => !well)) process.exitCode = 1
    })
  },
}

type Add = (what: string, well: boolean, detail: string, advice: string) => void
/** The newest block that a node of each chain has. */
type Heads = ReadonlyMap<number, { number: number; timestamp: number }>

/** Looks at everything that can go wrong with watching. Never throws for what it finds. */
export async function examine(ctx: Context): Promise<CheckResult[]> {
  const { db, clock, config } = ctx
  const findings: CheckResult[] = []
  const add: Add = (what, well, detail, advice) => findings.push({ what, well, detail, advice })
  await examineChains(ctx, await examineNodes(ctx, add), add)
  const proxies = config.trustedProxies.join(', ')
  add(
    'addresses of callers',
    true,
    proxies === ''
      ? 'of the connection: TRUSTED_PROXIES is not set, so behind a proxy all callers are one'
      : `of X-Forwarded-For, from ${proxies}`,
    '',
  )
  await examineVaults(ctx, add)
  for (const finding of await examinePrices(ctx)) findings.push(finding)
  for (const status of await listSenders(db)) {
    const { name, well, detail, advice } = describeKey(status, clock.now())
    add(name, well, detail, advice)
  }
  await examineEvents(ctx, add)
  await examineRoots(ctx, add)
  const watched = (await listChainSettings(db, { watchedOnly: true })).map(({ chainId }) => chainId)
  const jobs = describeJobs(
    await listJobStatus(
      db,
      watched.sort((a, b) => a - b),
    ),
  )
  add('jobs', jobs.well, jobs.detail, jobs.advice)
  await examineIndexes(ctx, add)
  return findings
}

/** Roots of streams that a source contradicts, and whether one can be vetoed at all. */
async function examineRoots({ db, config }: Context, add: Add): Promise<void> {
  const { rootWatch } = config
  const doubted = await listDoubtedRoots(db)
  const [first] = doubted
  add(
    'roots of streams',
    first === undefined,
    first
      ? `${doubted.length} differ; that of ${formatTs(first.at)} of stream ${first.streamId} by ${first.sources.join(', ')}`
      : rootWatch === undefined
        ? 'not counted again: ROOT_WATCH is not set'
        : 'no source contradicts one',
    `openearn streams watch-root ${first?.streamId ?? ''}`,
  )
  if (rootWatch !== 'veto') return
  const chainIds = (await listChainSettings(db, { watchedOnly: true })).map(({ chainId }) => chainId)
  const vetoSeconds = config.vetoSeconds ?? defaultVetoSeconds(chainIds)
  add(
    'roots of streams: time to veto',
    vetoSeconds >= vetoSecondsLeast,
    `${vetoSeconds} s`,
    `set VETO_SECONDS to at least ${vetoSecondsLeast}: a root is committed before it is counted again`,
  )
}

/** How long an event may wait to be moved or tried while processes run. */
const eventSecondsMax = 60

async function examineEvents({ db, clock }: Context, add: Add): Promise<void> {
  const at = clock.now()
  const health = await findEventsHealth(db, at)
  const secondsSince = (since: Date | null) =>
    since === null ? 0 : Math.round((at.getTime() - since.getTime()) / 1_000)
  const unmoved = secondsSince(health.unmovedSince)
  add(
    'events: feed',
    unmoved <= eventSecondsMax,
    health.unmoved === 0 ? 'every event has its position' : `${health.unmoved} without a position, for ${unmoved} s`,
    'start the service: each of its processes moves events; if one runs, see its log',
  )
  const overdue = secondsSince(health.overdueSince)
  add(
    'events: webhooks',
    overdue <= eventSecondsMax,
    `${health.enabled} enabled, ${health.failing} failing, ${health.disabled} disabled by failures; ${health.queued} events wait, ${health.dead} given up${overdue > 0 ? `; one is due for ${overdue} s` : ''}`,
    'start `openearn watch` with SECRETS_KEY: it delivers; if it runs, see its log',
  )
}

/** Asks every node for its head, and looks for gaps among the headers that are kept of its chain. */
async function examineNodes({ db, clock, config }: Context, add: Add): Promise<Heads> {
  const outbound = createOutbound(clock)
  const heads = new Map<number, { number: number; timestamp: number }>()
  for (const settings of await listChainSettings(db, { watchedOnly: true })) {
    const rpcUrls = config.rpcUrls.get(settings.chainId) ?? settings.rpcUrls
    for (const url of rpcUrls.filter((each) => each.startsWith('http'))) {
      const what = `${settings.name}: ${redactUrls(url)}`
      try {
        const head = await createNode(openChain(outbound, { ...settings, rpcUrls: [url] }).rpc).findHeader('latest')
        add(
          what,
          head !== undefined,
          `head ${head?.number ?? 'unknown'}`,
          'the node has no blocks; wait for it to sync',
        )
        if (head && head.number >= (heads.get(settings.chainId)?.number ?? 0)) heads.set(settings.chainId, head)
        const skew = head ? clock.now().getTime() / 1000 - head.timestamp : 0
        add(
          `${what} clock`,
          skew >= -clockSecondsMax || settings.clock === 'chain',
          skew < 0 ? `head is ${Math.round(-skew)} s ahead of this machine` : `head is ${Math.round(skew)} s old`,
          'set the clock of this machine; series of this chain end by its time, at most an hour above it',
        )
      } catch (error) {
        const reason = error instanceof Error ? redactUrls(error.message) : String(error)
        add(what, false, reason, 'check the url, the network and the node')
      }
    }
    const gaps = await listGaps(db, settings.chainId)
    add(
      `${settings.name}: header chain`,
      gaps.length === 0,
      gaps[0] === undefined ? 'no broken links' : `${gaps.length} broken links, the first at block ${gaps[0]}`,
      `openearn chains rewind ${settings.chainId} --to ${Math.max(0, (gaps[0] ?? 0) - 2)}`,
    )
  }
  return heads
}

async function examineChains({ db, clock }: Context, heads: Heads, add: Add): Promise<void> {
  for (const chain of await listChainStatus(db, clock.now())) {
    const head = heads.get(chain.chainId)
    const indexedBlock = chain.indexedBlock ?? 0
    const behind = Math.max(chain.lagBlocks ?? 0, (head?.number ?? 0) - indexedBlock)
    const lagSeconds = head && chain.indexedAt ? head.timestamp - chain.indexedAt.getTime() / 1000 : 0
    const late = chain.state === 'live' && behind > 0 && lagSeconds > lagSecondsMax
    const quietMs = chain.updatedAt === null ? null : clock.now().getTime() - chain.updatedAt.getTime()
    const alive = quietMs !== null && quietMs < lagSecondsMax * 1000
    add(
      `${chain.name}: watcher`,
      alive,
      quietMs === null ? 'never ran' : `last seen ${Math.round(quietMs / 1000)} s ago`,
      'start `openearn watch`; if one runs, see its log: it cannot reach its node or the database',
    )
    add(
      `${chain.name}: state`,
      chain.state !== 'stalled' && !late,
      `${chain.state ?? 'not started'}, ${behind} blocks behind${chain.reason === null ? '' : `: ${chain.reason}`}`,
      late ? 'see the log of the watcher: node, database or disk' : 'do what the reason says; see docs/runbook.md',
    )
    const { evidence, traceFrom, tracesAwaited, tracesMissing } = chain
    add(
      `${chain.name}: evidence`,
      tracesMissing === 0,
      evidence === 'calldata'
        ? 'calldata: no url tells how transactions ran; routers and bundles nobody can read credit nobody'
        : `trace, whole from block ${traceFrom ?? 0}; ${tracesAwaited} awaited, ${tracesMissing} were not to be had`,
      `add an --rpc with debug_traceTransaction, then openearn rebuild --chain ${chain.chainId} --traces FROM..TO --dry-run`,
    )
    const unchecked = (chain.finalizedBlock ?? 0) - (chain.checkedTo ?? 0)
    add(
      `${chain.name}: second look`,
      chain.state !== 'live' || unchecked < uncheckedMax,
      `final blocks looked at again up to ${chain.checkedTo ?? 'none'} of ${chain.finalizedBlock ?? 'none'}`,
      'see the log of the watcher: its node does not give receipts, or contradicts itself; add a second --rpc',
    )
  }
}

async function examineVaults({ db, clock }: Context, add: Add): Promise<void> {
  const vaults = await listVaultStatus(db, clock.now(), {})
  const drifting = vaults.filter(({ mismatches }) => (mismatches ?? 0) > 0)
  add(
    'balances and entries against the chain',
    drifting.length === 0,
    [`${drifting.length} of ${vaults.length} vaults drift`, ...drifting.slice(0, 10).map(nameVault)].join(' '),
    adviseRefetch(drifting),
  )
  const cut = vaults.filter(({ cutMoves }) => cutMoves > 0)
  add(
    'moves beyond a balance',
    cut.length === 0,
    [
      `in ${cut.length} of ${vaults.length} vaults`,
      ...cut.slice(0, 10).map((vault) => `${nameVault(vault)} ${describeCut(vault.cutMoves)}`),
    ].join(' '),
    'take a share that rebases out of the catalogue and list a vault that wraps it; else set an earlier startBlock of the vault',
  )
  const lying = vaults.filter(({ brokenHolders, ignoredEvents }) => brokenHolders !== null || ignoredEvents > 0)
  add(
    'holders are believed',
    lying.every(({ brokenHolders }) => brokenHolders === null),
    lying.length === 0
      ? 'every event of a declared holder has its Transfer'
      : lying
          .slice(0, 10)
          .map((vault) => `${nameVault(vault)} ${describeHolders(vault)}`)
          .join(' '),
    'look at the contract; then declare it in the catalogue file with a new activeFrom, or take it out',
  )
  const disagreements = await listDisagreements(db)
  add(
    'vaults are what is configured',
    disagreements.length === 0,
    disagreements.length === 0
      ? 'asset, share token and decimals agree'
      : disagreements
          .slice(0, 10)
          .map(({ chainId, address, reason }) => `${chainId}:${address}: ${reason}`)
          .join('. '),
    'look at what changed the contract; once it is understood, list the vault anew as what it is',
  )
}

async function examineIndexes({ db }: Context, add: Add): Promise<void> {
  const missing = await listMissingIndexes(db, namedIndexes(await readMigrations()))
  const invalid = await listInvalidIndexes(db)
  const faults = [...missing.map((name) => `${name} is missing`), ...invalid.map((name) => `${name} is invalid`)]
  add(
    'indexes',
    faults.length === 0,
    faults.length === 0 ? 'all there and valid' : faults.join(', '),
    'create what is missing as service/migrations does; reindex what is invalid',
  )
}

/** A rebuild calls no node: it cannot find logs that were never read. */
function adviseRefetch(drifting: readonly VaultStatus[]): string {
  const [first] = drifting
  const same = drifting.filter(({ chainId }) => chainId === first?.chainId)
  const from = Math.min(...same.map(({ fromBlock }) => fromBlock ?? 0))
  const to = Math.max(...same.map(({ checkedBlock }) => checkedBlock ?? 0))
  return `openearn chains refetch ${first?.chainId} --from ${from} --to ${to}; where nothing was missing, check start_block of the vault, then openearn rebuild`
}

const nameVault = ({ chainId, vaultAddress }: { chainId: number; vaultAddress: string }) => `${chainId}:${vaultAddress}`

/** The indexes the migrations make by name and do not drop again, alone or with their table. */
export function namedIndexes(migrations: readonly Pick<Migration, 'sql'>[]): string[] {
  const tables = new Map<string, string>()
  const statement =
    /\b(create|drop)\s+(?:unique\s+)?(index|table)\s+(?:if\s+(?:not\s+)?exists\s+)?([a-z0-9_]+)(?:\s+on\s+([a-z0-9_]+))?/gi
  for (const { sql } of migrations)
    for (const [, verb, what, name = '', table = ''] of sql.replace(/--.*$/gm, '').matchAll(statement)) {
      const isIndex = what?.toLowerCase() === 'index'
      if (verb?.toLowerCase() === 'create') {
        if (isIndex) tables.set(name, table)
      } else if (isIndex) tables.delete(name)
      else for (const [index, of] of tables) if (of === name) tables.delete(index)
    }
  return [...tables.keys()]
}
