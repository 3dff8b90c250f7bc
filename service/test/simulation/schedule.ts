import { signerAddress } from '@openearn/attribution'
import { recordSigner } from '../../src/features/catalogue/storeSigners.js'
import type { LedgerRows } from '../../src/features/ledger/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import { silentLog } from '../../src/kernel/log.js'
import type { Database } from '../../src/postgres/pool.js'
import { createWatcher, type Sink, type Watcher } from '../../src/sync/follow.js'
import type { Reaction } from '../../src/sync/pipeline.js'
import { createPipeline, rebuildChain, rewindChain } from '../pipeline.js'
import { signerKey } from './calldata.js'
import { allVaults, asyncVault, codes, lateVault, type ModelBlock, start } from './model.js'
import { createModelChain, type Forks } from './modelChain.js'
import { createModelNode } from './modelNode.js'
import { createRandom, type Random } from './random.js'
import type { Rules } from './recountCredits.js'

const epoch = new Date(0)
/** Connections of a watcher. */
export const connections = 4

export type Played = {
  chainId: number
  blocks: ModelBlock[]
  rules: Rules
  forks: Forks
  /** How many blocks each reorganisation the watcher followed took back. */
  reorgs: number[]
  /** Processes killed, steps that failed, and steps another process came in between of. */
  kills: number
  failures: number
  interruptions: number
  /** Ledger entries that were ever committed; undefined when the catalogue changed, which takes entries away too. */
  committed: ReadonlySet<string> | undefined
}

class Crash extends Error {
  override readonly name = 'Crash'
}

/**
 * Plays one schedule: a chain that grows and forks, a node that lies, a watcher that is killed, a catalogue that changes.
 * `watching` is the watcher's own connections to the same database: they die with it.
 */
