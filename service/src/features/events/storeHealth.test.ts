import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { newId } from '../../kernel/ids.js'
import { moveAll, tell } from './index.js'
import { findEventsHealth } from './storeHealth.js'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database?.close())

const at = new Date('2026-11-20T12:00:00Z')
const later = (seconds: number) => new Date(at.getTime() + seconds * 1_000)

describe('the state of the events', () => {
  it('says what waits for a position, and since when', async () => {
    const { db } = database
    expect(await findEventsHealth(db, at)).toMatchObject({ unmoved: 0, unmovedSince: null, overdueSince: null })
    const subject = { kind: 'chain', id: '1' } as const
    const fact = { type: 'chain.final', chainId: 1, subject, data: {} }
    await tell(db, [
      { ...fact, at },
      { ...fact, at: later(5) },
    ])
    expect(await findEventsHealth(db, later(9))).toMatchObject({ unmoved: 2, unmovedSince: at })
    await moveAll(db)
    expect(await findEventsHealth(db, later(9))).toMatchObject({ unmoved: 0, unmovedSince: null })
  })

  it('counts webhooks and their events, and calls those overdue that no process tries', async () => {
    const { db } = database
    const organizationId = newId()
    await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
    const hook = async (more: { enabled?: boolean; reason?: string; failing?: number } = {}) => {
      const { enabled = true, reason = '', failing = 0 } = more
      const id = newId()
      await db`
        insert into webhooks (id, organization_id, url, types, late, enabled, disabled_reason, created_at, failing, position, secret)
        values (${id}, ${organizationId}, 'https://x', '{}', false, ${enabled}, ${reason}, ${at}, ${failing}, 0, '')`
      return id
    }
    let position = 0
    const queue = (
      id: string,
      { head = true, dead = false, leased = null }: { head?: boolean; dead?: boolean; leased?: Date | null } = {},
    ) => db`
      insert into webhook_queue (webhook_id, position, event_id, subject, is_head, is_replay, is_dead, run_at, leased_until)
      values (${id}, ${position++}, ${newId()}, 's', ${head}, false, ${dead}, ${at}, ${leased})`
    const [well, failing, off] = [
      await hook(),
      await hook({ failing: 2 }),
      await hook({ enabled: false, reason: 'gone' }),
    ]
    await hook({ enabled: false })
    await queue(failing)
    await queue(off)
    await queue(well, { head: false })
    await queue(well, { head: false, dead: true })
    await queue(well, { leased: later(60) })
    const counts = { enabled: 2, failing: 1, disabled: 1, queued: 4, dead: 1 }
    expect(await findEventsHealth(db, later(30))).toMatchObject({ ...counts, overdueSince: null })
    // Whoever had it on its way has died.
    expect(await findEventsHealth(db, later(61))).toMatchObject({ ...counts, overdueSince: later(60) })
  })
})
