import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findForeignUses, listOwners, listUses, readTree } from './tables.js'

/** Most grants: a table that many read is shown by its room, as `vaultsOf` shows the vaults. */
const grantsMax = 30

/** Who may name a table of another room in its statements, and why it does not ask at that room's door. */
const grants: Record<string, string> = {
  'ledger reads opportunity_products': 'lists are limited to the opportunities of a product',
  'ledger reads tokens': 'an entry is told with the symbol of its token',
  'ledger reads price_observations': 'the price of an entry is chosen by the statement that writes it',
  'snapshots reads price_observations': 'which shares have no price yet is found beside their snapshots',
  'positions reads distributors': 'the configuration of a chain: the distributors',
  'positions reads distributor_settings': 'as above, who is signed only, and from when',
  'positions reads logs': 'what a claim gave stands in its event alone',
  'status reads chain_reorgs': 'one statement tells where every chain stands: its reorganisations',
  'status reads chain_evidence': 'as above, what its nodes tell of how transactions ran',
  'status reads call_paths': 'as above, since when none of that is missing',
  'status reads awaited_traces': 'as above, how much of it is awaited',
  'status reads protocols': 'one statement tells where every vault stands: its protocol',
  'status reads cut_moves': 'as above, how many moves of its shares were cut',
  'status reads balances': 'samples are drawn from the balances and the block they belong to in one statement',
  'metrics reads lots': 'one statement values the lots of every wallet and keeps the largest',
  'metrics reads lot_changes': 'a step that is cut in two is counted again from its changes',
  'metrics reads balance_changes': 'a count is recomputed from what wallets held, not from what was counted',
  'metrics reads projections': 'changes count as far as steps are derived of them',
  'portfolio reads balances': 'one statement tells whether an answer that was sent is old',
  'portfolio reads balance_changes': 'as above',
  'portfolio reads requests': 'as above',
  'solver reads outgoing_transactions': 'a settlement is closed, at what it cost, by the statement that finds it over',
  'limits reads api_keys': 'how much of its budget a key has used stands beside what it may use',
  'audit reads price_observations': 'what sources said is exported row by row, by a cursor',
  'audit reads interactions': 'everything derived is exported row by row, by a cursor',
  'audit reads balances': 'as above',
  'audit reads balance_changes': 'a report is the integral of what was held',
  'audit reads lots': 'everything derived is exported row by row, by a cursor',
  'audit reads lot_changes': 'a report is the integral of what was held',
  'audit reads flows': 'as above',
}

const service = resolve(dirname(fileURLToPath(import.meta.url)), '..')

describe('the tables', () => {
  it('have one room each, which alone writes them; others read them by a grant that is needed', async () => {
    const { owners, unowned } = listOwners(await readTree(join(service, 'migrations'), '.sql'))
    expect(owners.size).toBeGreaterThan(40)
    expect(unowned, 'tables of migrations without an owner').toEqual([])
    const sources = await readTree(join(service, 'src'), '.ts')
    expect(findForeignUses(sources, owners, grants)).toEqual([])
    expect(Object.keys(grants).length).toBeLessThanOrEqual(grantsMax)
  })
})

describe('the test of ownership itself', () => {
  const owners = new Map([
    ['lots', 'positions'],
    ['interactions', 'ledger'],
    ['blocks', 'sync'],
  ])
  /** In a planted text `#{` stands for what is put into a template. */
  const use = (path: string, text: string, granted: Record<string, string> = {}) =>
    findForeignUses([{ path, text: text.replaceAll('#{', '${') }], owners, granted)

  it.each([
    ['insert', 'await db`insert into interactions (id) values (#{id})`'],
    ['update', 'await db`update interactions set id = #{id}`'],
    ['update in a part', 'await db`with a as (#{b ? db`update interactions set id = 1` : db``}) select 1`'],
    ['delete', 'await db`delete from interactions where id = #{f({ a: `x` })}`'],
    ['truncate', 'await db`truncate blocks, interactions`'],
    ['copy', 'await db`copy interactions (id) from stdin`'],
    ['merge', 'await db`merge into interactions n using x on true when matched then delete`'],
    ['description', "export const t = describeTable('interactions', ['id'], {})"],
    ['description of an import', "export const t = describeImported('interactions', ['id'], {})"],
  ])('is red on a foreign write: %s', (_name, text) => {
    expect(use('features/positions/store.ts', text)).toContain(
      'features/positions/store.ts writes interactions of ledger',
    )
  })

  it('is red on a foreign write, though reading is granted', () => {
    const granted = { 'positions reads interactions': 'x' }
    expect(use('features/positions/store.ts', 'db`delete from interactions`', granted)).toContain(
      'features/positions/store.ts writes interactions of ledger',
    )
  })

  it.each([
    ['from', 'db`select id from interactions`'],
    ['a list', 'db`select 1 from lots l, interactions i`'],
    ['join', 'db`select 1 from lots l left join interactions i on true`'],
    ['exists', 'db`select exists (select from interactions where id = #{id})`'],
    ['using', 'db`delete from lots using interactions i where true`'],
  ])('is red on a foreign read without a grant: %s', (_name, text) => {
    expect(use('features/positions/store.ts', text)).toEqual([
      'features/positions/store.ts reads interactions of ledger',
    ])
  })

  it('is red on a grant no longer needed', () => {
    expect(use('features/ledger/store.ts', 'db`select 1 from interactions`', { 'ledger reads lots': 'x' })).toEqual([
      'nothing needs the grant: ledger reads lots',
    ])
  })

  it('is red on a table without an owner', () => {
    const made = listOwners([
      { path: '1.sql', text: '-- Owner: sync. Facts.\ncreate table blocks (number bigint);' },
      { path: '2.sql', text: '-- More facts.\ncreate unlogged table strays (number bigint);' },
    ])
    expect([...made.owners]).toEqual([['blocks', 'sync']])
    expect(made.unowned).toEqual(['strays'])
  })

  it('goes by the room that took a table over, in whichever order the migrations are read', () => {
    const taken = {
      path: '2.sql',
      text: '-- Owner: solver. Takes over: strays, blocks. Facts.\nalter table blocks add x int;',
    }
    const made = { path: '1.sql', text: '-- Owner: sync. Facts.\ncreate table blocks (number bigint);' }
    expect([...listOwners([taken, made]).owners]).toEqual([['blocks', 'solver']])
  })

  it('is green on own tables, on granted ones, and on words that are no tables', () => {
    expect(use('features/ledger/store.ts', 'db`insert into interactions select * from interactions`')).toEqual([])
    expect(use('sync/store.ts', 'db`insert into blocks values (1)`')).toEqual([])
    expect(use('features/ledger/store.ts', 'db`select 1 from lots`', { 'ledger reads lots': 'x' })).toEqual([])
    expect(use('features/ledger/store.ts', 'db`select 1 from #{lotsOf(db)} l`')).toEqual([])
    expect(use('features/auth/x.ts', '// db`delete from lots`\nconst text = "taken from lots"')).toEqual([])
    expect(listUses('db`select lots from x where lots > 1`', new Set(['lots']))).toEqual([])
  })
})
