import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { planRows } from '../../test/sizes.js'
import { retractLedger } from '../features/ledger/storeLedger.js'
import { removePriceChoicesAbove } from '../features/ledger/storePrices.js'
import { rewindPositions } from '../features/positions/storePositions.js'
import { type Database, inTransaction, type Queryable } from '../postgres/pool.js'
import { removeRawAbove } from '../sync/storeRaw.js'

/** Rows of each table on each of two chains, one a block, in the order in which chains that grow at once write them. */
const rows = planRows
const chains = [
  { chainId: 1, tip: 21_000_000 },
  { chainId: 42_161, tip: 280_000_000 },
]
const holders = 20_000

let test: TestDatabase
let db: Database
beforeAll(async () => {
  test = await openTestDatabase()
  db = test.db
  const all = `generate_series(1, ${rows}) n cross join (values
    ${chains.map(({ chainId, tip }, index) => `(${chainId}::bigint, ${tip}::bigint, ${index + 1})`)}) c (chain, tip, vault)`
  const block = `c.tip - ${rows} + n`
  const at = 'to_timestamp(1700000000 + n * 12)'
  const bytes = (text: string, size: number) => `substr(sha256((${text})::text::bytea), 1, ${size})`
  const wallet = bytes(`n % ${holders}`, 20)
  const hash = bytes('chain || n::text', 32)
  const id = `md5(chain || 'r' || n)::uuid`
  const amount = '1000000000000000000::numeric + n'
  await db.unsafe(`
    insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before, after,
        attributed_before, attributed_after)
      select chain, ${block}, ${at}, vault, 0, ${wallet}, ${amount}, ${amount} + 1, 0, 1 from ${all} order by n;
    insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, distributor_id,
        before, after)
      select chain, ${block}, ${at}, vault, 0, ${wallet}, 'acme', ${amount}, ${amount} + 1 from ${all} order by n;
    insert into requests (id, chain_id, block_number, block_timestamp, vault_id, transaction_index, log_index,
        transaction_hash, kind, controller, owner, request_id, amount, counted, lots,
        remaining)
      select ${id}, chain, ${block}, ${at}, vault, 0, 1, ${hash}, 'deposit', ${wallet}, ${wallet}, n, ${amount}, ${amount}, '',
        ${amount}
      from ${all} order by n;
    insert into request_changes
      select ${id}, chain, ${block}, vault, 1, 5, 4, 0, 0, false, false from ${all} order by n;
    insert into used_signatures select chain, ${block}, vault, ${hash} from ${all} order by n;
    insert into cut_moves select chain, ${block}, vault, 0, ${wallet}, ${amount} from ${all} order by n;
    insert into transaction_attributions (chain_id, block_number, block_timestamp, transaction_index, block_hash,
        transaction_hash, sender, codes)
      select chain, ${block}, ${at}, 0, ${hash}, ${hash}, ${wallet}, '{acme}' from ${all} order by n;
    insert into logs select chain, ${block}, 1, 0, ${hash}, ${bytes('vault', 20)}, ${hash}, ${hash}, ${hash}, null, ${hash}
      from ${all} order by n;
    insert into transactions select chain, ${block}, 0, ${hash}, ${wallet}, ${bytes('vault', 20)}, ${hash}
      from ${all} order by n;
    insert into blocks select chain, ${block}, ${at}, ${hash}, ${hash}, true from ${all} order by n;
    insert into balances
      select chain_id, min(block_number), vault_id, wallet, 2000000000000000000, 1 from balance_changes
      group by chain_id, vault_id, wallet;
    insert into lots
      select chain_id, min(block_number), vault_id, wallet, 'acme', 1 from lot_changes group by chain_id, vault_id, wallet;`)
  // The newest block is the first of its holder.
  await db`update balances b set first_block = c.block_number from balance_changes c
    where c.block_number = any(${chains.map(({ tip }) => tip)}::bigint[]) and c.vault_id = b.vault_id and c.wallet = b.wallet`
  await db`vacuum analyze`
}, 600_000)
afterAll(() => test?.close())

type Plan = {
  'Subplan Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

/** What a statement read. A part that nothing asks for runs after the rest and is counted by itself. */
function readsOf(plan: Plan): number {
  const own = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  const apart = (plan.Plans ?? []).filter((each) => each['Subplan Name'] === 'CTE begun')
  return own + apart.reduce((sum, each) => sum + readsOf(each), 0)
}

/** Runs statements as they are, by `explain (analyze, buffers)`, and keeps what each read. */
function explaining(tx: Queryable, seen: { statement: string; buffers: number }[]): Queryable {
  const call = tx as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => PromiseLike<object[]>
  const asked = (strings: TemplateStringsArray, ...values: unknown[]) => {
    const [first = '', ...rest] = strings
    const texts = [`explain (analyze, buffers, timing off, format json) ${first}`, ...rest]
    return call(Object.assign(texts, { raw: texts }), ...values).then(([row]) => {
      const [{ Plan: plan }] = (row as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN']
      seen.push({ statement: strings.join('?').trim().replace(/\s+/g, ' '), buffers: readsOf(plan) })
      return { count: 0 }
    })
  }
  return asked as unknown as Queryable
}

describe(`a rewind of three blocks, on ${rows} rows of each of two chains`, () => {
  it.each(chains)('reads at most 50 buffers a statement at height $tip', async ({ chainId, tip }) => {
    const above = { chainId, number: tip - 3, tip }
    const seen: { statement: string; buffers: number }[] = []
    const rollback = new Error('rolled back')
    const rewind = inTransaction(db, async (tx) => {
      const explained = explaining(tx, seen)
      await rewindPositions(explained, above)
      await retractLedger(explained, above, 1)
      await removePriceChoicesAbove(explained, above)
      await removeRawAbove(explained, above)
      for (const table of [
        'balance_changes',
        'lot_changes',
        'requests',
        'request_changes',
        'used_signatures',
        'cut_moves',
        'logs',
      ]) {
        const [left] = await tx.unsafe<{ count: number }[]>(
          `select count(*)::int as count from ${table} where chain_id = ${chainId}`,
        )
        expect(left?.count, table).toBe(rows - 3)
      }
      const [holdersLeft] = await tx<{ count: number }[]>`
        select count(*)::int as count from balances where chain_id = ${chainId}`
      expect(holdersLeft?.count).toBe(holders - 1)
      throw rollback
    })
    await expect(rewind).rejects.toBe(rollback)
    const most = seen.toSorted((a, b) => b.buffers - a.buffers)
    expect(seen.length).toBeGreaterThan(9)
    expect(
      most[0]?.buffers,
      most.map(({ statement, buffers }) => `${buffers} ${statement}`).join('\n'),
    ).toBeLessThanOrEqual(50)
  })
})
