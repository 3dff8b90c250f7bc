import { afterAll, beforeAll, expect, it } from 'vitest'
import { smallCatalogue } from '../../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../../test/database.js'
import { fakeClock } from '../../../kernel/clock.js'
import { listChanges } from '../../audit/index.js'
import { recordChanges } from '../../audit/operator.js'
import { importCatalogue } from '../import/index.js'
import { lookAtCatalogue, tellImports } from './index.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

it('an import is told with the entries that it added and changed, and with nothing where the file says what is known', async () => {
  const clock = fakeClock('2026-11-20T12:00:00Z')
  const load = async (file: unknown) => {
    const look = lookAtCatalogue()
    const { db } = recordChanges({ db: test.db, clock }, { osUser: 'ada', command: 'catalogue import demo.json', look })
    await importCatalogue({ db, clock }, JSON.stringify(file))
    clock.advance(1_000)
    const [newest] = tellImports(await listChanges(test.db, 1, 'catalogue import '))
    return newest
  }
  const file = smallCatalogue()
  const [first, ...others] = file.opportunities ?? []
  if (!first) throw new Error('no opportunity to change')
  const added = await load(file)
  const kinds = new Set(added?.differences?.map(({ kind }) => kind))
  expect([added?.changed, added?.removed, [...kinds].sort()]).toEqual([
    ...[0, 0, ['distributor', 'opportunity', 'organization', 'product', 'tag', 'token']],
  ])
  expect(added?.differences?.filter(({ kind }) => kind === 'opportunity').length).toBe(1 + others.length)

  expect(await load(file)).toMatchObject({ differences: [], added: 0, changed: 0, removed: 0, more: 0 })

  const changed = await load({ ...file, opportunities: [{ ...first, name: 'Another name', tags: [] }, ...others] })
  expect(changed?.differences).toEqual([
    expect.objectContaining({ kind: 'opportunity', name: 'Another name', change: 'changed' }),
  ])
  expect(changed?.differences?.[0]?.members).toMatchObject({ name: { before: first.name, after: 'Another name' } })
  expect(await listChanges(test.db, 9, 'keys ')).toEqual([])
}, 60_000)
