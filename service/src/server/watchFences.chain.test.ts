import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { createPipeline, rebuildChain, rewindChain } from '../../test/pipeline.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { inTransaction } from '../postgres/pool.js'
import { createNode } from '../rpc/node.js'
import { CursorMoved } from '../sync/failures.js'
import { type Cursor, findCursor, lockCursor } from '../sync/storeCursors.js'
import { recordBlocks } from '../sync/storeRaw.js'
import { computeStateHash } from './stateHash.js'

let earn: Earn
let world: WatchWorld
const [alice, bob] = [account(1), account(2)]
const D = 'Y2Zi7KWy'

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  await world.fund(alice, 1_000_000_000n)
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const ctx = () => ({ db: earn.db, clock: systemClock, log: silentLog })
const sink = () => createPipeline(ctx(), { chainId })
const cursor = async (): Promise<Cursor> => {
  const found = await findCursor(earn.db, chainId)
  if (!found) throw new Error('never watched')
  return found
}
const headOf = async () => {
  const header = await createNode(world.chain.rpc).findHeader('latest')
  if (!header) throw new Error('no head')
  return header
}
/** Until another connection waits for a lock. */
const someoneWaits = () =>
  until('a connection that waits', async () => {
    const waiting = await earn.db`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return waiting.length > 0
  })
const rebuildHash = async () => (await rebuildChain(ctx(), { chainId })).hash

/** A vault with deposits in its blocks, not in the catalogue yet; answers it and how many logs it has. */
async function vaultWithPast(blocks: number) {
  const vault = await world.deployVault()
  await world.fund(alice, 1_000_000_000n, vault)
  for (let turn = 0; turn < blocks; turn++) await world.deposit(alice, BigInt(1_000 + turn), D, vault)
  return vault
}

/** Logs of a vault in the raw store, and on the chain. */
async function countLogs(vault: string) {
  const [kept] = await earn.db<{ logs: number }[]>`
    select count(*)::int as logs from logs where chain_id = ${chainId} and address = hex_bytes(${vault})`
  const logs = await createNode(world.chain.rpc).listRange({
    addresses: [vault.toLowerCase()],
    topics: sinkTopics,
    fromBlock: 0,
    toBlock: (await headOf()).number,
  })
  return { kept: kept?.logs, onChain: logs.logs.length }
}
let sinkTopics: readonly string[] = []

describe('what is kept of a chain', () => {
  it('is rebuilt whole when a vault added later began before the first block watched', async () => {
    const early = await vaultWithPast(3)
    // As when a chain is followed before its first vault is in the catalogue: watching starts at the head.
    await earn.db`update vaults set start_block = ${(await headOf()).number}`
    await world.sync()
    expect((await cursor()).startBlock).toBeGreaterThan(3)
    await world.list(early)
    await world.sync()
    const live = await computeStateHash(earn.db, chainId)
    expect(await rebuildHash()).toBe(live)
    const [entries] = await earn.db<{ count: number }[]>`select count(*)::int as count from interactions`
    expect(entries?.count).toBe(3)
  })

  it('is complete after chains rewind while the past of a vault was being read', async () => {
    const later = await vaultWithPast(30)
    await world.sync()
    const pipeline = sink()
    await pipeline.refresh(await headOf())
    sinkTopics = pipeline.watchList().topics
    const watcher = world.watcher({ backfillWindow: 5 })
    await world.list(later, { startBlock: (await cursor()).blockNumber - 32 })
    await watcher.step()
    for (let turn = 0; turn < 3; turn++) await watcher.step()
    const [read] = await earn.db<{ to: number }[]>`
      select synced_to::int as to from sources where source = ${later.toLowerCase()} and not synced`
    if (!read) throw new Error('nothing is being read')
    await rewindChain(ctx(), { chainId, to: read.to - 8 })
    await world.sync(watcher)
    const { kept, onChain } = await countLogs(later)
    expect(kept).toBe(onChain)
    expect(await rebuildHash()).toBe(await computeStateHash(earn.db, chainId))
  })

  it.each([
    ['counts', '1970-01-01'],
    ['does not count yet', '2100-01-01'],
  ])('is read from an earlier block on when the start of a vault that %s is corrected', async (_what, activeFrom) => {
    const vault = await vaultWithPast(4)
    const first = (await headOf()).number - 1
    await world.sync()
    await world.list(vault, { startBlock: first, activeFrom })
    await world.sync()
    expect((await countLogs(vault)).kept).toBe(4)
    await earn.db`update vaults set start_block = 0 where address = ${vault.toLowerCase()}`
    await earn.db`update catalogue_versions set version = version + 1`
    await world.sync()
    const { kept, onChain } = await countLogs(vault)
    expect(kept).toBe(onChain)
    const [held] = await earn.db<{ shares: string }[]>`
      select b.shares from balances b join vaults v on v.id = b.vault_id where v.address = ${vault.toLowerCase()}`
    expect(held?.shares).toBe('4006')
    const live = await computeStateHash(earn.db, chainId)
    expect(await rebuildHash()).toBe(live)
  })

  it('never mixes two blocks of one number', async () => {
    const { blockNumber } = await cursor()
    const [held] = await earn.db<{ hash: Buffer }[]>`select hash from blocks where number = ${blockNumber}`
    const other = {
      number: blockNumber,
      hash: `0x${'ab'.repeat(32)}`,
      parentHash: `0x${'cd'.repeat(32)}`,
      timestamp: 1,
    }
    const write = inTransaction(earn.db, (tx) => recordBlocks(tx, chainId, [{ ...other, logs: [], transactions: [] }]))
    await expect(write).rejects.toThrow(/another block/)
    expect(held?.hash).toHaveLength(32)
    expect(await earn.db`select hash from blocks where number = ${blockNumber}`).toEqual([held])
  })
})

describe('a watcher that lost its lock without knowing', () => {
  it('records nothing of the head once another has moved on, and finality never goes back', async () => {
    const late = sink()
    const stale = await late.refresh(await headOf())
    await world.deposit(alice, 5_000n, D)
    await world.sync()
    const now = await cursor()
    expect(now.blockNumber).toBeGreaterThan(stale.blockNumber)
    const record = { headNumber: 1, finalizedNumber: null, state: 'stalled', reason: 'late' } as const
    await late.recordHead(stale, record)
    expect(await cursor()).toMatchObject({ state: now.state, reason: now.reason, headNumber: now.headNumber })
    await late.recordHead(now, { ...now, finalizedNumber: 40 })
    await late.recordHead(now, { ...now, finalizedNumber: 20 })
    expect((await cursor()).finalizedNumber).toBe(Math.max(40, now.finalizedNumber ?? 0))
  })

  it('appends nothing with a configuration that another has already taken up', async () => {
    const vault = await world.deployVault()
    await world.sync()
    const late = sink()
    const stale = await late.refresh(await headOf())
    await world.list(vault, { startBlock: stale.blockNumber + 1 })
    const other = sink()
    await other.refresh(await headOf())
    await world.anvil.client.mine({ blocks: 1 })
    const head = await headOf()
    await expect(late.append(stale, [{ ...head, logs: [], transactions: [] }], head)).rejects.toBeInstanceOf(
      CursorMoved,
    )
    const ancestor = { number: stale.blockNumber - 1, hash: (await other.localHash(stale.blockNumber - 1)) ?? '' }
    await expect(late.rewind(stale, ancestor)).rejects.toBeInstanceOf(CursorMoved)
    // A version that rose for something no row depends on stops nobody.
    await earn.db`update catalogue_versions set version = version + 1`
    expect((await other.append(stale, [{ ...head, logs: [], transactions: [] }], head)).blockNumber).toBe(head.number)
  })

  it('appends nothing once another has let a vault join', async () => {
    const vault = await vaultWithPast(2)
    await world.sync()
    await world.list(vault)
    const late = sink()
    await late.refresh(await headOf())
    expect(late.watchList().addresses).not.toContain(vault.toLowerCase())
    await world.sync()
    const [row] = await earn.db<{ synced: boolean }[]>`
      select synced from sources where source = ${vault.toLowerCase()}`
    expect(row?.synced).toBe(true)
    const stale = await cursor()
    await world.deposit(alice, 888n, D, vault)
    const blocks = [{ ...(await headOf()), logs: [], transactions: [] }]
    await expect(late.append(stale, blocks, await headOf())).rejects.toBeInstanceOf(CursorMoved)
    await late.refresh(await headOf())
    expect(late.watchList().addresses).toContain(vault.toLowerCase())
    await world.sync()
    const { kept, onChain } = await countLogs(vault)
    expect(kept).toBe(onChain)
  })

  it('starts no vault from where another has already passed', async () => {
    const late = sink()
    const stale = await late.refresh(await headOf())
    const vault = await world.deployVault()
    await world.fund(alice, 1_000_000n, vault)
    await world.deposit(alice, 777n, D, vault)
    await world.sync()
    await world.list(vault, { startBlock: stale.blockNumber + 1 })
    // What it does with the cursor it read before.
    const before = await cursor()
    await earn.db`update chain_cursors set block_number = ${stale.blockNumber}, block_hash = ${stale.blockHash}`
    const { refreshing } = await inTransaction(earn.db, async (tx) => {
      await lockCursor(tx, chainId)
      const refreshing = late.refresh(await headOf()).catch((error: unknown) => error)
      await someoneWaits()
      await tx`update chain_cursors set block_number = ${before.blockNumber}, block_hash = ${before.blockHash}`
      return { refreshing }
    })
    await refreshing
    await world.sync()
    const { kept, onChain } = await countLogs(vault)
    expect(kept).toBe(onChain)
  })
})

describe('an operator', () => {
  it('who rewinds takes back blocks and finality together, or nothing', async () => {
    await world.sync()
    const before = await cursor()
    await earn.db.unsafe(`create function fault() returns trigger language plpgsql as $$ begin
        if new.finalized_number is distinct from old.finalized_number then raise exception 'as told'; end if;
        return new; end $$;
      create trigger fault before update on chain_cursors for each row execute function fault()`)
    await earn.db`update chain_cursors set head_number = head_number`
    await expect(rewindChain(ctx(), { chainId, to: 10 })).rejects.toThrow('as told')
    await earn.db.unsafe('drop trigger fault on chain_cursors; drop function fault()')
    expect(await cursor()).toMatchObject({ blockNumber: before.blockNumber, blockHash: before.blockHash })
  })

  it('who rewinds a chain of which nothing is known to be final makes nothing final', async () => {
    await world.sync()
    await earn.db`update chain_cursors set finalized_number = null`
    await rewindChain(ctx(), { chainId, to: (await cursor()).blockNumber - 2 })
    expect((await cursor()).finalizedNumber).toBeNull()
  })

  it('who rebuilds while a vault joins keeps that vault', async () => {
    const vault = await vaultWithPast(2)
    await world.sync()
    const pending = { address: vault.toLowerCase() }
    await world.list(vault)
    const watcher = world.watcher()
    for (let turn = 0; turn < 10; turn++) {
      await watcher.step()
      const [row] = await earn.db<{ done: boolean }[]>`
        select w.synced_to = c.block_number and not w.synced as done
        from sources w join chain_cursors c using (chain_id) where source = ${pending.address}`
      if (row?.done) break
    }
    const rebuilding = await inTransaction(earn.db, async (tx) => {
      await lockCursor(tx, chainId)
      const running = rebuildChain(ctx(), { chainId })
      running.catch(() => undefined)
      await someoneWaits()
      await tx`update sources set synced = true where source = ${pending.address}`
      return { running }
    })
    await rebuilding.running
    const [held] = await earn.db<{ shares: string }[]>`
      select b.shares from balances b join vaults v on v.id = b.vault_id where v.address = ${pending.address}`
    expect(held?.shares).toBe('2001')
  })
})

describe('the past of a vault added later', () => {
  it('is derived alone where it credits nobody yet: the rows of other vaults stay as they were written', async () => {
    const vault = await vaultWithPast(2)
    await world.deposit(alice, 3_000n, D)
    await world.sync()
    const address = vault.toLowerCase()
    const listRows = async (isOwn: boolean) => {
      const rows = await earn.db<{ written: string; after: string }[]>`
        select b.xmin::text as written, b.after::text as after from balance_changes b join vaults v on v.id = b.vault_id
        where (v.address = ${address}) = ${isOwn} order by b.block_number, b.transaction_index, b.wallet`
      return rows.map((row) => ({ ...row }))
    }
    const before = await listRows(false)
    await world.list(vault)
    await earn.db`update vaults set active_from = now() + interval '100 years' where address = ${address}`
    await world.sync()
    expect((await listRows(true)).map(({ after }) => after)).toEqual(['1000', '2001'])
    expect(before.length).toBeGreaterThan(0)
    expect(await listRows(false)).toEqual(before)
  })

  it('is read a few blocks at a time where it is not final, so that the head is never kept waiting', async () => {
    await world.fund(bob, 1_000n)
    await world.sync()
    const head = (await cursor()).blockNumber
    await world.anvil.client.mine({ blocks: 60 })
    await world.sync()
    const vault = await world.deployVault()
    await world.sync()
    await earn.db`update chain_cursors set finalized_number = ${head}`
    await world.list(vault, { startBlock: head + 1 })
    const pipeline = sink()
    const at = { ...(await pipeline.refresh(await headOf())), finalizedNumber: head }
    expect(await pipeline.backfill(at, createNode(world.chain.rpc), () => ({}))).toBe(true)
    const [row] = await earn.db<{ to: number }[]>`
      select synced_to::int as to from sources where source = ${vault.toLowerCase()}`
    expect(row?.to).toBeGreaterThan(head)
    expect(row?.to).toBeLessThanOrEqual(head + 32)
  })
})
