import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findForeignUses, listOwners, listUses, readTree } from './tables.js'

/** Who may name a table of another room in its statements, and why it does not ask at that room's door. */
const grants: Record<string, string> = {
  'catalogue reads chains': 'which signers count depends on there being a devnet, and is listed with them',
  'ledger reads chain_cursors': 'an entry is told with whether its block is final',
  'ledger reads vaults': 'an entry is told with its asset’s decimals; lists are limited to vaults with an opportunity',
  'ledger reads opportunities': 'entries are ordered by the name of their opportunity, page by page',
  'ledger reads opportunity_products': 'lists are limited to the opportunities of a product',
  'ledger reads tokens': 'an entry is told with the symbol of its token',
  'ledger reads price_observations': 'the price of an entry is chosen by the statement that writes it',
  'snapshots reads vaults': 'the grid of a vault is its own, and a snapshot is taken of it',
  'snapshots reads vault_pauses': 'what was snapped in a pause is no reading',
  'snapshots reads price_observations': 'which shares have no price yet is found beside their snapshots',
  'sync reads chains': 'what is confirmed is decided in the transaction that derives it',
  'positions reads chains': 'the configuration of a chain: entry points',
  'positions reads distributors': 'as above, the distributors',
  'positions reads distributor_settings': 'as above, who is signed only, and from when',
  'positions reads vaults': 'as above, its vaults; and a position is told with its vault',
  'positions reads opportunities': 'as above, and its opportunity',
  'positions reads logs': 'what a claim gave stands in its event alone',
  'status reads chains': 'one statement tells where every chain stands',
  'status reads chain_cursors': 'as above, its cursor',
  'status reads chain_reorgs': 'as above, its reorganisations',
  'status reads chain_evidence': 'as above, what its nodes tell of how transactions ran',
  'status reads call_paths': 'as above, since when none of that is missing',
  'status reads awaited_traces': 'as above, how much of it is awaited',
  'status reads vaults': 'one statement tells where every vault stands',
  'status reads sources': 'as above, how far it is read',
  'status reads vault_snapshots': 'as above, its first and last snapshot',
  'status reads vault_pauses': 'as above, whether its series are paused',
  'status reads opportunities': 'as above, its opportunity',
  'status reads blocks': 'the doctor looks for gaps among the blocks a chain keeps',
  'status reads protocols': 'as above, its protocol',
  'status reads cut_moves': 'as above, how many moves of its shares were cut',
  'status reads balances': 'samples are drawn from the balances and the block they belong to in one statement',
  'metrics reads vaults': 'the configuration of a chain: floors and who holds for others; and a series knows decimals',
  'metrics reads vault_snapshots': 'one statement multiplies shares with prices, bucket by bucket',
  'metrics reads lots': 'one statement values the lots of every wallet and keeps the largest',
  'metrics reads lot_changes': 'a step that is cut in two is counted again from its changes',
  'metrics reads balance_changes': 'a count is recomputed from what wallets held, not from what was counted',
  'metrics reads projections': 'changes count as far as steps are derived of them',
  'portfolio reads vaults':
    'the configuration of a chain: who holds for others; and a flow is worth so much of its vault’s asset',
  'portfolio reads balances': 'one statement tells whether an answer that was sent is old',
  'portfolio reads balance_changes': 'as above',
  'portfolio reads requests': 'as above',
  'portfolio reads chain_cursors': 'as above, and whether a node is behind what is derived',
  'portfolio reads vault_snapshots': 'one statement values a wallet’s flows, each by the snapshot of its block',
  'streams reads chains': 'the factories of chains are those they are configured with',
  'streams reads blocks': 'when the last block before an instant was made',
  'orders reads sources': 'an order has expired unfilled only where the events of its settlement contract were read',
  'solver reads outgoing_transactions': 'a settlement is closed, at what it cost, by the statement that finds it over',
  'streams reads sources': 'a creation that nobody sent is known only where its blocks were read',
  'audit reads vaults': 'an export names vaults by address',
  'audit reads vault_snapshots': 'snapshots are exported, and a report values shares by them',
  'audit reads price_observations': 'what sources said is exported row by row, by a cursor',
  'audit reads opportunities': 'a report names opportunities',
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
    expect(use('features/auth/x.ts', '// db`delete from lots`\nconst text = "taken from lots"')).toEqual([])
    expect(listUses('db`select lots from x where lots > 1`', new Set(['lots']))).toEqual([])
  })
})
