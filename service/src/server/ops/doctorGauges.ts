import { Gauge, type Registry } from 'prom-client'
import { findEventsHealth } from '../../features/events/index.js'
import { listStaged } from '../../features/paid/index.js'
import {
  describeJobs,
  listGaps,
  listInvalidIndexes,
  listJobStatus,
  listVaultStatus,
} from '../../features/status/index.js'
import { listDoubtedRoots } from '../../features/streams/index.js'
import type { Context } from '../../postgres/context.js'
import { findPrices, listSuspects } from '../../prices/index.js'
import { listChainSettings } from '../../rpc/storeChains.js'
import { listDisagreements, listHistoryProgress } from '../../snapshots/index.js'
import { listAssets, listVaults } from '../../vaults/configured/index.js'
import { createLook, type Look } from './look.js'

type Base = Pick<Context, 'db' | 'clock' | 'config' | 'log'>
type Sample = { labels?: Record<string, string | number>; value: number }
type Add = (name: string, help: string, read: () => Promise<readonly Sample[]>) => void

/** For how long what a look found is told again: what is quick to read, and what reads much. */
const quickMs = 15_000
const slowMs = 300_000
const stagedMs = 7 * 86_400_000

/**
 * A gauge for each line of `openearn doctor` that other metrics do not tell. They are read when somebody looks, and at most once in
 * a while; where the database does not answer they are left out.
 */
export function registerDoctorGauges(registry: Registry, base: Base): void {
  const look = createLook(base)
  const add: Add = (name, help, read) => {
    new Gauge({
      name: `openearn_${name}`,
      help,
      labelNames: labelsOf(name),
      registers: [registry],
      async collect() {
        this.reset()
        // Without labels it would be told as 0.
        if (labelsOf(name).length === 0) this.remove()
        for (const { labels = {}, value } of (await look.attempt(read)) ?? []) this.set(labels, value)
      },
    })
  }
  addChains(base, look, add)
  addVaults(base, look, add)
  addPrices(base, look, add)
  addEvents(base, look, add)
  addWork(base, look, add)
}

const byChain = /^(chain_|vaults_|vault_|assets_|price_age|prices_suspect|snapshots_)/
const labelsOf = (name: string) => (byChain.test(name) ? ['chain'] : name === 'events_webhooks' ? ['state'] : [])

/** How many of some things each chain has; 0 for a chain with none. */
function countByChain(chains: readonly number[], found: readonly { chainId: number }[]): Sample[] {
  return chains.map((chain) => ({
    labels: { chain },
    value: found.filter(({ chainId }) => chainId === chain).length,
  }))
}

const listWatched = async ({ db }: Base) =>
  (await listChainSettings(db, { watchedOnly: true })).map(({ chainId }) => chainId).sort((a, b) => a - b)

function addChains(base: Base, look: Look, add: Add): void {
  const readGaps = look.keep(slowMs, async () => {
    const found: Sample[] = []
    for (const chain of await listWatched(base))
      found.push({ labels: { chain }, value: (await listGaps(base.db, chain)).length })
    return found
  })
  add('chain_broken_links', 'Headers kept that do not name the one before them', readGaps)
}

function addVaults(base: Base, look: Look, add: Add): void {
  const { db, clock } = base
  const readVaults = look.keep(slowMs / 5, async () => ({
    chains: await listWatched(base),
    vaults: await listVaultStatus(db, clock.now(), {}),
    disagreements: await listDisagreements(db),
  }))
  const count = (name: string, help: string, isCounted: (vault: Vault) => boolean) =>
    add(name, help, async () => {
      const { chains, vaults } = await readVaults()
      return countByChain(chains, vaults.filter(isCounted))
    })
  count(
    'vaults_drifting',
    'Vaults of which balances or entries differ from the chain',
    (vault) => (vault.mismatches ?? 0) > 0,
  )
  count('vaults_cut', 'Vaults with a move beyond the balance of its wallet', ({ cutMoves }) => cutMoves > 0)
  count(
    'vaults_disbelieved',
    'Vaults with a declared holder that is not believed',
    (vault) => vault.brokenHolders !== null,
  )
  add('vaults_disagreeing', 'Vaults that are not what is configured', async () => {
    const { chains, disagreements } = await readVaults()
    return countByChain(chains, disagreements)
  })
  add('vault_snapshot_age_seconds', 'Age of the newest snapshot of the vault that has waited longest', async () => {
    const { chains, vaults } = await readVaults()
    const now = clock.now().getTime()
    return chains.flatMap((chain) => {
      const ages = vaults
        .filter(({ chainId, isPaused, lastSnapshotAt }) => chainId === chain && !isPaused && lastSnapshotAt !== null)
        .map((vault) => (now - (vault.lastSnapshotAt?.getTime() ?? now)) / 1_000)
      return ages.length === 0 ? [] : [{ labels: { chain }, value: Math.round(Math.max(0, ...ages)) }]
    })
  })
  add('vaults_without_floor', 'Vaults in which the smallest unit makes an LP', async () => {
    const without = (await listVaults(db)).filter(({ kind, lpFloor }) => kind !== 'erc20' && lpFloor.length === 0)
    return countByChain(await listWatched(base), without)
  })
  const readStaged = look.keep(slowMs, async () => {
    const to = clock.now()
    const from = new Date(to.getTime() - stagedMs)
    return countByChain(await listWatched(base), await listStaged(db, { from, to, stagedBps: base.config.stagedBps }))
  })
  add('vaults_staged_7d', 'Vaults that sold shares below the price of a snapshot in seven days', readStaged)
  const readHistory = look.keep(quickMs, () => listHistoryProgress(db))
  add('snapshots_unread', 'Snapshots of the past that are to be read', async () =>
    (await readHistory()).map(({ chainId: chain, unread }) => ({ labels: { chain }, value: Math.round(unread) })),
  )
  add('snapshots_failing', '1 when the past of vaults cannot be read', async () =>
    (await readHistory()).map(({ chainId: chain, reason }) => ({ labels: { chain }, value: Number(reason !== null) })),
  )
}