export async function playSchedule(
  { db, watching }: { db: Database; watching: Database },
  seed: number,
  organizationId: string,
): Promise<Played> {
  const random = createRandom(seed)
  const chainId = 1_000_000 + seed
  const isLong = random.chance(0.1)
  const world = createModelChain(random, chainId, isLong)
  const rules = await prepareCatalogue(db, chainId, organizationId)
  const played = { chainId, rules, kills: 0, failures: 0, interruptions: 0 }
  const faults = { share: 0 }
  const node = createModelNode({
    chainId,
    chain: () => world.blocks,
    stale: world.stale,
    finalized: () => (isLong ? world.highest - 80 : null),
    random,
    faults,
    between: () => {
      if (!isOver && random.chance(0.01)) world.change()
    },
  })
  let isOver = false
  const isCrashing = () => !isOver
  const committed = new Set<string>()
  let isCatalogueChanged = false
  let isInterrupted = false
  let isConnectionLost = false
  /** What another process does between the reading and the writing of a step: it watches, rewinds, rebuilds, changes. */
  const interrupt = async (): Promise<void> => {
    if (isOver || isInterrupted || !random.chance(0.02)) return
    isInterrupted = true
    played.interruptions += 1
    const ctx = { db: watching, clock: systemClock, log: silentLog }
    try {
      switch (random.int(0, 4)) {
        case 0:
          await rewindChain(ctx, { chainId, to: (world.blocks.at(-1)?.number ?? 0) - random.int(0, 20) })
          break
        case 1:
          await rebuildChain(ctx, { chainId })
          break
        case 2:
          await changeCatalogue(db, random, rules, world.blocks, chainId, organizationId)
          isCatalogueChanged = true
          break
        default:
          for (let steps = random.int(1, 4); steps > 0; steps--) await other.step()
      }
    } catch (error) {
      played.failures += 1
      if (isRejectedRow(error)) throw error
    } finally {
      isInterrupted = false
    }
  }
  const open = (): Watcher => {
    const { reactions, wrap } = createDeaths(random, isCrashing, committed, interrupt, () => {
      isConnectionLost = true
    })
    const pipeline = createPipeline(
      { db: watching, clock: systemClock, log: silentLog },
      { chainId, reactions, backfillWindow: 8 },
    )
    const sink = wrap(pipeline)
    const chain = { chainId, confirmations: 1 + (seed % 3) * 6, finalityDepth: 80, reorgRecheckSeconds: 0 }
    return createWatcher({
      chain,
      node,
      sink,
      clock: systemClock,
      log: silentLog,
      windowMax: 16,
      calmMs: 0,
      random: random.next,
    })
  }
  let watcher = open()
  let other = open()
  let lastError: unknown
  const step = async (): Promise<'progress' | 'idle' | 'stalled'> => {
    try {
      return await watcher.step()
    } catch (error) {
      played.failures += 1
      if (error instanceof Crash) {
        played.kills += 1
        watcher = open()
      } else lastError = error
      // A key that is there already would be something derived twice.
      if (isRejectedRow(error)) throw error
      return 'progress'
    } finally {
      if (isConnectionLost) await settle(watching)
      isConnectionLost = false
    }
  }
  const turns = random.int(4, 8)
  for (let turn = 0; turn < turns; turn++) {
    // Calm and stormy times, so that steps of many calls succeed now and then.
    faults.share = random.pick([0, 0.01, 0.03, 0.1])
    world.change()
    if (random.chance(0.12)) {
      await changeCatalogue(db, random, rules, world.blocks, chainId, organizationId)
      isCatalogueChanged = true
    }
    if (random.chance(0.1)) {
      played.kills += 1
      watcher = open()
    }
    // The lock passes to the other process; this one may wake up once more and not know.
    if (random.chance(0.2)) [watcher, other] = [other, watcher]
    // Most of the time the watcher is at the head before the chain moves again: only there forks concern it.
    const most = random.chance(0.7) ? 15 : random.int(0, 3)
    for (let steps = 0; steps < most; steps++) if ((await step()) === 'idle') break
  }
  // The faults end, one more block comes, and everything must come to rest.
  faults.share = 0
  isOver = true
  world.mine(1)
  for (let quiet = 0, steps = 0; quiet < 2; steps++) {
    if (steps > 400) throw new Error(`seed ${seed}: the watcher never came to rest`, { cause: lastError })
    const result = await step()
    if (result === 'stalled') {
      const [cursor] = await db`select * from chain_cursors where chain_id = ${chainId}`
      throw new Error(`seed ${seed}: stalled: ${JSON.stringify(cursor)} top ${world.blocks.at(-1)?.number}`)
    }
    quiet = result === 'idle' ? quiet + 1 : 0
  }
  const reorgs = await db<{ depth: number }[]>`
    select (old_number - ancestor_number)::int as depth from chain_reorgs where chain_id = ${chainId}`
  return {
    ...played,
    blocks: [...world.blocks],
    forks: world.forks,
    reorgs: reorgs.map(({ depth }) => depth),
    committed: isCatalogueChanged ? undefined : committed,
  }
}

/**
 * Ways to die around a transaction: in the middle of it, by the loss of the database connection it runs on, and after it
 * was committed but before anybody knew. Keeps the ids of entries that were committed.
 */
function createDeaths(
  random: Random,
  isCrashing: () => boolean,
  committed: Set<string>,
  interrupt: () => Promise<void>,
  onLoss: () => void,
) {
  let written: string[] = []
  const die = async (tx: Parameters<NonNullable<Reaction['onRewind']>>[0]) => {
    if (!isCrashing()) return
    if (random.chance(0.03)) throw new Crash()
    if (!random.chance(0.01)) return
    onLoss()
    await tx`select pg_terminate_backend(pg_backend_pid())`
  }
  const reaction: Reaction = {
    name: 'death',
    onBlocks: async (tx, _chainId, _blocks, rows) => {
      written = (rows.get('ledger') as LedgerRows[]).flatMap(({ interactions }) => interactions.map(({ id }) => id))
      await die(tx)
    },
    onRewind: (tx) => die(tx),
  }
  const wrap = (sink: Sink): Sink => ({
    ...sink,
    recordHead: async (...input) => {
      await interrupt()
      return sink.recordHead(...input)
    },
    backfill: async (...input) => {
      await interrupt()
      return sink.backfill(...input)
    },
    append: async (...input) => {
      await interrupt()
      written = []
      const cursor = await sink.append(...input)
      for (const id of written) committed.add(id)
      if (isCrashing() && random.chance(0.02)) throw random.chance(0.5) ? new Crash() : new Error('the answer was lost')
      return cursor
    },
    rewind: async (...input) => {
      await interrupt()
      const cursor = await sink.rewind(...input)
      if (isCrashing() && random.chance(0.04)) throw random.chance(0.5) ? new Crash() : new Error('the answer was lost')
      return cursor
    },
  })
  return { reactions: [reaction], wrap }
}

