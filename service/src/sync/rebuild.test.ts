import { zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { insertOneVault } from '../../test/oneVault.js'
import { rebuildChain } from '../../test/pipeline.js'
import { topics } from '../../test/topics.js'
import type { BalanceChange } from '../derive/rows.js'
import { balanceChangesTable } from '../features/positions/storePositions.js'
import { listSyncedVaults, sampleHolders } from '../features/status/storeStatus.js'
import { systemClock } from '../kernel/clock.js'
import { type Database, inTransaction } from '../postgres/pool.js'
import { copyRows } from '../postgres/table.js'
import { computeStateHash } from '../server/stateHash.js'
import { createCursor, lockCursor, moveCursor } from '../sync/storeCursors.js'
import { recordBlocks } from '../sync/storeRaw.js'
import type { RebuildInput, RebuildProgress } from './rebuild.js'
import { spoilRebuild } from './storeRebuilds.js'

const chainId = 31_337
const vault = `0x${'cc'.repeat(20)}`
const code = 'Y2Zi7KWy'
const wallets = Array.from({ length: 40 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)
const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const suffix = `${Buffer.from(code).toString('hex')}080080218021802180218021802180218021`
const blocks = 60
const derivedAt = new Date('2026-11-20T12:00:00Z')

let test: TestDatabase
let db: Database
const rebuild = (onProgress?: (progress: RebuildProgress) => void) =>
  rebuildChain({ db, clock: systemClock }, { chainId, ...(onProgress ? { onProgress } : {}) })

/** In each block one wallet deposits through a distributor and passes a part of it on to the next. */
function toBlock(number: number) {
  const [from = '', to = ''] = [wallets[number % 40], wallets[(number + 1) % 40]]
  const hash = (index: number) => `0x${pad(BigInt(number * 10 + index))}`
  const log = (logIndex: number, index: number, first: string, indexed: string[], data: bigint[]) => ({
    blockNumber: number,
    logIndex,
    transactionIndex: index,
    transactionHash: hash(index),
    address: vault,
    topics: [first, ...indexed.map((each) => `0x${pad(each)}`)],
    data: `0x${data.map(pad).join('')}`,
  })
  const input = `0x6e553f65${pad(900n)}${pad(from)}${suffix}`
  return {
    number,
    hash: hash(9),
    parentHash: hash(-1),
    timestamp: 1_700_000_000 + number,
    logs: [
      log(0, 0, topics.transfer, [zeroAddress, from], [900n]),
      log(1, 0, topics.deposit, [from, from], [900n, 900n]),
      log(2, 1, topics.transfer, [from, to], [BigInt(number)]),
    ],
    transactions: [{ blockNumber: number, transactionIndex: 0, hash: hash(0), from, to: vault, input }],
  }
}

beforeAll(async () => {
  test = await openTestDatabase()
  db = test.db
  await insertOneVault(db, { chainId, vault, asset: zeroAddress, distributorId: code, startBlock: 0 })
  await db`insert into sources values (${chainId}, 'positions', ${vault}, 0, 0, true)`
  await createCursor(db, chainId, 1, derivedAt)
  await recordBlocks(
    db,
    chainId,
    Array.from({ length: blocks }, (_, index) => toBlock(index + 1)),
  )
  const place = { blockNumber: blocks, blockHash: toBlock(blocks).hash, blockTimestamp: derivedAt }
  await moveCursor(db, { chainId, ...place, at: derivedAt })
  // What is derived once it is confirmed has come as far as the chain.
  for (const name of ['share mints', 'flows', 'metrics'])
    await db`insert into projections values (${chainId}, ${name}, '[]', ${blocks})`
})
afterAll(() => test?.close())

/** Every position row and where it lies in its table: a row that was written anew lies elsewhere. */
const places = () =>
  db`select 'change' as kind, ctid::text, t::text as row from balance_changes t union all
    select 'lot change', ctid::text, t::text from lot_changes t union all
    select 'balance', ctid::text, t::text from balances t union all
    select 'lot', ctid::text, t::text from lots t order by 1, 3`

describe('rebuildChain', () => {
  it('derives everything where there is nothing, and says how far it is', async () => {
    const seen: RebuildProgress[] = []
    const { events, hash } = await rebuild((progress) => seen.push(progress))
    expect(events).toBe(blocks * 3)
    expect(hash).toBe(await computeStateHash(db, chainId))
    expect(seen.at(-1)).toMatchObject({
      blockNumber: blocks,
      toBlock: blocks,
      events: 180,
      toEvents: 180,
      secondsLeft: 0,
    })
    const [counts] = await db`select (select count(*) from interactions) as entries,
      (select count(*) from balance_changes) as changes, (select sum(shares) from balances) as held,
      (select sum(shares) from lots) as sourced`
    expect(counts).toEqual({ entries: blocks, changes: blocks * 3, held: '54000', sourced: expect.any(String) })
  })

  it('leaves every position where it is when nothing differs', async () => {
    const before = await places()
    await rebuild()
    expect(await places()).toEqual(before)
  })

  it('puts right rows that were changed, lost or invented, and touches no other', async () => {
    const before = await places()
    const live = await computeStateHash(db, chainId)
    const wallet = wallets[5] ?? ''
    await db`update balances set shares = shares + 1 where wallet = hex_bytes(${wallet})`
    await db`update lot_changes set after = after + 1 where wallet = hex_bytes(${wallet})`
    await db`delete from balance_changes where block_number = 7`
    await db`delete from lots where wallet = hex_bytes(${wallet})`
    await db`insert into balance_changes select chain_id, block_number + 1000, block_timestamp, vault_id, transaction_index,
      wallet, before, after, attributed_before, attributed_after from balance_changes where block_number = 8`
    await db`delete from interactions where block_number < 10`
    expect(await computeStateHash(db, chainId)).not.toBe(live)
    expect((await rebuild()).hash).toBe(live)
    const after = await places()
    expect(after.map(({ row }) => row)).toEqual(before.map(({ row }) => row))
    const moved = after.filter(({ ctid }, index) => ctid !== before[index]?.['ctid'])
    expect(moved.length).toBeGreaterThan(0)
    expect(moved.length).toBeLessThan(12)
  })

  it('changes nothing when it fails on the way', async () => {
    const before = await places()
    const fail = () => {
      throw new Error('no room left')
    }
    await expect(rebuild(fail)).rejects.toThrow('no room left')
    expect(await places()).toEqual(before)
    expect((await db`select count(*)::int as n from interactions`)[0]).toEqual({ n: blocks })
  })

  describe('of final blocks', () => {
    const small = { logsMax: 15 }
    const stop = (at: number) => (progress: RebuildProgress) => {
      if (progress.blockNumber >= at) throw new Error('killed')
    }
    const again = (more: Partial<RebuildInput> = {}) =>
      rebuildChain({ db, clock: systemClock }, { chainId, ...small, ...more })
    const doneTo = async () => (await db<{ done: number }[]>`select done_to as done from rebuilds`)[0]?.done
    beforeEach(() => db`update chain_cursors set finalized_number = ${blocks - 5} where chain_id = ${chainId}`)

    it('goes on where it was left, and gives the same rows', async () => {
      const before = await places()
      await expect(again({ onProgress: stop(30) })).rejects.toThrow('killed')
      const left = (await doneTo()) ?? 0
      expect(left).toBeGreaterThan(10)
      await expect(again({ onProgress: stop(45) })).rejects.toThrow('killed')
      expect(await doneTo()).toBeGreaterThan(left)
      const first: number[] = []
      const { resumedAt, events } = await again({ onProgress: ({ events: done }) => first.push(done) })
      expect(resumedAt).toBeGreaterThan(left)
      expect(first[0]).toBeGreaterThan(100)
      expect(events).toBe(blocks * 3)
      expect(await places()).toEqual(before)
      expect(await db`select from rebuilds`).toHaveLength(0)
    })

    it('gives the same rows when its states are let go after every batch', async () => {
      const before = await places()
      const live = await computeStateHash(db, chainId)
      expect((await again({ stateMax: 0 })).hash).toBe(live)
      expect(await places()).toEqual(before)
      await expect(again({ stateMax: 0, onProgress: stop(30) })).rejects.toThrow('killed')
      expect((await again({ stateMax: 3 })).hash).toBe(live)
      expect(await places()).toEqual(before)
    })

    it('begins anew when what it had derived was derived again meanwhile, or its configuration has changed', async () => {
      await expect(again({ onProgress: stop(30) })).rejects.toThrow('killed')
      await spoilRebuild(db, chainId, 58)
      expect((await db<{ spoiled: boolean }[]>`select spoiled from rebuilds`)[0]).toEqual({ spoiled: false })
      await spoilRebuild(db, chainId, 55)
      expect((await again()).resumedAt).toBeUndefined()
      await expect(again({ onProgress: stop(30) })).rejects.toThrow('killed')
      await db`insert into distributors (id, organization_id, active_from) select 'other', organization_id, now() from distributors`
      expect((await again()).resumedAt).toBeUndefined()
      await db`delete from distributors where id = 'other'`
      // Once more while it runs: it notices before it puts anything in place.
      let spoiling: Promise<void> | undefined
      const told: number[] = []
      const spoil = ({ blockNumber }: RebuildProgress) => {
        told.push(blockNumber)
        if (blockNumber >= 30) spoiling ??= spoilRebuild(db, chainId, 1)
      }
      const live = await computeStateHash(db, chainId)
      expect((await again({ onProgress: spoil })).hash).toBe(live)
      await spoiling
      expect(told.filter((blockNumber) => blockNumber === told[0])).toHaveLength(2)
    })

    it('lets readers see the old rows until all are there, and the chain go on until then', async () => {
      await db`update balances set shares = shares + 1`
      const wrong = await computeStateHash(db, chainId)
      const { rebuilding } = await inTransaction(db, async (tx) => {
        // As a watcher does that writes a block: the rebuild waits for it at the end, and not before.
        await lockCursor(tx, chainId)
        let begun: Promise<unknown> | undefined
        await new Promise<void>((resolve, reject) => {
          begun = again({ onProgress: ({ blockNumber }) => blockNumber >= blocks - 5 && resolve() })
          begun.catch(reject)
        })
        expect(await computeStateHash(db, chainId)).toBe(wrong)
        return { rebuilding: begun }
      })
      await rebuilding
      expect(await computeStateHash(db, chainId)).not.toBe(wrong)
    })

    it('derives one projection alone: the others stay, whatever they are', async () => {
      const live = await computeStateHash(db, chainId)
      await db`update balances set shares = shares + 1`
      await db`delete from interactions where block_number = 9`
      await again({ only: ['ledger'] })
      expect(await db`select from interactions where block_number = 9`).toHaveLength(1)
      expect(await computeStateHash(db, chainId)).not.toBe(live)
      expect((await again({ only: ['positions'] })).hash).toBe(live)
      await expect(again({ only: ['nothing'] })).rejects.toThrow('no projection nothing')
    })

    it('puts nothing in place twice when another one, whose lock was free, has taken it further', async () => {
      const live = await computeStateHash(db, chainId)
      const before = await places()
      let isTaken = false
      let other: Promise<unknown> = Promise.resolve()
      const takeOver = ({ blockNumber }: RebuildProgress) => {
        if (blockNumber < 20 || isTaken) return
        isTaken = true
        // As if its own connection had been lost, and with it the lock.
        other = db`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
          and database = (select oid from pg_database where datname = current_database())`.then(() => again())
      }
      expect((await again({ onProgress: takeOver })).hash).toBe(live)
      await other
      expect(isTaken).toBe(true)
      expect(await places()).toEqual(before)
    })

    it('waits for another rebuild of the database to end', async () => {
      const live = await computeStateHash(db, chainId)
      const turns: string[] = []
      const both = await Promise.all(['a', 'b'].map((who) => again({ onProgress: () => turns.push(who) })))
      expect(both.map(({ hash }) => hash)).toEqual([live, live])
      expect(turns.join('')).toMatch(/^(a+b+|b+a+)$/)
    })
  })

  it('ends with the reason when the database refuses its lines, early or late, or goes away', async () => {
    const row = { vaultId: 1, wallet: vault, blockNumber: 1, transactionIndex: 0, timestamp: 1_767_225_600 }
    const change = { ...row, before: 0n, after: 1n, attributedBefore: 0n, attributedAfter: 0n }
    const refused = { ...change, attributedAfter: 'x' as unknown as bigint }
    const many = (each: BalanceChange) => Array.from({ length: 20_000 }, () => each)
    const copy = (rows: readonly BalanceChange[], meanwhile?: (pid: number) => Promise<unknown>) =>
      inTransaction(db, async (tx) => {
        const [me] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
        const stream = await copyRows(tx, balanceChangesTable, { shared: { chainId } })
        await stream.write(rows)
        await meanwhile?.(me?.pid ?? 0)
        await stream.end()
      })
    const isRefused = (pid: number) =>
      until('the refusal', async () => {
        const [me] = await db`select state from pg_stat_activity where pid = ${pid}`
        return String(me?.['state']).includes('aborted')
      })
    await expect(copy([refused])).rejects.toThrow('invalid input syntax')
    await expect(copy(many(refused))).rejects.toThrow('invalid input syntax')
    await expect(copy(many(refused), isRefused)).rejects.toThrow('invalid input syntax')
    await expect(copy([change], (pid) => db`select pg_terminate_backend(${pid})`)).rejects.toThrow(
      /cannot be reached|terminating connection/,
    )
    expect((await rebuild()).hash).toBe(await computeStateHash(db, chainId))
  })

  it('leaves out vaults whose past is still being read, and so does the look at their holders', async () => {
    const count = async () => (await db<{ count: number }[]>`select count(*)::int as count from balances`)[0]?.count
    const known = await count()
    expect([known, (await listSyncedVaults(db, chainId)).length]).toEqual([40, 1])
    expect((await sampleHolders(db, chainId, 2))?.holders).not.toHaveLength(0)
    await db`update sources set synced = false`
    await rebuild()
    expect([await count(), await listSyncedVaults(db, chainId), await sampleHolders(db, chainId, 2)]).toEqual([
      ...[0, [], undefined],
    ])
    await db`update sources set synced = true`
    await rebuild()
    expect(await count()).toBe(known)
  })

  it('goes on over a token that claims to have moved more than any can hold', async () => {
    const most = 2n ** 256n - 1n
    const [wallet = ''] = wallets
    const { hash, ...rest } = toBlock(blocks + 1)
    const claims = Array.from({ length: 40 }, (_, logIndex) => ({
      ...{ blockNumber: blocks + 1, logIndex, transactionIndex: 0, transactionHash: hash, address: vault },
      ...{ topics: [topics.transfer, `0x${pad(zeroAddress)}`, `0x${pad(wallet)}`], data: `0x${pad(most)}` },
    }))
    await recordBlocks(db, chainId, [{ ...rest, hash, logs: claims, transactions: [] }])
    const place = { blockNumber: blocks + 1, blockHash: hash, blockTimestamp: derivedAt }
    await moveCursor(db, { chainId, ...place, at: derivedAt })
    await rebuild()
    const [held] = await db<{ shares: string }[]>`select shares from balances where wallet = hex_bytes(${wallet})`
    expect(BigInt(held?.shares ?? 0)).toBeGreaterThan(40n * most)
  })
})
