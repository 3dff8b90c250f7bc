import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { present } from '../../../contracts/test/present.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { rewindChain } from '../../test/pipeline.js'
import { reportDistributor } from '../features/audit/index.js'
import { silentLog } from '../kernel/log.js'
import { readMigrations } from '../postgres/migrate.js'
import { computeStateHash } from '../server/stateHash.js'
import { fillSnapshotPrices } from '../snapshots/store.js'
import { findCursor } from '../sync/storeCursors.js'
import { examine, namedIndexes } from './doctor.js'
import { writeManifest } from './export.js'
import { writeCsv } from './exportFiles.js'

let earn: Earn
let world: WatchWorld
let folder: string
const [alice, bob] = [account(1), account(2)]
const D = 'Y2Zi7KWy'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-export-'))
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  await earn.db`update chains set rpc_urls = ${[world.anvil.url]} where chain_id = ${chainId}`
  for (const user of [alice, bob]) await world.fund(user, 1_000_000_000n)
  await world.deposit(alice, 5_000_000n, D)
  await world.deposit(bob, 3_000_000n)
  await world.sync()
  earn.clock.set(present())
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
  await rm(folder, { recursive: true, force: true })
})

describe('the doctor', () => {
  it('finds nothing wrong with a chain that is watched', async () => {
    const findings = await examine(earn.ctx)
    expect(findings.filter(({ well }) => !well)).toEqual([])
    expect(findings.length).toBeGreaterThan(5)
  })

  it('names a chain that is more than a minute ahead of the clock, unless it keeps its own, and no other', async () => {
    const now = earn.clock.now()
    const { timestamp } = await world.anvil.client.getBlock()
    const isWell = async (secondsBehind: number) => {
      earn.clock.set(new Date((Number(timestamp) - secondsBehind) * 1_000))
      return (await examine(earn.ctx)).filter(({ what }) => what.endsWith(' clock')).map(({ well }) => well)
    }
    expect([await isWell(-3_600), await isWell(60), await isWell(61)]).toEqual([[true], [true], [false]])
    await earn.db`update chains set clock = 'chain'`
    expect(await isWell(86_400)).toEqual([true])
    await earn.db`update chains set clock = 'wall'`
    earn.clock.set(now)
  })

  it('names a broken header chain, a silent watcher and a node that does not answer, each with what to do', async () => {
    await earn.db`update blocks set parent_hash = '\\x00' where number = 3`
    await earn.db`update chains set rpc_urls = ${['http://127.0.0.1:1']}`
    earn.clock.set(new Date(present().getTime() + 3_600_000))
    const unwell = (await examine(earn.ctx)).filter(({ well }) => !well)
    expect(unwell.map(({ what }) => what)).toEqual([
      'Devnet: http://127.0.0.1:1/…',
      'Devnet: header chain',
      'Devnet: watcher',
    ])
    expect(unwell.every(({ advice }) => advice.length > 10)).toBe(true)
    expect(unwell[1]).toMatchObject({
      detail: '1 broken links, the first at block 3',
      advice: `openearn chains rewind ${chainId} --to 1`,
    })
    earn.clock.set(present())
    await earn.db`update blocks b set parent_hash = (select hash from blocks a where a.chain_id = b.chain_id and a.number = 2) where number = 3`
  })
})

describe('lag', () => {
  it('is measured against the node, so that a watcher that cannot write is late too', async () => {
    const found = async () => (await examine(earn.ctx)).find(({ what }) => what === 'Devnet: state')
    const { number, timestamp } = await world.anvil.client.getBlock()
    await earn.db`update chains set rpc_urls = ${[world.anvil.url]} where chain_id = ${chainId}`
    const at = new Date(Number(timestamp) * 1000)
    const set = (block: bigint, seen: Date) => earn.db`
      update chain_cursors set block_number = ${Number(block)}, head_number = ${Number(block)}, block_timestamp = ${seen}`
    await set(number - 2n, new Date(at.getTime() - 600_000))
    expect(await found()).toMatchObject({ well: false, detail: 'live, 2 blocks behind' })
    await set(number - 2n, new Date(at.getTime() - 20_000))
    expect(await found()).toMatchObject({ well: true, detail: 'live, 2 blocks behind' })
    await set(number, at)
    expect(await found()).toMatchObject({ well: true, detail: 'live, 0 blocks behind' })
  })

  it('of a stalled chain is told with the reason, for a wrong url is not put right by a rewind', async () => {
    await earn.db`update chain_cursors set state = 'stalled', reason = 'no RPC url serves this chain'`
    const found = (await examine(earn.ctx)).find(({ what }) => what === 'Devnet: state')
    expect(found).toMatchObject({ well: false, detail: expect.stringContaining('no RPC url serves this chain') })
    expect(found?.advice).not.toContain('chains rewind')
    await earn.db`update chain_cursors set state = 'live', reason = null`
  })
})

