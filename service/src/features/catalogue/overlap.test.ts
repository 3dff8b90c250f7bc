import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../contracts/test/until.js'
import { smallCatalogue } from '../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { fakeClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import { silentLog } from '../../kernel/log.js'
import type { Context } from '../../postgres/context.js'
import { type Database, inTransaction, openDatabase } from '../../postgres/pool.js'
import { type Catalogue, openCatalogue } from './catalogue.js'
import { slugId } from './import/catalogueFile.js'
import { importCatalogue } from './import/importCatalogue.js'
import { pushDeltas } from './jobs.js'
import { bumpLiveVersion } from './store.js'
import { updateCapabilities } from './storePushes.js'

let test: TestDatabase
let other: Database
let catalogue: Catalogue
/** What a read waits for between the database's answer and its return. */
let gate: Promise<void> | undefined
let answered = 0

const contextOf = (db: Database): Context => ({
  db,
  clock: fakeClock('2026-11-20T12:00:00Z'),
  log: silentLog,
  config: parseConfig({}, '/nonexistent'),
})

/** Holds the next read's answer back until the returned function is called. */
function holdNext(): () => void {
  let open: () => void = () => undefined
  gate = new Promise((resolve) => {
    open = resolve
  })
  return open
}

/** The same database, whose transactions answer late when they are held. */
const slow = (db: Database): Database =>
  new Proxy(db, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name)
      if (name !== 'begin' || typeof own !== 'function') return own
      return async (...args: unknown[]) => {
        const held = gate
        gate = undefined
        const answer: unknown = await Reflect.apply(own, target, args)
        answered++
        await held
        return answer
      }
    },
  })

const id = slugId.opportunity('usdc-base')
const push = (current: number) =>
  pushDeltas(contextOf(test.db), [{ opportunityId: id, deltas: { tvl: { current, d1: 1, d7: null, d30: null } } }])

beforeAll(async () => {
  test = await openTestDatabase()
  other = openDatabase(test.target, { max: 4 })
  await importCatalogue(contextOf(test.db), JSON.stringify(smallCatalogue()))
  // Polling so slowly that only a notification, or a call, makes it read.
  catalogue = await openCatalogue(contextOf(slow(other)), { pollMs: 600_000 })
})
beforeEach(async () => {
  await catalogue.refresh()
})
afterAll(async () => {
  await catalogue?.close()
  await other?.end()
  await test?.close()
})

describe('a catalogue of which two reads overlap', () => {
  it('keeps the newer figures when the older read of the same version ends later', async () => {
    const before = catalogue.current()
    const release = holdNext()
    const seen = answered
    const older = catalogue.refresh()
    await until('the older read to be answered', () => answered > seen)
    await push(7)
    await until('the newer figures', () => catalogue.current().liveVersion > before.liveVersion)
    release()
    await older
    expect(catalogue.current().version).toBe(before.version)
    expect(catalogue.current().opportunities.get(id)?.deltas.tvl?.current).toBe(7)
  })

  it('keeps the newer version when older figures come later', async () => {
    const release = holdNext()
    const seen = answered
    await push(8)
    await until('the figures to be answered', () => answered > seen)
    await push(9)
    await test.db`update catalogue_versions set version = version + 1`
    await catalogue.refresh()
    const { version } = catalogue.current()
    release()
    // What was held ends before the next look does.
    await push(10)
    await until('the last figures', () => catalogue.current().opportunities.get(id)?.deltas.tvl?.current === 10)
    expect(catalogue.current().version).toBe(version)
  })

  it('keeps the figures of a whole read when older ones of the same version come later', async () => {
    const figure = () => catalogue.current().opportunities.get(id)?.deltas.tvl?.current
    const release = holdNext()
    const seen = answered
    await push(18)
    await until('the older figures to be answered', () => answered > seen)
    await push(19)
    await catalogue.refresh()
    expect(figure()).toBe(19)
    // The next look is held too, so that it cannot put right what the older figures spoilt.
    const releaseNext = holdNext()
    const since = answered
    release()
    await push(20)
    await until('the next figures to be answered', () => answered > since)
    expect(figure()).toBe(19)
    releaseNext()
    await until('the last figures', () => figure() === 20)
  })

  it('reads again for a refresh asked while an older read is still under way', async () => {
    const before = catalogue.current()
    const release = holdNext()
    const seen = answered
    const older = catalogue.refresh()
    await until('the older read to be answered', () => answered > seen)
    await test.db`update catalogue_versions set version = version + 1`
    const newer = catalogue.refresh()
    release()
    await Promise.all([older, newer])
    expect(catalogue.current().version).toBe(before.version + 1)
  })

  it('closes deposits at once where only the pushed capability says so', async () => {
    const open = slugId.opportunity('usdc-ethereum')
    const before = catalogue.current()
    expect(before.opportunities.get(open)?.capabilities.deposit.enabled).toBe(true)
    await inTransaction(test.db, async (tx) => {
      const closed = { depositOpen: false, depositClosedReason: 'Full.', withdrawOpen: true, withdrawClosedReason: '' }
      const never = { depositAtOnce: false, withdrawAtOnce: false }
      await updateCapabilities(tx, [
        { opportunityId: open, capability: { ...closed, ...never, capabilityAt: new Date('2026-11-20T12:00:00Z') } },
      ])
      await bumpLiveVersion(tx)
    })
    await until('the capability', () => catalogue.current().liveVersion > before.liveVersion)
    expect(catalogue.current().version).toBe(before.version)
    expect(catalogue.current().opportunities.get(open)?.capabilities.deposit).toMatchObject({
      enabled: false,
      reason: 'Full.',
    })
  })
})
