import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { fakeClock, systemClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import type { Context } from '../../kernel/context.js'
import { type Database, openDatabase } from '../../kernel/database.js'
import { silentLog } from '../../kernel/log.js'
import { type Catalogue, openCatalogue } from './catalogue.js'
import { importCatalogue } from './importCatalogue.js'
import { bumpVersion } from './store.js'

let test: TestDatabase
let other: Database
let here: Catalogue
let there: Catalogue
const opened: Catalogue[] = []

const contextOf = (db: Database): Context => ({
  db,
  clock: fakeClock('2026-11-20T12:00:00Z'),
  log: silentLog,
  config: parseConfig({}, '/nonexistent'),
})

/** Waits, at most 5 s, for something another connection has to notice. */
async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 250 && !check(); tries++) await systemClock.sleep(20)
  expect(check()).toBe(true)
}

beforeAll(async () => {
  test = await openTestDatabase()
  other = openDatabase(test.target, { max: 2 })
  // Polling so slowly that only a notification can explain a swap.
  here = await openCatalogue(contextOf(test.db), { pollMs: 600_000 })
  there = await openCatalogue(contextOf(other), { pollMs: 600_000 })
  opened.push(here, there)
})
afterAll(async () => {
  for (const catalogue of opened) await catalogue.close()
  await other.end()
  await test.close()
})

const load = () => importCatalogue(contextOf(test.db), JSON.stringify(smallCatalogue()))

describe('the catalogue of a process', () => {
  it('follows an import made over another connection, by notification', async () => {
    const before = there.current()
    expect(before.opportunities.size).toBe(0)
    await load()
    await eventually(() => there.current().opportunities.size === 2)
    await eventually(() => here.current().version === there.current().version)
    expect(before.opportunities.size).toBe(0)
  })

  it('notices by polling what no notification told', async () => {
    const polling = await openCatalogue(contextOf(other), { pollMs: 50 })
    opened.push(polling)
    const seen = polling.current().version
    await test.db`update catalogue_versions set version = version + 1`
    await eventually(() => polling.current().version === seen + 1)
  })

  it('is at least as new as the database was when refresh was called, however many call', async () => {
    for (let round = 0; round < 5; round++) {
      await test.db`update catalogue_versions set version = version + 1`
      const [row] = await test.db<{ version: number }[]>`select version from catalogue_versions`
      await Promise.all([here.refresh(), here.refresh(), here.refresh()])
      expect(here.current().version).toBeGreaterThanOrEqual(row?.version ?? Number.POSITIVE_INFINITY)
    }
  })

  it('says nothing of a change that was rolled back', async () => {
    const before = there.current().version
    await test.db
      .begin(async (tx) => {
        await bumpVersion(tx)
        throw new Error('never mind')
      })
      .catch(() => undefined)
    await there.refresh()
    expect(there.current().version).toBeLessThanOrEqual(Math.max(before, here.current().version))
  })

  it('keeps the last snapshot while the database is away, and follows again after', async () => {
    const lost = openDatabase(test.target, { max: 2 })
    const catalogue = await openCatalogue(contextOf(lost), { pollMs: 50 })
    opened.push(catalogue)
    await test.db`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'openearn'`
    expect(catalogue.current().opportunities.size).toBe(2)
    await load()
    const [row] = await test.db<{ version: number }[]>`select version from catalogue_versions`
    await eventually(() => catalogue.current().version === row?.version)
    await catalogue.close()
    await lost.end()
  })
})
