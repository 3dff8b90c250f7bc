import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../contracts/test/until.js'
import { addressOf, smallCatalogue } from '../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { fakeClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import { silentLog } from '../../kernel/log.js'
import type { Context } from '../../postgres/context.js'
import { type Database, openDatabase } from '../../postgres/pool.js'
import { type Catalogue, openCatalogue } from './catalogue.js'
import { slugId } from './import/catalogueFile.js'
import { importCatalogue } from './import/importCatalogue.js'
import { pushDeltas } from './jobs.js'
import { serialise, viewOf } from './memory/view.js'
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

/** Waits for something another connection has to notice. */
const eventually = (check: () => boolean) => until('it to be noticed', check)

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

  it('takes pushed figures alone: what they do not concern stays the same object', async () => {
    const pushed = slugId.opportunity('usdc-base')
    const other = slugId.opportunity('usdc-ethereum')
    const before = there.current()
    const bytes = serialise(before.opportunities.get(other)!, true)
    const orders = viewOf(before)
    expect(viewOf(before)).toBe(orders)
    const tvl = { current: 7, d1: 1, d7: null, d30: null }
    await pushDeltas(contextOf(test.db), [{ opportunityId: pushed, deltas: { tvl } }])
    await eventually(() => there.current().liveVersion === before.liveVersion + 1)
    const after = there.current()
    expect(after.version).toBe(before.version)
    expect(after.opportunities.get(pushed)?.deltas).toEqual({ tvl })
    expect(before.opportunities.get(pushed)?.deltas).toEqual({})
    expect(after.opportunities.get(other)).toBe(before.opportunities.get(other))
    expect(serialise(after.opportunities.get(other)!, true)).toBe(bytes)
    expect(viewOf(after).columns).toBe(orders.columns)
    expect(viewOf(after).order('name', 'asc')).toBe(orders.order('name', 'asc'))
    expect(viewOf(after).order('tvlD1', 'desc')).not.toBe(orders.order('tvlD1', 'desc'))
    expect(after.opportunitiesByVault.get(`8453:${addressOf(3)}`)).toBe(after.opportunities.get(pushed))
  })

  it('keeps its objects, bytes and answers when it is read anew and says the same', async () => {
    // Changes of the tests before may be announced and not read yet.
    await here.refresh()
    const before = here.current()
    const kept = here.answers.shelf<{ text: string }>('test')
    const answer = { text: 'made of what it was' }
    kept.keep('answer', answer, 10)
    await test.db`update catalogue_versions set version = version + 1`
    await here.refresh()
    const after = here.current()
    expect(after.version).toBe(before.version + 1)
    expect(after.content).toBe(before.content)
    expect(after.opportunities).toBe(before.opportunities)
    expect(viewOf(after)).toBe(viewOf(before))
    expect(kept.find('answer')).toBe(answer)
  })

  it('makes anew only what changed when it is read anew, and forgets what was answered', async () => {
    const changed = slugId.opportunity('usdc-base')
    const other = slugId.opportunity('usdc-ethereum')
    const before = here.current()
    const bytes = serialise(before.opportunities.get(other)!, false)
    viewOf(before).order('name', 'desc')
    const kept = here.answers.shelf<{ text: string }>('test')
    kept.keep('answer', { text: 'made of what it was' }, 10)
    await test.db`update opportunities set name = 'Zebra' where id = ${changed}`
    await bumpVersion(test.db)
    await here.refresh()
    const after = here.current()
    expect(after.content).not.toBe(before.content)
    expect(after.opportunities.get(changed)?.name).toBe('Zebra')
    expect(before.opportunities.get(changed)?.name).toBe('USDC on Base')
    expect(after.opportunities.get(other)).toBe(before.opportunities.get(other))
    expect(serialise(after.opportunities.get(other)!, false)).toBe(bytes)
    expect(after.tokens).toBe(before.tokens)
    const names = [...viewOf(after).order('name', 'desc')].map((at) => viewOf(after).listed[at]?.name)
    expect(names).toEqual(['Zebra', 'USDC savings'])
    expect(kept.find('answer')).toBeUndefined()
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
    const lost = openDatabase(test.target, { max: 2, name: 'lost' })
    const catalogue = await openCatalogue(contextOf(lost), { pollMs: 50 })
    opened.push(catalogue)
    await test.db`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'lost'`
    expect(catalogue.current().opportunities.size).toBe(2)
    await load()
    const [row] = await test.db<{ version: number }[]>`select version from catalogue_versions`
    await eventually(() => catalogue.current().version === row?.version)
    await catalogue.close()
    await lost.end({ timeout: 2 })
  }, 60_000)

  it('says once that it cannot be read, not at every look, and says when it is read again', async () => {
    const said: string[] = []
    const say = (_fields: object | string, message?: string) => void said.push(message ?? '')
    const log = { ...silentLog, warn: say, info: say }
    const looking = openDatabase(test.target, { max: 2, name: 'looking' })
    const catalogue = await openCatalogue({ ...contextOf(looking), log }, { pollMs: 20 })
    opened.push(catalogue)
    await test.db`alter table catalogue_versions rename to catalogue_versions_away`
    await eventually(() => said.length > 0)
    const looks = new Set<string>()
    await until('three more looks', async () => {
      const rows = await test.db<{ at: string }[]>`
        select query_start::text as at from pg_stat_activity where application_name = 'looking' and datname = current_database()
          and query like '%catalogue_versions%'`
      for (const { at } of rows) looks.add(at)
      return looks.size > 3
    })
    expect(said).toEqual(['the catalogue could not be read; keeping the last'])
    await test.db`alter table catalogue_versions_away rename to catalogue_versions`
    await eventually(() => said.length > 1)
    expect(said[1]).toBe('the catalogue is read again')
    await catalogue.close()
    await looking.end({ timeout: 2 })
  })
})

describe('a vault of a kind this version does not know', () => {
  it('is shown, and as one that asks for no requests', async () => {
    await load()
    const id = slugId.opportunity('usdc-base')
    await test.db`update vaults set kind = 'of-tomorrow' where chain_id = 8453`
    await here.refresh()
    expect(here.current().opportunities.get(id)).toMatchObject({
      ...{ asyncDeposit: false, asyncWithdraw: false },
      vault: { kind: 'of-tomorrow' },
    })
    await test.db`update vaults set kind = 'erc4626' where chain_id = 8453`
    await here.refresh()
    expect(here.current().opportunities.get(id)).toMatchObject({ vault: { kind: 'erc4626' } })
  })
})
