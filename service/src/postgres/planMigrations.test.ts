import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { readMigrations } from './migrate.js'
import { planMigrations } from './planMigrations.js'
import { splitSql } from './splitSql.js'

let database: TestDatabase
beforeEach(async () => {
  database = await openTestDatabase()
  await database.db.unsafe('drop schema public cascade; create schema public')
})
afterEach(() => database.close())

const base = `
  create table parent (id integer primary key);
  create table a (id integer primary key, b text, c varchar(9) not null default '', d text check (d in ('x', 'y')));
  create view seen as select d from a;
  create function note() returns trigger language plpgsql as $$ begin return null; end $$;
  create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no; never'; end $$;
  create trigger noted after insert on a for each row execute function note();`

/** The plan of one migration after the base. */
async function plan(sql: string) {
  const steps = [base, sql].map((each, index) => ({ number: index + 1, name: `000${index + 1}_x.sql`, sql: each }))
  const [planned] = await planMigrations(database.db, steps, 1)
  const locks = planned?.statements.flatMap(({ locks: each }) => each) ?? []
  return {
    breaks: planned?.breaks,
    locks: locks.map(({ table, mode, isRewritten, isRead }) =>
      [table, mode.replace('Lock', ''), ...(isRewritten ? ['rewritten'] : []), ...(isRead ? ['read'] : [])].join(' '),
    ),
  }
}

it.each([
  ['a new table with an index', 'create table e (id integer); create index on e (id)', []],
  ['a column that may be null', 'alter table a add column e text', ['a AccessExclusive']],
  ['a column with a default', "alter table a add column e text not null default ''", ['a AccessExclusive']],
  [
    'a column with a default of each row',
    'alter table a add column e float default random()',
    ['a AccessExclusive rewritten read'],
  ],
  ['an index', 'create index on a (b)', ['a Share read']],
  ['a check of a new column', "alter table a add column e text check (e > 'x')", ['a AccessExclusive read']],
  [
    'a reference of a new column',
    'alter table a add column e integer references parent (id)',
    ['a AccessExclusive', 'parent ShareRowExclusive'],
  ],
  [
    'a trigger that refuses nothing',
    'create trigger t after update on a for each row execute function note()',
    ['a ShareRowExclusive'],
  ],
  [
    'a check that takes more',
    "alter table a drop constraint a_d_check; alter table a add constraint a_d_check check (d in ('x', 'y', 'z'))",
    ['a AccessExclusive', 'a AccessExclusive read'],
  ],
  ['a check that is gone', 'alter table a drop constraint a_d_check', ['a AccessExclusive']],
  ['another setting of a column', 'alter table a alter column b set storage external', ['a AccessExclusive']],
] as const)('calls %s additive, and tells the locks', async (_, sql, locks) => {
  expect(await plan(sql)).toEqual({ breaks: [], locks })
})

it.each([
  [
    'drop table parent',
    ['column parent.id is gone', 'constraint parent.parent_pkey is gone', 'table parent is gone'],
    ['parent AccessExclusive'],
  ],
  ['alter table a rename column b to e', ['column a.b is gone'], ['a AccessExclusive']],
  ['drop view seen', ['column seen.d is gone', 'view seen is gone'], []],
  [
    'drop trigger noted on a; drop function note()',
    ['function note() is gone', 'trigger a.noted is gone'],
    ['a AccessExclusive'],
  ],
  [
    'alter table a alter column id type bigint',
    ['column a.id is bigint, was integer'],
    ['a AccessExclusive rewritten read'],
  ],
  ['alter table a alter column c type text', ['column a.c is text, was character varying(9)'], ['a AccessExclusive']],
  ['alter table a alter column b set not null', ['column a.b may not be null any more'], ['a AccessExclusive read']],
  ['alter table a alter column c drop not null', ['column a.c may be null now'], ['a AccessExclusive']],
  ['alter table a alter column c drop default', ['column a.c has no default any more'], ['a AccessExclusive']],
  [
    'alter table a add column e text not null',
    ['column a.e must be given with each new row'],
    ['a AccessExclusive read'],
  ],
  ['alter table a add check (id > 0)', ['constraint a.a_id_check may refuse rows'], ['a AccessExclusive read']],
  [
    "alter table a drop constraint a_d_check; alter table a add constraint a_d_check check (d in ('x'))",
    ['constraint a.a_d_check is another'],
    ['a AccessExclusive', 'a AccessExclusive read'],
  ],
  ['create unique index e on a (b)', ['unique index e may refuse rows'], ['a Share read']],
  [
    'alter table a add foreign key (id) references parent (id)',
    ['constraint a.a_id_fkey may refuse rows'],
    ['a ShareRowExclusive read', 'parent ShareRowExclusive read'],
  ],
  [
    'create trigger t before update on a for each row execute function refuse()',
    ['trigger a.t may refuse rows'],
    ['a ShareRowExclusive'],
  ],
  [
    "create or replace function note() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
    ['trigger a.noted may refuse rows'],
    [],
  ],
  ["update a set b = 'x' where d = ';'", ['stored rows of a are changed'], ['a RowExclusive read']],
] as const)('does not call `%s` additive, says why, and tells the locks', async (sql, breaks, locks) => {
  const planned = await plan(sql)
  expect({ ...planned, breaks: planned.breaks?.sort() }).toEqual({ breaks, locks })
})

it('splits files at the ends of statements alone', () => {
  expect(splitSql("-- a; b\nselect ';''', \"x;\"; /* ; */ do $a$ begin; $$;$$ end $a$;;\nselect 1 - 2 / 3;")).toEqual([
    "select ';''', \"x;\"",
    'do $a$ begin; $$;$$ end $a$',
    'select 1 - 2 / 3',
  ])
})

/** The last migration of the commit in deploy/upgrade-from. */
const upgradeFrom = 25

it('finds every migration since the version that upgrades begin from additive, but for those listed here', async () => {
  const planned = await planMigrations(database.db, await readMigrations(), upgradeFrom)
  expect(planned.length).toBeGreaterThanOrEqual(24)
  expect(
    Object.fromEntries(planned.flatMap(({ name, breaks }) => (breaks.length > 0 ? [[name, breaks]] : []))),
  ).toEqual({
    // Of columns and tables that the version before does not read, or rules that begin at an instant which is noted with them.
    '0030_order_told.sql': ['stored rows of swap_orders are changed'],
    '0033_late_entries.sql': ['stored rows of ledger_told are changed'],
    '0042_operations_apart.sql': ['stored rows of rules_versions are changed'],
  })
})
