import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { seededRandom, times } from '../../../test/seed.js'
import type { Random } from '../../../test/simulation/random.js'
import type { DeriveVault } from '../../derive/config.js'
import type { InteractionRow } from '../../derive/rows.js'
import { derivedId } from '../../kernel/ids.js'
import { type Database, inTransaction } from '../../postgres/pool.js'
import { recordReorg } from '../../sync/storeCursors.js'
import { beside, clearTwins, takeTwins } from '../../sync/storeTwins.js'
import { ledger } from './projection.js'
import { sumFlowsOf } from './storeFlows.js'
import { recordInteractions, removeLedgerAbove, retractLedger } from './storeLedger.js'
import { type ActivityFilter, listActivity, type Sort, type SortBy, sortKeys } from './storePages.js'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const distributors = ['acme', 'ACME', 'beta', 'Zeta']
/** Two share a name but for its case; the last vault has an opportunity only now and then. */
const vaults = [
  { chainId: 1, name: 'Beta' },
  { chainId: 1, name: 'beta' },
  { chainId: 2, name: 'Alpha' },
  { chainId: 2, name: null },
]
const product = uuid(900)

type Entry = {
  id: string
  chainId: number
  vaultId: number
  opportunityId: string | null
  name: string | null
  kind: string
  distributorId: string
  wallet: string
  transactionHash: string
  blockNumber: number
  logIndex: number
  at: number
  amount: number
  amountUsd: number | null
  isVerified: boolean
}

let test: TestDatabase
let db: Database
const derived = new Map<number, DeriveVault>()
const heights = new Map([
  [1, 0],
  [2, 0],
])

beforeAll(async () => {
  test = await openTestDatabase()
  db = test.db
  await db`insert into products (id, name) values (${product}, 'P')`
  for (const chainId of [1, 2]) {
    await db`insert into chains (chain_id, name, slug, confirmations) values (${chainId}, 'C', ${`c${chainId}`}, ${chainId * 2})`
    await db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, updated_at)
      values (${chainId}, 0, 0, '', 0, now())`
  }
  for (const [index, { chainId, name }] of vaults.entries()) {
    const [row] = await db<{ id: number }[]>`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${address(index + 1)}, 'erc4626', '0xaa', 0, ${address(index + 1)}, 6) returning id`
    derived.set(row!.id, { id: row!.id, asset: '0xaa', assetDecimals: 0 } as DeriveVault)
    if (name !== null) await addOpportunity(index, name)
  }
})
afterAll(() => test?.close())

/** All but the first are of the product. */
async function addOpportunity(index: number, name: string): Promise<void> {
  await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
    values (${uuid(index)}, ${`o${index}`}, ${name}, 'vault', ${vaults[index]!.chainId}, ${address(index + 1)})`
  if (index > 0)
    await db`insert into opportunity_products (opportunity_id, product_id) values (${uuid(index)}, ${product})`
}

/** New blocks of a chain with entries in them, and where the chain stands then. */
function makeBlocks(random: Random, chainId: number, blocks: number): InteractionRow[] {
  const from = heights.get(chainId)!
  heights.set(chainId, from + blocks)
  const ids = [...derived.keys()].filter((_, index) => vaults[index]!.chainId === chainId)
  return Array.from({ length: blocks }, (_, n) => from + n + 1).flatMap((blockNumber) =>
    Array.from({ length: random.int(0, 9) }, (_, logIndex) => {
      const assets = BigInt(random.int(0, 12))
      return {
        id: derivedId(`${chainId}:${blockNumber}:${logIndex}:${random.next()}`),
        vaultId: random.pick(ids),
        kind: random.chance(0.8) ? ('deposit' as const) : ('withdraw' as const),
        blockNumber,
        blockHash: `b${blockNumber}`,
        // Several blocks share an instant.
        timestamp: 1_700_000_000 + Math.floor(blockNumber / 3),
        transactionHash: `t${blockNumber}`,
        transactionIndex: 0,
        logIndex,
        wallet: address(random.int(1, 40)),
        distributorId: random.pick(distributors),
        attribution: 'signed' as const,
        assets,
        shares: assets,
        isSwap: false,
      }
    }),
  )
}

const stand = async (chainId: number) => {
  const number = heights.get(chainId)!
  await db`update chain_cursors set block_number = ${number}, head_number = ${number} where chain_id = ${chainId}`
}