/**
 * Lets the loss of a connection be noticed before anything else happens, whenever that is: else what fails next depends
 * on time, and a seed would not play the same schedule twice.
 */
async function settle(db: Database): Promise<void> {
  for (let round = 0; round < 2; round++)
    await Promise.all(Array.from({ length: connections }, () => db`select 1`.catch(() => undefined)))
}

async function prepareCatalogue(db: Database, chainId: number, organizationId: string): Promise<Rules> {
  const token = `0x${'dd'.repeat(20)}`
  await db`delete from distributor_settings`
  await db`delete from distributors`
  await db`insert into chains (chain_id, name, slug) values (${chainId}, ${`c${chainId}`}, ${`c${chainId}`})`
  const vaults = allVaults.filter((vault) => vault !== lateVault)
  for (const vault of vaults)
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block)
      values (${chainId}, ${vault}, ${vault === asyncVault ? 'erc7540' : 'erc4626'}, ${token}, 6, ${vault}, 6, ${epoch}, 1)`
  const known = codes.slice(0, 2)
  for (const id of known)
    await db`insert into distributors (id, organization_id, active_from) values (${id}, ${organizationId}, ${epoch})`
  await recordSigner(db, signerAddress(Buffer.from(signerKey.slice(2), 'hex')), epoch)
  await bump(db)
  return {
    distributors: known.map((id) => ({ id, from: 0 })),
    signedOnly: [],
    vaults: vaults.map((address) => ({ address, from: 0 })),
  }
}

const bump = (db: Database) => db`update catalogue_versions set version = version + 1`

/** A distributor registered now or earlier, a switch to signed only, a vault that comes later. */
async function changeCatalogue(
  db: Database,
  random: Random,
  rules: Rules,
  blocks: readonly ModelBlock[],
  chainId: number,
  organizationId: string,
): Promise<void> {
  const top = blocks.at(-1)?.timestamp ?? start
  const from = random.chance(0.4) ? top + random.int(1, 60) : random.int(start, top)
  const at = new Date(from * 1000)
  const kind = random.int(0, 2)
  const newcomer = codes.find((id) => !rules.distributors.some((known) => known.id === id))
  if (kind === 0 && newcomer) {
    await db`insert into distributors (id, organization_id, active_from) values (${newcomer}, ${organizationId}, ${at})`
    rules.distributors.push({ id: newcomer, from })
  } else if (kind === 1 && !rules.vaults.some(({ address }) => address === lateVault)) {
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block)
      values (${chainId}, ${lateVault}, 'erc4626', ${`0x${'dd'.repeat(20)}`}, 6, ${lateVault}, 6, ${at}, 3)`
    rules.vaults.push({ address: lateVault, from })
  } else if (kind === 2) {
    const id = random.pick(rules.distributors).id
    if (rules.signedOnly.some((setting) => setting.id === id && setting.from === from)) return
    const value = random.chance(0.7)
    await db`insert into distributor_settings (distributor_id, signed_only, active_from) values (${id}, ${value}, ${at})`
    rules.signedOnly.push({ id, from, value })
  }
  await bump(db)
}

/** Integrity violations (SQLSTATE class 23): no fault around the database explains one. */
function isRejectedRow(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('23')
}
