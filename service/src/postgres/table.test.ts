import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import {
  bool,
  decimal,
  hex,
  instant,
  int4,
  int8,
  kebab,
  nullable,
  numeric,
  oneOf,
  seconds,
  text,
  texts,
  uuid,
} from './columns.js'
import { type Database, inTransaction } from './pool.js'
import {
  copyRows,
  describeTable,
  findRows,
  insertRows,
  parseRows,
  rowSet,
  selectList,
  takeTwin,
  twinOf,
} from './table.js'

const things = describeTable('things', {
  chainId: [int8],
  vaultId: [int4],
  id: [uuid],
  wallet: [hex],
  kind: [oneOf<'in' | 'out'>()],
  way: [kebab<'in' | 'notYet'>()],
  price: [decimal],
  amount: [numeric],
  isOpen: [bool],
  timestamp: [seconds, 'block_timestamp'],
  seenAt: [instant],
  note: [text],
  words: [texts],
  from: [nullable(hex), 'sender'],
  limit: [nullable(numeric), 'amount_max'],
  valid: [nullable(bool), 'is_valid'],
  reason: [nullable(text)],
})

let test: TestDatabase
let db: Database
beforeAll(async () => {
  // What one connection has prepared is known to that one alone.
  test = await openTestDatabase({ max: 1 })
  db = test.db
  await db.unsafe(`create table things (
    chain_id bigint not null, vault_id integer not null, id uuid primary key, wallet bytea not null, kind text not null, way text not null, price numeric not null,
    amount numeric not null, is_open boolean not null, block_timestamp timestamptz not null, seen_at timestamptz not null,
    note text not null, words text[] not null, sender bytea, amount_max numeric, is_valid boolean, reason text)`)
})
afterAll(() => test?.close())
beforeEach(() => db`truncate things`)

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const full = {
  vaultId: 7,
  id: id(1),
  wallet: `0x${'0a'.repeat(20)}`,
  kind: 'in' as const,
  way: 'notYet' as const,
  price: '1.500',
  amount: 2n ** 255n + 1n,
  isOpen: true,
  timestamp: 1_700_000_000,
  seenAt: new Date('2026-03-01T10:00:00.123Z'),
  note: 'a\tb\\n\n"c", \r{d}',
  words: ['one', 'two, "three"', '\\', '', 'NULL', 'tab\t'],
  from: `0x${'ff'.repeat(20)}`,
  limit: 10n ** 60n,
  valid: false,
  reason: '\\N',
}
const empty = {
  ...full,
  id: id(2),
  wallet: '0x',
  isOpen: false,
  words: [],
  from: null,
  limit: null,
  valid: null,
  reason: null,
}

const readAll = async () =>
  parseRows(things, await db<object[]>`select ${selectList(db, things)} from things order by id`)