/** What comes to a ledger: blocks, a reorganisation, a part derived again, a rebuild; an opportunity comes or goes. */
async function step(random: Random): Promise<void> {
  const last = vaults.length - 1
  const gone = await db`delete from opportunities where id = ${uuid(last)}`
  if (gone.count === 0 && random.chance(0.5)) await addOpportunity(last, 'Gamma')
  const chainId = random.pick([1, 2])
  const height = heights.get(chainId)!
  const what = random.pick(['append', 'append', 'append', 'rewind', 'rederive', 'rebuild'])
  const above = Math.max(0, height - random.int(1, 20))
  if (what === 'append')
    await recordInteractions(db, chainId, makeBlocks(random, chainId, random.int(20, 120)), derived)
  else if (what === 'rewind') {
    const reorg = {
      chainId,
      detectedAt: new Date(0),
      ancestorNumber: above,
      ancestorHash: '',
      oldNumber: height,
      oldHash: '',
    }
    const reorgId = await recordReorg(db, reorg)
    await retractLedger(db, { chainId, number: above, tip: height }, reorgId)
    heights.set(chainId, above)
  } else if (what === 'rebuild') {
    heights.set(chainId, 0)
    const rows = [{ interactions: makeBlocks(random, chainId, height), attributions: [] }]
    await inTransaction(db, async (tx) => {
      await ledger.write(tx, rows, { chainId, config: derived, place: beside, isLive: false })
      await ledger.settle?.(tx, { chainId, place: beside })
      await takeTwins(tx, chainId, ledger)
      await clearTwins(tx, ledger)
    })
  } else {
    await removeLedgerAbove(db, { chainId, number: above, tip: height })
    heights.set(chainId, above)
    await recordInteractions(db, chainId, makeBlocks(random, chainId, height - above), derived)
  }
  await db`
    update interactions set amount_usd = case when get_byte(uuid_send(id), 0) % 3 > 0 then get_byte(uuid_send(id), 1) % 9 end
    where chain_id = ${chainId}`
  await stand(chainId)
}

/** Every entry there is, read without any of what the lists use. */
async function readAll(): Promise<Entry[]> {
  return db<Entry[]>`
    select i.id, i.chain_id as "chainId", i.vault_id as "vaultId", o.id as "opportunityId", lower(o.name) as name, i.kind,
      i.distributor_id as "distributorId", i.wallet, i.transaction_hash as "transactionHash",
      i.block_number as "blockNumber", i.log_index as "logIndex",
      extract(epoch from i.block_timestamp)::bigint as at, i.amount::float as amount, i.amount_usd::float as "amountUsd",
      i.block_number <= c.head_number - ch.confirmations + 1 as "isVerified"
    from interactions i join chains ch using (chain_id) join chain_cursors c using (chain_id)
    join vaults v on v.id = i.vault_id
    left join opportunities o on o.chain_id = v.chain_id and o.vault_address = v.address`
}

const keysOf: Record<SortBy, (entry: Entry) => (string | number | null)[]> = {
  date: ({ at, chainId, blockNumber, logIndex }) => [at, chainId, blockNumber, logIndex],
  usdValue: ({ amountUsd }) => [amountUsd],
  amount: ({ amount }) => [amount],
  opportunity: ({ name }) => [name],
  distributor: ({ distributorId }) => [distributorId.toLowerCase()],
  wallet: ({ wallet }) => [wallet],
  type: ({ kind }) => [kind],
}

/** Nulls last and equal ones by id, in both directions. */
function compare(a: Entry, b: Entry, { by, order }: Sort): number {
  const others = keysOf[by](b)
  for (const [index, x] of keysOf[by](a).entries()) {
    const y = others[index] ?? null
    if (x === y) continue
    if (x === null || y === null) return x === null ? 1 : -1
    return x < y === (order === 'asc') ? -1 : 1
  }
  return a.id < b.id ? -1 : 1
}