describe('drift', () => {
  it('is told with the vaults it was found in', async () => {
    await earn.db`insert into vault_drift (vault_id, checked_at, block_number, samples, mismatches)
      select id, now(), 1, 4, 2 from vaults where address = ${world.vault.toLowerCase()}`
    const found = (await examine(earn.ctx)).find(({ what }) => what === 'balances and entries against the chain')
    expect(found).toMatchObject({ well: false })
    expect(found?.detail).toContain(`vaults drift ${chainId}:${world.vault.toLowerCase()}`)
    await earn.db`delete from vault_drift`
  })

  it('is apart from moves beyond a balance, which are told with their vaults, their number and what to do', async () => {
    const found = async () => (await examine(earn.ctx)).find(({ what }) => what === 'moves beyond a balance')
    expect(await found()).toMatchObject({ well: true, detail: expect.stringMatching(/^in 0 of \d+ vaults$/) })
    await earn.db`insert into cut_moves (chain_id, block_number, vault_id, transaction_index, wallet, amount)
      select ${chainId}, 1, id, 0, hex_bytes(${world.vault}), 5 from vaults where address = ${world.vault.toLowerCase()}`
    expect(await found()).toMatchObject({
      well: false,
      detail: expect.stringContaining(`${chainId}:${world.vault.toLowerCase()} 1 move of shares was more than`),
      advice: expect.stringContaining('startBlock'),
    })
    await earn.db`delete from cut_moves`
  })
})

describe('the indexes', () => {
  it('are all there after the migrations, and the doctor names one that is missing', async () => {
    const names = namedIndexes(await readMigrations())
    expect(names.length).toBeGreaterThan(40)
    const found = async () => (await examine(earn.ctx)).find(({ what }) => what === 'indexes')
    expect(await found()).toMatchObject({ well: true })
    await earn.db`drop index lots_wallet_idx`
    expect(await found()).toMatchObject({ well: false, detail: 'lots_wallet_idx is missing' })
    await earn.db`create index lots_wallet_idx on lots (wallet)`
    expect(await found()).toMatchObject({ well: true })
  })

  it('are those made and not dropped again, comments aside', () => {
    const sql =
      'create index a on t (x); -- create index b on t\nCREATE UNIQUE INDEX c on t (x); create index if not exists d on t (y)'
    expect(namedIndexes([{ sql }, { sql: 'drop index if exists a' }])).toEqual(['c', 'd'])
  })
})

describe('an export', () => {
  it('is a file whose SHA-256 and rows are as its manifest says', async () => {
    for (const [name, wanted] of [
      ['ledger', 1],
      ['balances', 2],
      ['snapshots', 0],
    ] as const) {
      const file = join(folder, `${name}.csv`)
      const { rows, sha256 } = await writeCsv(earn.db, name, file)
      const text = await readFile(file, 'utf8')
      expect(rows).toBe(wanted)
      expect(sha256).toBe(createHash('sha256').update(text).digest('hex'))
      expect(text).toMatch(/^(id,)?chain_id,vault,/)
      expect(text.split('\n').length - 1).toBe(wanted + 1)
    }
    expect(await readFile(join(folder, 'ledger.csv'), 'utf8')).toContain(
      `,${alice.address.toLowerCase()},${D},signed,5000000,`,
    )
  })
})

describe('a manifest', () => {
  it('holds every file exported into the folder, once', async () => {
    const exported = { rows: 1, sha256: 'a', exportedAt: '2026-01-01T00:00:00Z' }
    await writeManifest(folder, { file: 'ledger.csv', ...exported })
    await writeManifest(folder, { file: 'balances.csv', ...exported })
    await writeManifest(folder, { file: 'ledger.csv', ...exported, rows: 2 })
    const { files } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    expect(files.map(({ file, rows }: { file: string; rows: number }) => [file, rows])).toEqual([
      ['balances.csv', 1],
      ['ledger.csv', 2],
    ])
  })
})