describe('a described table', () => {
  it('gives back every value as it was inserted', async () => {
    expect(await insertRows(db, things, [full, empty], { shared: { chainId: 10 } })).toBe(2)
    expect(await readAll()).toEqual([
      { chainId: 10, ...full },
      { chainId: 10, ...empty },
    ])
  })

  it('is written to without anything that rows share', async () => {
    expect(await insertRows(db, things, [{ chainId: 10, ...full }])).toBe(1)
    expect(await readAll()).toEqual([{ chainId: 10, ...full }])
  })

  it('gives back every value as it was copied, and holds the same as when it was inserted', async () => {
    await inTransaction(db, async (tx) => {
      const copy = await copyRows(tx, things, { shared: { chainId: 10 } })
      await copy.write([full, empty])
      await copy.write([])
      await copy.end()
    })
    const copied = await db`select t::text from things t order by id`
    expect(await readAll()).toEqual([
      { chainId: 10, ...full },
      { chainId: 10, ...empty },
    ])
    await db`truncate things`
    await insertRows(db, things, [full, empty], { shared: { chainId: 10 } })
    expect(await db`select t::text from things t order by id`).toEqual(copied)
  })

  it('keeps addresses as bytes, and words in kebab case', async () => {
    await insertRows(db, things, [full], { shared: { chainId: 1 } })
    expect(await db`select way from things`).toEqual([{ way: 'not-yet' }])
    expect(await db`select octet_length(wallet) as bytes from things where wallet = hex_bytes(${full.wallet})`).toEqual(
      [{ bytes: 20 }],
    )
  })

  it('says how many rows a conflict left to be written', async () => {
    const write = (rows: readonly (typeof full | typeof empty)[], conflict: string) =>
      insertRows(db, things, rows, { shared: { chainId: 1 }, conflict })
    await write([full], 'do nothing')
    expect(await write([full, empty], 'do nothing')).toBe(1)
    expect(await write([{ ...full, amount: 5n }, empty], '(id) do update set amount = excluded.amount')).toBe(2)
    expect((await readAll()).map(({ amount }) => amount)).toEqual([5n, full.amount])
    expect(await write([], 'do nothing')).toBe(0)
  })

  it('joins a set of some of its fields', async () => {
    await insertRows(db, things, [full, empty], { shared: { chainId: 1 } })
    const wanted = rowSet(db, things, ['vaultId', 'wallet'], [full, { vaultId: 8, wallet: '0x' }])
    const rows = await db`select t.id from ${wanted} k join things t using (vault_id, wallet)`
    expect(rows).toEqual([{ id: full.id }])
  })

  it('finds the rows of some keys in one prepared statement, and asks nothing for none', async () => {
    await insertRows(db, things, [full, empty], { shared: { chainId: 1 } })
    const find = (keys: readonly { vaultId: number; wallet: string }[]) =>
      findRows(db, things, ['vaultId', 'wallet'], keys, { without: ['chainId'], tail: 'order by r.id' })
    expect(await find([full, { vaultId: 8, wallet: '0x' }])).toStrictEqual([full])
    expect(await find([empty, full])).toStrictEqual([full, empty])
    expect(await find([])).toEqual([])
    const known = await db`select from pg_prepared_statements where statement like ${'%things r using%'}`
    expect(known.count).toBe(1)
  })

  it('reads under another name, and without what is not wanted', async () => {
    await insertRows(db, things, [full], { shared: { chainId: 1 } })
    const without = ['chainId', 'words', 'seenAt'] as const
    const { words: _words, seenAt: _seenAt, ...rest } = full
    const list = selectList(db, things, { of: 't', without })
    expect(parseRows(things, await db<object[]>`select ${list} from things t`)).toEqual([rest])
  })
})

describe('the twin of a described table', () => {
  const places = () => db`select ctid::text, t::text as row from things t order by id`
  const rebuild = (rows: readonly (typeof full | typeof empty)[]) =>
    inTransaction(db, async (tx) => {
      await tx`create temporary table ${tx(twinOf(things).name)} (like things) on commit drop`
      const copy = await copyRows(tx, twinOf(things), { shared: { chainId: 1 } })
      await copy.write(rows)
      await copy.end()
      await takeTwin(tx, things, tx`vault_id = any(${[7]}::int[])`)
    })

  it('leaves rows where they are that are the same, nulls included', async () => {
    await insertRows(db, things, [full, empty], { shared: { chainId: 1 } })
    const before = await places()
    await rebuild([empty, full])
    expect(await places()).toEqual(before)
  })

  it('takes out what differs in one column or is not there, puts in what is missing, and touches no other vault', async () => {
    const other = { ...full, id: id(3), vaultId: 8 }
    await insertRows(db, things, [full, { ...empty, reason: 'x' }, { ...full, id: id(4) }, other], {
      shared: { chainId: 1 },
    })
    const kept = (await places()).filter((_, index) => index === 0 || index === 2)
    await rebuild([full, empty, { ...full, id: id(5) }])
    const rows = await readAll()
    expect(rows).toEqual([full, empty, other, { ...full, id: id(5) }].map((row) => ({ chainId: 1, ...row })))
    expect(await places()).toEqual(expect.arrayContaining(kept))
  })
})