function pickFilter(random: Random): ActivityFilter {
  const filter: ActivityFilter = {}
  if (random.chance(0.3)) filter.kind = random.pick(['deposit', 'withdraw'])
  if (random.chance(0.3)) filter.distributorId = random.pick([...distributors, 'nobody'])
  if (random.chance(0.3)) filter.opportunityId = uuid(random.int(0, 3))
  if (random.chance(0.2)) filter.productId = product
  if (random.chance(0.2)) filter.wallets = [address(random.int(1, 40)), address(random.int(1, 40))]
  if (random.chance(0.2)) filter.chainId = random.pick([1, 2])
  // Both chains have it.
  if (random.chance(0.1)) filter.transactionHash = `t${random.int(1, 60)}`
  return filter
}

const isOf = (filter: ActivityFilter) => (entry: Entry) =>
  entry.isVerified &&
  entry.opportunityId !== null &&
  (filter.kind === undefined || entry.kind === filter.kind) &&
  (filter.distributorId === undefined || entry.distributorId === filter.distributorId) &&
  (filter.opportunityId === undefined || entry.opportunityId === filter.opportunityId) &&
  (filter.productId === undefined || entry.opportunityId !== uuid(0)) &&
  (filter.wallets === undefined || filter.wallets.includes(entry.wallet)) &&
  (filter.chainId === undefined || entry.chainId === filter.chainId) &&
  (filter.transactionHash === undefined || entry.transactionHash === filter.transactionHash)

type Wanted = { kind: string; distributorId: string; vaultIds: number[]; from: number; to: number }

/** The verified entries of a kind in a range, one by one. */
function sumOf(entries: readonly Entry[], { kind, distributorId, vaultIds, from, to }: Wanted) {
  const isOwn = (entry: Entry) => entry.isVerified && entry.kind === kind && entry.distributorId === distributorId
  const own = entries.filter(
    (entry) => isOwn(entry) && vaultIds.includes(entry.vaultId) && entry.at >= from && entry.at < to,
  )
  const usd = own.reduce((sum, { amountUsd }) => sum + (amountUsd ?? 0), 0)
  return { count: own.length, usd: `${usd}`, unpriced: own.filter(({ amountUsd }) => amountUsd === null).length }
}

it(
  'counts, pages and sums are those of all entries sorted, whatever comes and goes',
  async () => {
    const random = seededRandom()
    let most = 0
    for (let round = 0; round < 15 * times; round++) {
      await step(random)
      const entries = await readAll()
      const [wrong] = await db<{ rows: number }[]>`
      select count(*) as rows from interaction_counts n full join (
        select chain_id, vault_id, distributor_id, kind, count(*) as entries from interactions group by 1, 2, 3, 4) i
      using (chain_id, vault_id, distributor_id, kind) where n.entries is distinct from i.entries`
      expect(wrong, `round ${round}`).toEqual({ rows: 0 })
      const at = entries.map((entry) => entry.at)
      const [first, last] = [Math.min(...at), Math.max(...at)]
      for (const distributorId of [random.pick(distributors), 'nobody']) {
        const [from, to] = [random.int(first - 1, last + 1), random.int(first - 1, last + 2)].sort((a, b) => a - b)
        const vaultIds = [...derived.keys()].filter(() => random.chance(0.8))
        const range = { from: new Date(from! * 1_000), to: new Date(to! * 1_000) }
        expect(await sumFlowsOf(db, { distributorId, vaultIds }, range), `round ${round}`).toEqual({
          deposits: sumOf(entries, { kind: 'deposit', distributorId, vaultIds, from: from!, to: to! }),
          withdrawals: sumOf(entries, { kind: 'withdraw', distributorId, vaultIds, from: from!, to: to! }),
        })
      }
      for (let each = 0; each < 12; each++) {
        const filter = each === 0 ? {} : pickFilter(random)
        const sort: Sort = { by: random.pick(sortKeys), order: random.pick(['asc', 'desc']) }
        const expected = entries.filter(isOf(filter)).sort((a, b) => compare(a, b, sort))
        most = Math.max(most, expected.length)
        const offset = random.int(0, expected.length)
        const limit = random.int(1, 100)
        const page = await listActivity(db, filter, { page: 1, limit, offset }, sort)
        const said = JSON.stringify({ round, each, filter, sort, offset, limit, entries: expected.length })
        expect(page.total, said).toBe(expected.length)
        expect(
          page.rows.map(({ id }) => id),
          said,
        ).toEqual(expected.slice(offset, offset + limit).map(({ id }) => id))
      }
    }
    // Few entries are read in another way than many.
    expect(most).toBeGreaterThan(2_000)
  },
  120_000 * times,
)
