import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { seededRandom } from '../../../test/seed.js'
import { drawHistory, type History } from '../../../test/usdDaysHistory.js'
import { openUsdDaysWorld, writeHistory } from '../../../test/usdDaysWorld.js'
import { writeExport } from '../../cli/exportFiles.js'
import { recountFiles } from '../../cli/recount.js'
import { type MadeStatement, makeStatement, parseMonth, type StatementAsk } from './statement.js'
import type { StatementChange, StatementFacts } from './statementFacts.js'
import { exportsOfStatement } from './statementFiles.js'

let earn: Earn
let history: History
let folder: string
beforeAll(async () => {
  history = { ...drawHistory(seededRandom()), rulesAt: -1 }
  earn = await openUsdDaysWorld(history)
  folder = await mkdtemp(join(tmpdir(), 'openearn-statement-'))
})
afterAll(async () => {
  await earn?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const ask = { distributorId: 'acme', month: '2026-11' }
const token = { chainId: 1, address: `0x${'a3'.repeat(20)}` }

/** A month in which all that is told happened, and that is over and final on each chain. */
beforeEach(async () => {
  const { db } = earn
  await db`truncate statements`
  await writeHistory(db, history)
  await db`update rules_versions set holds_from = to_timestamp(0)`
  await db`update chain_cursors set block_timestamp = '2026-12-01T00:10:00Z', head_number = block_number + 99,
    finalized_number = block_number`
  await db`update projections p set derived_to = c.block_number from chain_cursors c where c.chain_id = p.chain_id`
  await db`insert into snapshot_progress (vault_id, seen_to) select id, '2026-12-01T00:10:00Z' from vaults`
  await db`truncate lots`
  await db`
    insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
    select distinct chain_id, 0, vault_id, wallet, distributor_id, 0 from lot_changes`
  await db`
    insert into price_observations (chain_id, address, price_usd, source, rank, observed_at, valid_until)
    values (1, ${token.address}, 0.5, 'test', 0, '2026-11-30T23:00:00Z', '2026-12-02T00:00:00Z')`
})

const make = (more: Partial<StatementAsk> = {}, isDraft = false) =>
  makeStatement(earn.ctx, { ...ask, ...more }, { isDraft })

async function told(made: MadeStatement | Promise<MadeStatement>) {
  const found = await made
  if ('problems' in found) throw new Error(found.problems.join())
  const document: StatementFacts & { status: string; changes: StatementChange[] } = JSON.parse(found.document)
  return { ...found, document, manifest: JSON.parse(found.manifest) }
}

/** Writes what `openearn export` does, and counts by the line of the manifest. */
async function recount(line: string) {
  const [, distributorId = '', from = '', to = ''] = /--distributor (\S+) --from (\S+) --to (\S+)$/.exec(line) ?? []
  const files = exportsOfStatement.map((name) => join(folder, `${name}.csv`))
  for (const [index, name] of exportsOfStatement.entries()) await writeExport(earn.db, name, files[index] ?? '', 'csv')
  expect(line.match(/export\/[a-z-]+\.csv/g)).toEqual(exportsOfStatement.map((name) => `export/${name}.csv`))
  return recountFiles(files, { distributorId, from: new Date(from), to: new Date(to) })
}

describe('the statement of a month', () => {
  it('is what its exports come to by the line it tells, to the digit, and names the facts it rests on', async () => {
    const { document, manifest, sha256, rowsCsv } = await told(make())
    expect(document).toMatchObject({ status: 'final', revision: 1, rulesVersion: 3, rate: null, changes: [] })
    expect(document.chains.map(({ chainId }) => chainId)).toEqual([1, 31_337])
    for (const { blockHash } of document.chains) expect(blockHash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(Number(document.usdDays)).toBeGreaterThan(0)
    const counted = await recount(manifest.recount)
    expect(document.vaults.map(({ vault, usdDays }) => [vault, usdDays])).toEqual(
      counted.map(({ vault, usdDays }) => [vault, usdDays]),
    )
    expect(rowsCsv.split('\n').slice(1, -1)).toHaveLength(document.vaults.length)
    for (const { vault, opportunityId, usdDays } of document.vaults)
      expect(rowsCsv).toContain(`,${vault},${opportunityId},${usdDays},`)
    expect(manifest.files[0]).toEqual({ file: 'acme-2026-11-r1.json', sha256 })
  })

  it('says up to which block each chain counts: a draft of a month that goes on to the newest confirmed one', async () => {
    const { document } = await told(make())
    expect(document.chains.map(({ to }) => to)).toEqual(['2026-12-01T00:00:00Z', '2026-12-01T00:00:00Z'])
    await earn.db`update chain_cursors set block_timestamp = '2026-11-25T00:00:00Z' where chain_id = 1`
    const draft = await told(make({}, true))
    const [newest] = await earn.db<{ number: number }[]>`
      select max(b.number) as number from blocks b join chain_cursors c on c.chain_id = b.chain_id and b.number <= c.block_number
      where b.chain_id = 1`
    expect(draft.document.chains[0]).toMatchObject({ blockNumber: newest?.number, to: '2026-11-25T00:00:00Z' })
    expect(draft.document.chains[1]).toEqual(document.chains[1])
    expect(draft.manifest.chains).toEqual(draft.document.chains)
  })

  it('is the same bytes whenever it is asked for, though names and settings changed', async () => {
    const first = await make()
    await earn.db`update opportunities set name = name || ' renamed'`
    const settled = { ...earn.ctx, config: { ...earn.ctx.config, stagedBps: 9_999 } }
    expect(await makeStatement(settled, ask, { isDraft: false })).toEqual(first)
    expect(await earn.db`select from statements`).toHaveLength(1)
  })

  it('has a further revision where facts changed, with the difference of each vault and why', async () => {
    const first = await told(make())
    const [lot] = await earn.db<{ vault: string }[]>`
      update lot_changes c set after = after + 1000000000000 from vaults v
      where v.id = c.vault_id and c.distributor_id = 'acme' and (c.vault_id, c.block_number) in (
        select vault_id, min(block_number) from lot_changes where distributor_id = 'acme' group by vault_id order by 1 limit 1)
      returning v.address as vault`
    const second = await told(make())
    expect([second.revision, second.document.changes.length]).toEqual([2, 1])
    const [change] = second.document.changes
    expect(change).toMatchObject({ vault: lot?.vault, reasons: ['shares moved otherwise: lots changed'] })
    const of = ({ document }: typeof first) => document.vaults.find(({ vault }) => vault === lot?.vault)?.usdDays
    expect([change?.before, change?.after]).toEqual([of(first), of(second)])
    expect(await told(make())).toMatchObject({ revision: 2, sha256: second.sha256, document: second.document })
    await earn.db`update vault_snapshots set price_usd = 2 where vault_id in (select id from vaults where address = ${lot?.vault ?? ''})`
    const third = await told(make())
    expect(third.document.changes[0]).toMatchObject({
      vault: lot?.vault,
      reasons: ['prices of the asset came or went'],
    })
    const kept = await earn.db<{ document: string }[]>`select document from statements order by revision`
    expect(kept.map(({ document }) => JSON.parse(document).revision)).toEqual([1, 2, 3])
    expect(JSON.parse(kept[0]?.document ?? '')).toEqual(first.document)
  })

  it('says what is owed at a rate a year, cut, in dollars and in a token at its price at the end of the month', async () => {
    const plain = await told(make())
    const { document, manifest } = await told(make({ rateBps: 50, token }))
    const owed = (Number(plain.usdDays) * 0.005) / 365
    expect(document.rate).toMatchObject({ bps: 50, token: { ...token, priceUsd: '0.5' } })
    expect(Number(document.rate?.owedUsd)).toBeCloseTo(owed, 9)
    const [{ decimals = 0 } = {}] = await earn.db<{ decimals: number }[]>`
      select decimals from tokens where chain_id = 1 and address = ${token.address}`
    expect(Number(document.rate?.token?.owed) / 10 ** decimals).toBeCloseTo(owed * 2, 5)
    expect(manifest.rate).toEqual(document.rate)
    expect(document.usdDays).toBe(plain.usdDays)
    expect(await earn.db`select from statements`).toHaveLength(2)
    expect(await make({ rateBps: 50, token: { chainId: 1, address: `0x${'ff'.repeat(20)}` } })).toMatchObject({
      problems: [expect.stringContaining('is in no catalogue')],
    })
    await earn.db`delete from price_observations where address = ${token.address}`
    expect(await make({ rateBps: 50, token })).toMatchObject({
      problems: [expect.stringContaining('has no price at the end of the month')],
    })
  })

  it.each<[string, (db: Earn['db']) => Promise<unknown>, RegExp]>([
    [
      'a chain that is not final',
      (db) => db`update chain_cursors set finalized_number = 1 where chain_id = 1`,
      /^chain 1 is final (up to|nowhere)/,
    ],
    ['a chain that is not read', (db) => db`delete from projections where chain_id = 1`, /^chain 1 is final nowhere/],
    [
      'a snapshot that is still to be read',
      (db) => db`update snapshot_progress set seen_to = '2026-11-30T23:45:00Z'`,
      /^snapshots of vault 0x/,
    ],
    [
      'a share price that is still to be read',
      (db) => db`
        insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash, shares)
        select chain_id, 9999999, '2026-11-29T00:00:00Z', id, 0, hex_bytes(${`0x${'0'.repeat(64)}`}),
          hex_bytes(${`0x${'0'.repeat(64)}`}), 10 ^ 60 from vaults`,
      /^share prices of vault 0x/,
    ],
  ])('is refused for %s, and a draft of it is marked and not kept', async (_what, spoil, sentence) => {
    await spoil(earn.db)
    const refused = await make()
    expect('problems' in refused && refused.problems[0]).toMatch(sentence)
    const draft = await told(make({}, true))
    expect([draft.name, draft.document.status, draft.revision]).toEqual(['acme-2026-11-DRAFT', 'draft', null])
    expect(draft.rowsCsv).toMatch(/^acme,2026-11,draft,/m)
    expect(await earn.db`select from statements`).toHaveLength(0)
  })

  it('is kept once where two are made at the same time', async () => {
    const [one, other] = await Promise.all([make(), make()])
    expect(one).toEqual(other)
    expect(await earn.db`select from statements`).toHaveLength(1)
  })

  it('of a month nobody can name is refused', async () => {
    expect(await make({ month: '2026-13' })).toEqual({ problems: ['"2026-13" is no month such as 2026-10'] })
    expect(parseMonth('2026-12')).toEqual({
      from: new Date('2026-12-01T00:00:00Z'),
      to: new Date('2027-01-01T00:00:00Z'),
    })
  })
})
