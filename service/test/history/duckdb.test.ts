import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeExport } from '../../src/cli/exportFiles.js'
import { seeded } from '../catalogueWorld.js'
import { type HistoryWorld, historyChain, historyNow, onGrid, openHistoryWorld } from '../historyWorld.js'

let world: HistoryWorld
let folder: string
beforeAll(async () => {
  world = await openHistoryWorld()
  folder = await mkdtemp(join(tmpdir(), 'openearn-duckdb-'))
})
afterAll(async () => {
  await world?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const day = 86_400

/**
 * DuckDB has neither log1p nor expm1, and plain ln and exp lose the digits of a small growth: what is lost by adding 1 is
 * divided out again.
 */
const functions = `
  create macro log1p(x) as case when 1 + x = 1 then x else x * ln(1 + x) / ((1 + x) - 1) end;
  create macro expm1(y) as case when exp(y) = 1 then y else (exp(y) - 1) * y / ln(exp(y)) end;`

/** What a person with the file and DuckDB writes: TVL, share price, APR and APY of a vault with 6 decimals, a point a snapshot. */
const query = (file: string, vault: string) => `
  with s as (
    select epoch(block_timestamp)::bigint as at, block_number, total_assets::hugeint as assets,
      price_numerator::hugeint as price, price_usd::decimal(12, 6) as usd
    from read_parquet('${file}') where chain_id = ${historyChain} and vault = '${vault}')
  select s.at, s.block_number as block, (s.assets::varchar || 'e-6')::double as native,
    ((s.assets::decimal(20, 0) * s.usd)::varchar || 'e-6')::double as usd,
    (s.price::varchar || 'e-18')::double as share,
    printf('%.11e', ((s.price - f.price)::double / f.price::double) * 31536000 / (s.at - f.at) * 100)::double as apr,
    printf('%.11e', expm1(log1p((s.price - f.price)::double / f.price::double) * 31536000 / (s.at - f.at)) * 100)::double as apy
  from s asof left join s f on s.at - 2592000 >= f.at
  order by s.at`

it('DuckDB over the exported Parquet gives the digits that are served, of TVL, share price, APR and APY', async () => {
  const random = seeded(20_261_122)
  let price = 10n ** 18n
  const snapshots = onGrid(200, day, () => {
    price += price / 10_000n + BigInt(random.integer(10 ** 14))
    const usd = random.chance(0.1) ? null : `0.99${random.integer(10_000)}`
    return { assets: BigInt(10 ** 9 + random.integer(10 ** 12)), price, usd }
  })
  const vault = await world.vault({ snapshots })
  const file = join(folder, 'snapshots.parquet')
  expect((await writeExport(world.earn.db, 'snapshots', file, 'parquet')).rows).toBe(200)

  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(functions)
  const rows = (await connection.runAndReadAll(query(file, vault))).getRowObjects()
  connection.closeSync()
  instance.closeSync()

  const base = (await world.ask('', vault)).body.data
  const apr = (await world.ask('APR', vault)).body.data
  type Point = Record<string, { native: number; usd: number | null; base: number } & number> & { timestamp: string }
  const rates = new Map(apr.map((point: Point) => [point.timestamp, point['apr']?.base]))
  const counted = rows.map(({ at, block, native, usd, share, apr: rate, apy }) => {
    const timestamp = new Date(Number(at) * 1000).toISOString().replace('.000Z', 'Z')
    return { timestamp, block: Number(block), native, usd, share, apr: rate, apy }
  })
  const served = base.map((point: Point) => ({
    timestamp: point.timestamp,
    block: point['blockNumber'],
    native: point['tvl']?.native,
    usd: point['tvl']?.usd,
    share: point['sharePrice']?.native,
    apr: rates.get(point.timestamp) ?? null,
    apy: point['apy']?.base ?? null,
  }))
  expect(served).toHaveLength(200)
  expect(rates.size).toBe(170)
  expect(Number(rows.at(-1)?.['at'])).toBe(historyNow)
  expect(counted).toEqual(served)
})
