import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { inTransaction } from '../postgres/pool.js'
import { assertLeader, fenced, LockLost, recordLeader, writeAs } from './storeLeaders.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`create table written (by text)`
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.db`delete from written`
})

const at = { role: 'watcher', chainId: 7 } as const
const written = async () => (await test.db<{ by: string }[]>`select by from written order by by`).map(({ by }) => by)

describe('the token of a lock', () => {
  it('lets its holder write, and nobody who held the lock before, though that one has not noticed', async () => {
    const first = await recordLeader(test.db, at)
    const before = fenced(test.db, first)
    await inTransaction(before, (tx) => tx`insert into written values ('first')`)
    const second = await recordLeader(test.db, at)
    await expect(inTransaction(before, (tx) => tx`insert into written values ('late')`)).rejects.toThrow(LockLost)
    await writeAs(test.db, second, async (tx) => {
      await tx`insert into written values ('second')`
    })
    expect(await written()).toEqual(['first', 'second'])
  })

  it('is another one for each chain and role, and none at all where the database has lost it', async () => {
    const fences = [at, { ...at, chainId: 8 }, { ...at, role: 'solver' as const }]
    const held = await Promise.all(fences.map((each) => recordLeader(test.db, each)))
    for (const fence of held) await inTransaction(test.db, (tx) => assertLeader(tx, fence))
    // As after a failover to a server that has not received it; the next holder then has another.
    await test.db`delete from leaders`
    const [lost] = held
    await recordLeader(test.db, at)
    await expect(inTransaction(test.db, (tx) => assertLeader(tx, lost!))).rejects.toThrow(LockLost)
  })

  it('changes only once what its holder is writing is written', async () => {
    const first = await recordLeader(test.db, at)
    let next: Promise<unknown> = Promise.resolve()
    const order: string[] = []
    await inTransaction(fenced(test.db, first), async (tx) => {
      next = recordLeader(test.db, at).then(() => order.push('taken'))
      const waits = () =>
        tx<
          { is: boolean }[]
        >`select exists (select from pg_locks where not granted and locktype in ('transactionid', 'tuple')) as is`
      for (let is = false; !is; ) is = (await waits())[0]?.is ?? false
      await tx`insert into written values ('in time')`
      order.push('written')
    })
    await next
    expect(order).toEqual(['written', 'taken'])
  })
})