/** The chain goes on by so many days. */
async function passDays(days: number): Promise<Date> {
  const { timestamp } = await world.anvil.client.getBlock()
  await world.anvil.client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(days * 86_400) })
  await world.anvil.client.mine({ blocks: 1 })
  await world.sync()
  return (await findCursor(earn.db, chainId))!.blockTimestamp!
}

describe('the report of a distributor', () => {
  it('is the integral of attributed value, and covers the whole supply', async () => {
    const cursor = (await findCursor(earn.db, chainId))!
    const at = cursor.blockTimestamp!
    await earn.db`
      insert into vault_snapshots (vault_id, block_number, block_hash, block_timestamp, total_assets, total_supply,
        price_numerator, price_exponent)
      select id, ${cursor.blockNumber}, decode(${cursor.blockHash.slice(2)}, 'hex'), ${at}, 8000000, 8000000, 1000000, 6
      from vaults where chain_id = ${chainId} and address = ${world.vault.toLowerCase()}`
    await fillSnapshotPrices(earn.db, chainId)
    const to = await passDays(2)
    const rows = await reportDistributor(earn.ctx, { distributorId: D, from: at, to })
    expect(rows).toMatchObject([
      {
        opportunityId: world.opportunityId,
        usdDays: '10',
        unpricedMs: 0,
        coverage: { attributed: 5_000_000n, unattributed: 3_000_000n, drift: 0n, supply: 8_000_000n },
      },
    ])
  })

  it('holds supply and shares against each other at one block, however much came after it', async () => {
    const { blockTimestamp: at } = (await findCursor(earn.db, chainId))!
    await world.deposit(alice, 2_000_000n, D)
    await world.deposit(bob, 1_000_000n)
    await world.sync()
    const to = new Date(at!.getTime() + 2 * 86_400_000)
    const rows = await reportDistributor(earn.ctx, { distributorId: D, from: at!, to })
    expect(rows[0]?.coverage).toEqual({
      ...{ attributed: 5_000_000n, unattributed: 3_000_000n, drift: 0n, supply: 8_000_000n },
    })
    const [first] = await earn.db<{ at: Date }[]>`select min(block_timestamp) as at from vault_snapshots`
    const [before] = await reportDistributor(earn.ctx, { distributorId: D, from: new Date(0), to: first!.at })
    expect(before?.coverage).toMatchObject({ drift: 0n, supply: null })
  })

  it('counts no time after the newest confirmed block, whatever the clock says', async () => {
    const { blockTimestamp: at } = (await findCursor(earn.db, chainId))!
    const day = 86_400_000
    await passDays(1)
    earn.clock.set(new Date(at!.getTime() + 40 * day))
    const month = { distributorId: D, from: at!, to: new Date(at!.getTime() + 30 * day) }
    const [row] = await reportDistributor(earn.ctx, month)
    expect(row?.usdDays).toBe('7')
    const later = { ...month, from: new Date(at!.getTime() + 2 * day) }
    expect((await reportDistributor(earn.ctx, later))[0]?.usdDays).toBe('0')
  })
})

describe('the export of snapshots', () => {
  it('holds the price the report counts with, so that anyone can count again', async () => {
    const file = join(folder, 'snapshots.csv')
    await writeCsv(earn.db, 'snapshots', file)
    const [names = '', row = ''] = (await readFile(file, 'utf8')).split('\n')
    expect(names).toMatch(/,price_numerator,price_exponent,price_observation_id,price_usd$/)
    expect(row).toMatch(/,1000000,6,[0-9]+,1(\.0+)?$/)
  })
})

describe('an operator’s rewind', () => {
  it('takes everything above a block back, final or not, and the watcher reads the same again', async () => {
    const before = await computeStateHash(earn.db, chainId)
    const { blockNumber: tip } = (await findCursor(earn.db, chainId))!
    await earn.db`update chain_cursors set finalized_number = ${tip}`
    const ctx = { db: earn.db, clock: earn.clock, log: silentLog }
    expect(await rewindChain(ctx, { chainId, to: tip - 2 })).toEqual({ blockNumber: tip - 2, removedBlocks: 2 })
    expect(await findCursor(earn.db, chainId)).toMatchObject({ finalizedNumber: tip - 2, state: 'backfilling' })
    expect(await computeStateHash(earn.db, chainId)).not.toBe(before)
    await world.sync()
    expect(await computeStateHash(earn.db, chainId)).toBe(before)
  })
})
