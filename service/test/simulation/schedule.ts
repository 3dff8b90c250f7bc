import { createHash } from 'node:crypto'
import { signerAddress } from '../../src/chain/attribution/index.js'
import { recordSigner } from '../../src/chain/storeSigners.js'
import { createWatcher, type Watcher } from '../../src/chain/watcher.js'
import { createPipeline } from '../../src/derive/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import type { Database } from '../../src/kernel/database.js'
import { silentLog } from '../../src/kernel/log.js'
import { generateTransaction, signerKey } from './generate.js'
import { allVaults, asyncVault, cloneState, codes, lateVault, type ModelBlock, type ModelState } from './model.js'
import { createModelNode } from './modelNode.js'
import { createRandom, type Random } from './random.js'
import type { Rules } from './recount.js'

const start = 1_700_000_000
const epoch = new Date(0)

export type Played = {
  chainId: number
  blocks: ModelBlock[]
  rules: Rules
  reorgs: number
  kills: number
  failures: number
}

class Crash extends Error {
  override readonly name = 'Crash'
}

/** Plays one schedule: a chain that grows and forks, a node that lies, a watcher that is killed, a catalogue that changes. */
export async function playSchedule(db: Database, seed: number, organizationId: string): Promise<Played> {
  const random = createRandom(seed)
  const chainId = 1_000_000 + seed
  const isLong = random.chance(0.1)
  const world = createChain(random, chainId, isLong)
  const rules = await prepareCatalogue(db, chainId, organizationId)
  const played: Played = { chainId, blocks: [], rules, reorgs: 0, kills: 0, failures: 0 }
  const faults = { share: 0.06 }
  const node = createModelNode({
    chainId,
    chain: () => world.blocks,
    finalized: () => (isLong ? world.highest - 80 : null),
    random,
    faults,
    between: () => {
      if (faults.share > 0 && random.chance(0.01)) world.change()
    },
  })
  let crashing = true
  const open = (): Watcher => {
    const crash = async () => {
      if (crashing && random.chance(0.04)) throw new Crash()
    }
    const reactions = [{ name: 'crash', onBlocks: crash, onRewind: crash }]
    const sink = createPipeline({ db, clock: systemClock, log: silentLog }, { chainId, reactions, backfillWindow: 8 })
    const chain = { chainId, confirmations: 1 + (seed % 3) * 6, finalityDepth: 80, reorgRecheckSeconds: 0 }
    return createWatcher({ chain, node, sink, clock: systemClock, log: silentLog, windowMax: 16, random: random.next })
  }
  let watcher = open()
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
      return 'progress'
    }
  }
  const turns = random.int(6, 14)
  for (let turn = 0; turn < turns; turn++) {
    world.change()
    if (random.chance(0.12)) await changeCatalogue(db, random, rules, world.blocks, chainId, organizationId)
    if (random.chance(0.1)) {
      played.kills += 1
      watcher = open()
    }
    for (let steps = random.int(0, 3); steps > 0; steps--) await step()
  }
  // The faults end, one more block comes, and everything must come to rest.
  faults.share = 0
  crashing = false
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
  return { ...played, blocks: [...world.blocks], reorgs: world.reorgs() }
}

function createChain(random: Random, chainId: number, isLong: boolean) {
  const empty: ModelState = { shares: new Map(), requests: [] }
  const genesis: ModelBlock = {
    number: 0,
    hash: hash(chainId, 'genesis'),
    parentHash: hash(chainId, ''),
    timestamp: start,
    transactions: [],
    state: empty,
  }
  const blocks: ModelBlock[] = [genesis]
  let fork = 0
  let reorgs = 0
  const world = {
    blocks,
    highest: 0,
    reorgs: () => reorgs,
    mine: (count: number, transactionsMax = 3) => {
      for (; count > 0; count--) {
        const parent = blocks.at(-1) ?? genesis
        const number = parent.number + 1
        const state = cloneState(parent.state)
        const id = hash(chainId, `${fork}:${number}:${random.int(0, 1e9)}`)
        const transactions = []
        let firstLog = 0
        for (let index = 0, wanted = random.int(0, transactionsMax); index < wanted; index++) {
          const place = {
            chainId,
            block: number,
            index,
            hash: hash(chainId, `${id}:${index}`),
            firstLog,
            late: number >= 3,
          }
          const transaction = generateTransaction(random, state, place)
          transactions.push(transaction)
          firstLog += transaction.logs.length
        }
        blocks.push({ number, hash: id, parentHash: parent.hash, timestamp: start + number * 12, transactions, state })
        world.highest = Math.max(world.highest, number)
      }
    },
    /** Grows, or forks at a random depth and grows at least as high again. */
    change: () => {
      // What is final never changes: no fork reaches below the depth at which a block is final.
      const depthMax = Math.min(64, blocks.length - 1 - Math.max(0, world.highest - 78))
      if (depthMax < 1 || random.chance(0.6)) {
        world.mine(random.int(1, random.chance(0.1) ? 40 : 4))
        return
      }
      const depth = random.chance(0.7) ? random.int(1, Math.min(4, depthMax)) : random.int(1, depthMax)
      // Transactions of the old branch may come back in the new one, in other blocks.
      blocks.splice(blocks.length - depth, depth)
      fork += 1
      reorgs += 1
      world.mine(depth + random.int(0, 2))
    },
  }
  if (isLong) world.mine(100, 1)
  return world
}

function hash(chainId: number, text: string): string {
  return `0x${createHash('sha256').update(`${chainId}:${text}`).digest('hex')}`
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
