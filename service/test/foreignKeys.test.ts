import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from './database.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

it('every foreign key has an index that begins with its columns', async () => {
  const all = await test.db<{ name: string; covered: boolean }[]>`
    select c.conrelid::regclass || ' ' || c.conname as name,
      exists (select from pg_index i where i.indrelid = c.conrelid and i.indpred is null and i.indisvalid
        and (i.indkey::int2[])[0:array_length(c.conkey, 1) - 1] @> c.conkey
        and (i.indkey::int2[])[0:array_length(c.conkey, 1) - 1] <@ c.conkey) as covered
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'public'::regnamespace`
  expect(all.length).toBeGreaterThan(20)
  expect(all.filter(({ covered }) => !covered).map(({ name }) => name)).toEqual([])
})