type Vault = Awaited<ReturnType<typeof listVaultStatus>>[number]

function addPrices(base: Base, look: Look, add: Add): void {
  const { db, clock } = base
  const readAssets = look.keep(quickMs, async () => {
    const assets = await listAssets(db)
    return Promise.all(
      (await listWatched(base)).map(async (chain) => {
        const addresses = [...new Set(assets.filter(({ chainId }) => chainId === chain).map(({ address }) => address))]
        const prices = await findPrices(db, chain, addresses, clock.now())
        const observed = [...prices.values()].filter(({ source }) => source !== 'peg')
        const ages = observed.map(({ observedAt }) => (clock.now().getTime() - observedAt.getTime()) / 1_000)
        return { chain, unpriced: addresses.length - prices.size, ageSeconds: Math.round(Math.max(0, ...ages)) }
      }),
    )
  })
  add('assets_unpriced', 'Assets of vaults without a price', async () =>
    (await readAssets()).map(({ chain, unpriced }) => ({ labels: { chain }, value: unpriced })),
  )
  add('price_age_seconds', 'Age of the oldest of the prices that count, pegs left out', async () =>
    (await readAssets()).map(({ chain, ageSeconds }) => ({ labels: { chain }, value: ageSeconds })),
  )
  add('prices_suspect', 'Prices that jumped and wait for another to agree', async () =>
    countByChain(await listWatched(base), await listSuspects(db)),
  )
}

function addEvents({ db, clock }: Base, look: Look, add: Add): void {
  const readHealth = look.keep(quickMs, async () => ({ at: clock.now(), ...(await findEventsHealth(db, clock.now())) }))
  type Health = Awaited<ReturnType<typeof readHealth>>
  const secondsSince = ({ at }: Health, since: Date | null) =>
    since === null ? 0 : Math.max(0, Math.round((at.getTime() - since.getTime()) / 1_000))
  const one = (name: string, help: string, read: (health: Health) => number) =>
    add(`events_${name}`, help, async () => [{ value: read(await readHealth()) }])
  one('unmoved', 'Events that have no position yet', ({ unmoved }) => unmoved)
  one('delay_seconds', 'How long the oldest event without a position has waited', (health) =>
    secondsSince(health, health.unmovedSince),
  )
  one('queued', 'Events that wait for webhooks', ({ queued }) => queued)
  one('given_up', 'Events that were given up after their last try', ({ dead }) => dead)
  one('overdue_seconds', 'How long an event has waited to be tried while its webhook is well', (health) =>
    secondsSince(health, health.overdueSince),
  )
  add('events_webhooks', 'Webhooks by what becomes of them', async () => {
    const { enabled, failing, disabled } = await readHealth()
    const states = { enabled, failing, disabled }
    return Object.entries(states).map(([state, value]) => ({ labels: { state }, value }))
  })
}

function addWork(base: Base, look: Look, add: Add): void {
  const { db } = base
  add('stream_roots_doubted', 'Roots of streams that a source contradicts', async () => [
    { value: (await listDoubtedRoots(db)).length },
  ])
  const readJobs = look.keep(quickMs, async () => listJobStatus(db, await listWatched(base)))
  add('jobs_overdue_seconds', 'How long the job has been due that waits longest for a process', async () => [
    { value: Math.round(Math.max(0, ...(await readJobs()).map(({ overdueSeconds }) => overdueSeconds))) },
  ])
  add('jobs_unwell', 'Jobs that are overdue, fail again and again, or end their process', async () => [
    { value: (await readJobs()).filter((job) => !describeJobs([job]).well).length },
  ])
  const readIndexes = look.keep(slowMs, async () => [{ value: (await listInvalidIndexes(db)).length }])
  add('database_invalid_indexes', 'Indexes that the database calls invalid', readIndexes)
}
