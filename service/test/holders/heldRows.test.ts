import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDerivation, derive, emptyState } from '../../src/derive/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import { parseConfig } from '../../src/kernel/config.js'
import { newId } from '../../src/kernel/ids.js'
import { silentLog } from '../../src/kernel/log.js'
import type { Database } from '../../src/postgres/pool.js'
import type { RawBlock } from '../../src/rpc/raw.js'
import { computeStateHash } from '../../src/server/stateHash.js'
import { createCursor } from '../../src/sync/storeCursors.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { vault, zero } from '../handChain.js'
import { createPipeline, rebuildChain } from '../pipeline.js'
import { seededRandom, times } from '../seed.js'
import { createHistory, type History, hashOf } from './histories.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

async function insertDistributors(db: Database): Promise<void> {
  const organizationId = newId()
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  for (const id of ['alpha', 'beta'])
    await db`insert into distributors (id, organization_id, active_from) values (${id}, ${organizationId}, '1970-01-01')`
}

async function insertVault(db: Database, chainId: number, { config }: History): Promise<void> {
  const holders = (config.vaults[0]?.holders ?? []).map(({ from, ...holder }) => ({
    ...holder,
    activeFrom: new Date(from * 1_000).toISOString(),
  }))
  await db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'C', ${`c${chainId}`}, true)`
  await db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block, holders)
    values (${chainId}, ${vault}, 'erc4626', ${zero}, 6, ${vault}, 6, '1970-01-01', 1, ${JSON.stringify(holders)}::text::jsonb)`
}

/** Believes doubts, as the job does once everything up to their instants is derived. */
async function believe(db: Database, chainId: number, doubts: readonly { holder: string; at: number }[]) {
  for (const { holder, at } of doubts)
    await db`
      insert into holder_doubts
        (chain_id, vault_id, holder, wallet, block_number, block_hash, said, urls, read_at, believed_from)
      select ${chainId}, id, hex_bytes(${holder}), hex_bytes(${zero}), 0, hex_bytes(${hashOf(0)}), 0, 2, now(), to_timestamp(${at})
      from vaults where chain_id = ${chainId}`
}

/** The rows of a chain in one order: what counts for each wallet, and what each holder keeps. */
async function listRows(db: Database, chainId: number) {
  const of = db`join vaults v on v.id = b.vault_id where v.chain_id = ${chainId}`
  const balances = await db<{ line: string }[]>`
    select concat_ws(' ', hex_text(b.wallet), b.shares, b.attributed) as line from balances b ${of} and b.shares > 0 order by 1`
  const lots = await db<{ line: string }[]>`
    select concat_ws(' ', hex_text(b.wallet), b.distributor_id, b.shares) as line from lots b ${of} and b.shares > 0 order by 1`
  const held = await db<{ line: string }[]>`
    select concat_ws(' ', hex_text(b.holder), hex_text(b.wallet), b.shares, b.detail) as line from held_shares b ${of}
      and (b.shares > 0 or b.wallet = b.holder) order by 1`
  const parts = await db<{ line: string }[]>`
    select concat_ws(' ', b.block_number, b.transaction_index, hex_text(b.wallet), b.kind, b.shares, b.assets) as line
    from flows b ${of} order by 1`
  const texts = (rows: readonly { line: string }[]) => rows.map(({ line }) => line)
  return { balances: texts(balances), lots: texts(lots), held: texts(held), flows: texts(parts) }
}

function listDerived(history: History) {
  const state = emptyState()
  const derivation = createDerivation(history.config)
  for (const { block } of history.blocks) derive(block, derivation, state)
  const holders = [...state.holders].filter(([, { shares }]) => shares > 0n)
  return {
    balances: holders.map(([key, { shares, attributed }]) => `${key.slice(2)} ${shares} ${attributed}`).sort(),
    lots: holders
      .flatMap(([key, { lots }]) => [...lots].flatMap(([id, n]) => (n > 0n ? [`${key.slice(2)} ${id} ${n}`] : [])))
      .sort(),
  }
}

it('rows of holders are those of a derivation in memory, whenever a watcher starts anew, after a reorganisation and after a rebuild', async () => {
  const { db } = test
  const random = seededRandom()
  const context = { db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') }
  await insertDistributors(db)
  let [broken, doubted] = [0, 0]
  for (let run = 0; run < 3 * times; run++) {
    const chainId = 1_000 + run
    const history = createHistory(random, { length: 15, lies: true })
    await insertVault(db, chainId, history)
    await createCursor(db, chainId, 1, new Date('2026-11-20T12:00:00Z'))
    let pipeline = createPipeline(context, { chainId })
    const follow = async (block: RawBlock) => pipeline.append(await pipeline.refresh(block), [block], block)
    let doubts = history.rules.doubts
    for (const { block } of history.blocks) {
      await believe(
        db,
        chainId,
        doubts.filter(({ at }) => at < block.timestamp),
      )
      doubts = doubts.filter(({ at }) => at >= block.timestamp)
      // A new process knows nothing but the rows.
      if (random.chance(0.3)) pipeline = createPipeline(context, { chainId })
      await follow(block)
      if (block.number < 6 || !random.chance(0.15)) continue
      const back = random.int(1, 4)
      const before = { number: block.number - back, hash: hashOf(block.number - back) }
      pipeline = createPipeline(context, { chainId })
      await pipeline.rewind(await pipeline.refresh(block), before)
      for (const again of history.blocks.slice(block.number - back, block.number)) await follow(again.block)
    }
    const live = await listRows(db, chainId)
    const { balances, lots } = listDerived(history)
    expect({ balances: live.balances, lots: live.lots }).toEqual({ balances, lots })
    broken += live.held.filter((line) => line.includes(' broken ')).length
    doubted += live.held.filter((line) => line.endsWith('its view differs')).length
    const hash = await computeStateHash(db, chainId)
    const rebuilt = await rebuildChain({ db, clock: systemClock }, { chainId })
    expect({ hash: rebuilt.hash, rows: await listRows(db, chainId) }).toEqual({ hash, rows: live })
  }
  expect(broken).toBeGreaterThan(0)
  expect(doubted).toBeGreaterThan(0)
}, 300_000)
