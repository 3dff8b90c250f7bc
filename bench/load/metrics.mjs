// Metrics under load: node bench/load/metrics.mjs [scale] [runs]     (needs `npm run build`; scale 1 is the whole, 0.1 a tenth)
// A distributor in 50 vaults with 100,000 wallets and 1,000,000 changes of lots, in 2,880 buckets and over a year, each
// beside summing the stored rows by plain SQL through the same driver; and the LPs of a vault with 1,000,000 holders.
// Everything is generated: which wallet changes when, by how much, and the readings of the vaults. Ends by itself.
import { cpus, loadavg } from 'node:os'
import { anyDistributor, everyHolder } from '../../service/dist/features/metrics/changes.js'
import { runUsdDays } from '../../service/dist/features/metrics/jobUsdDays.js'
import { readLps } from '../../service/dist/features/metrics/storeLps.js'
import { listTopWallets, readAttributedTvl } from '../../service/dist/features/metrics/storeSeries.js'
import { listDistributorVaults, listSeriesVaults } from '../../service/dist/features/metrics/storeVaults.js'
import { readUsdDaysSeries } from '../../service/dist/features/metrics/usdDaysSeries.js'
import { openBenchDatabase } from '../micro/database.mjs'

const scale = Number(process.argv[2] ?? 1)
const runs = Number(process.argv[3] ?? 20)
const vaults = 50
const wallets = Math.round(100_000 * scale)
const changes = Math.round(1_000_000 * scale)
const holders = Math.round(1_000_000 * scale)
const step = 900
const lastStep = 1_958_400
const steps = 35_040
const say = (line) => process.stdout.write(`${line}\n`)
say(
  `machine: ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, load ${loadavg()[0].toFixed(1)}, scale ${scale}`,
)

const bench = await openBenchDatabase()
const { db } = bench
await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c')`
await db`
  insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
  select 1, '0x' || md5(n::text) || '00000000', 'erc4626', '0xaa', 6, '0x' || md5(n::text) || '00000000', 18
  from generate_series(1, ${vaults + 1}::int) n`
for (const name of ['metrics', 'share mints'])
  await db`insert into projections (chain_id, name, configuration, derived_to) values (1, ${name}, '[]', 1000000000)`
await db`
  insert into chain_cursors (chain_id, start_block, block_number, block_hash, block_timestamp, head_number, finalized_number, updated_at)
  values (1, 0, 1, '', to_timestamp(${lastStep}::bigint * 900), 1, 1, now())`
// A snapshot of each vault every quarter of an hour for a year.
await db`
  insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
    price_numerator, price_usd, block_hash)
  select s, to_timestamp(s::bigint * 900 + 3), v.id, 30, 1000000, 1000000, 1000000000000000000 + s * 1000003::bigint, 1.0001,
    decode(md5(s::text) || md5(s::text), 'hex')
  from vaults v cross join generate_series(${lastStep - steps}::int, ${lastStep}::int) s where v.id <= ${vaults}
  order by s, v.id`
// Changes of lots: half of them in the last 2,880 steps. A wallet is in about ten vaults and comes and goes.
await db`
  create table bench_changes as
  select n as block_number, to_timestamp(at) as block_timestamp, floor(at / 900)::int as step, vault_id,
    substr(sha256(convert_to(wallet::text, 'UTF8')), 1, 20) as wallet, after
  from (
    select n, ${lastStep}::bigint * 900 - 1 - (case when n % 2 = 0 then ${steps} else 2880 end * 900
        * (1 - n::float8 / ${changes}))::bigint as at,
      1 + (hashint4(n) & 2147483647) % ${vaults} as vault_id, (hashint4(n + 7) & 2147483647) % ${wallets} as wallet,
      case when n % 5 = 0 then 0 else (1 + n % 1000)::numeric * 1000000000000000000 end as after
    from generate_series(1, ${changes}::int) n) t`
await db`
  insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, distributor_id, before, after)
  select 1, block_number, block_timestamp, vault_id, 0, wallet, 'acme',
    coalesce(lag(after) over (partition by vault_id, wallet order by block_timestamp, block_number), 0), after from bench_changes`
await db`
  insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
  select distinct on (vault_id, wallet) 1, block_number, vault_id, wallet, distributor_id, after
  from lot_changes order by vault_id, wallet, block_timestamp desc, block_number desc`
await db`
  insert into attributed_steps (chain_id, first_block, last_block, vault_id, step, distributor_id, shares)
  select 1, min(block_number), max(block_number), vault_id, floor(date_part('epoch', block_timestamp) / 900)::int as step, 'acme',
    sum(sum(after - before)) over (partition by vault_id order by floor(date_part('epoch', block_timestamp) / 900)::int)
  from lot_changes group by vault_id, floor(date_part('epoch', block_timestamp) / 900)::int`
await db`
  insert into lp_edges (chain_id, block_number, block_timestamp, vault_id, level, change, is_first, distributor_id, wallet)
  select 1, block_number, block_timestamp, vault_id, 0, case when after > 0 then 1 else -1 end,
    row_number() over (partition by vault_id, wallet order by block_timestamp, block_number) = 1, 'acme', wallet
  from lot_changes where (before > 0) <> (after > 0)`
// A vault with many holders, whose numbers change in every step.
await db`
  insert into lp_edges (chain_id, block_number, block_timestamp, vault_id, level, change, is_first, distributor_id, wallet)
  select 1, n, to_timestamp((${lastStep - steps}::bigint + n::bigint * ${steps} / ${holders}) * 900), ${vaults + 1}, 0, 1, true,
    scope, substr(sha256(convert_to(n::text, 'UTF8')), 1, 20)
  from generate_series(1, ${holders}::int) n cross join unnest(${[everyHolder, anyDistributor]}::text[]) scope`
await db`
  insert into lp_steps (chain_id, first_block, last_block, vault_id, step, active, participated, level, distributor_id)
  select 1, min(block_number), max(block_number), vault_id, floor(date_part('epoch', block_timestamp) / 900)::int as step,
    sum(sum(change)) over w, sum(sum(is_first::int)) over w, 0, distributor_id
  from lp_edges where vault_id = ${vaults + 1} group by vault_id, distributor_id, floor(date_part('epoch', block_timestamp) / 900)::int
  window w as (partition by vault_id, distributor_id order by floor(date_part('epoch', block_timestamp) / 900)::int)`
await db`drop table bench_changes`
for (const table of ['vault_snapshots', 'lot_changes', 'lots', 'attributed_steps', 'lp_edges', 'lp_steps'])
  await db.unsafe(`vacuum analyze ${table}`)
for (const table of ['vault_snapshots', 'lot_changes', 'attributed_steps', 'lp_edges', 'lp_steps']) {
  const [{ count }] = await db`select count(*) from ${db(table)}`
  say(`${table}: ${count} rows`)
}

const p95 = (times) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * 0.95))]
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]

/** A bound that is not met ends the program with 1. */
const verdict = (isMet) => {
  if (!isMet) process.exitCode = 1
  return isMet ? 'met' : 'NOT MET'
}

/** Turn about, so that whatever else the machine does weighs on all alike. `peer`: how many times as long as that one, at most `most`. */
async function measure(works, count = runs) {
  const times = new Map(works.map(({ name }) => [name, []]))
  for (let run = -1; run < count; run++)
    for (const { name, work } of works) {
      const from = performance.now()
      await work()
      if (run >= 0) times.get(name).push(performance.now() - from)
    }
  for (const { name, bound, peer, most } of works) {
    const [middle, high] = [median(times.get(name)), p95(times.get(name))]
    const ratio = peer && middle / median(times.get(peer))
    const said = [`p50 ${middle.toFixed(0)} ms, p95 ${high.toFixed(0)} ms`]
    if (bound) said.push(`bound ${bound} ms: ${verdict(high <= bound)}`)
    if (ratio && most === undefined) said.push(`${ratio.toFixed(2)} × "${peer}"`)
    else if (ratio) said.push(`${ratio.toFixed(2)} × "${peer}", bound ${most}: ${verdict(ratio <= most)}`)
    say(`${name.padEnd(52)} ${said.join('; ')}`)
  }
}

const all = await listDistributorVaults(db, 'acme')
const of = { distributorId: 'acme', vaults: all }
const config = { stagedBps: 50 }
/** Counts whole days of all vaults ahead, as the job does. */
const countDays = async () => {
  const clock = { monotonicMs: () => performance.now() }
  const from = performance.now()
  await runUsdDays({ db, clock, chains: new Map([[1, {}]]) }, { runMs: 3_600_000 })
  const [{ count }] = await db`select count(*) from usd_days`
  say(`USD-days of ${count} whole days of vaults, counted ahead: ${((performance.now() - from) / 1_000).toFixed(0)} s`)
  for (const table of ['usd_days', 'usd_day_sums', 'usd_day_marks']) await db.unsafe(`vacuum analyze ${table}`)
}
const readUsdDays = (buckets) => {
  const [from, to] = [buckets.first, buckets.last + 1].map((bucket) => new Date(bucket * buckets.step * 1_000))
  return readUsdDaysSeries({ db, config }, { ...of, chainIds: [1], range: { from, to }, buckets })
}
const many = (await listSeriesVaults(db, [vaults + 1]))[0]
/** What is stored, multiplied and summed: every bucket has a row of every vault, so there are as many products as in the answer. */
const plainly = ({ first, last }) => db`
  select s.block_number, sum(v.shares * s.price_numerator * s.price_usd)::text as value
  from (select vault_id, max(shares) as shares from attributed_steps where distributor_id = 'acme' group by vault_id) v
  join vault_snapshots s on s.vault_id = v.vault_id
  where s.block_timestamp >= to_timestamp(${first * step}) and s.block_timestamp < to_timestamp(${(last + 1) * step})
  group by s.block_number`
/** Every edge that is stored, summed by its step. */
const plainEdges = ({ last }) => db`
  select floor(date_part('epoch', block_timestamp) / 900)::bigint as step, sum(change) as active,
    count(*) filter (where is_first) as participated
  from lp_edges where distributor_id = 'acme' and block_timestamp < to_timestamp(${(last + 1) * step}) group by 1 order by 1`
/** Every lot that is stored, multiplied and summed by its wallet. */
const plainLots = () => db`
  select l.wallet, sum(l.shares * v.price)::text as value, max(v.at) as at
  from lots l join (
    select v.id, s.price_numerator * s.price_usd as price, s.block_timestamp as at from vaults v cross join lateral (
      select * from vault_snapshots s where s.vault_id = v.id order by s.block_timestamp desc limit 1) s) v on v.id = l.vault_id
  where l.distributor_id = 'acme' and l.shares > 0 group by l.wallet order by sum(l.shares * v.price) desc limit 50`
for (const [name, count, bound] of [
  ['2,880 buckets', 2_880, 500],
  ['35,040 buckets', 35_040, 3_000],
]) {
  const buckets = { step, first: lastStep - count, last: lastStep - 1 }
  const works = [
    { name: `stored rows summed by SQL, ${name}`, work: () => plainly(buckets) },
    {
      name: `TVL, ${name}`,
      bound,
      peer: `stored rows summed by SQL, ${name}`,
      most: 2,
      work: () => readAttributedTvl(db, of, buckets),
    },
    { name: `stored edges summed by SQL, ${name}`, work: () => plainEdges(buckets) },
    {
      name: `LPs, ${name}`,
      bound,
      peer: `stored edges summed by SQL, ${name}`,
      most: 2,
      work: () => readLps(db, { scope: 'acme', vaults: all }, buckets),
    },
  ]
  // A year of 50 vaults is more than one request may ask USD-days of.
  if (count === 2_880) {
    const tvl = { name: `TVL, ${name} again`, work: () => readAttributedTvl(db, of, buckets) }
    const withDays = (what, asked, most) => ({
      name: `TVL with USD-days, ${what}`,
      peer: tvl.name,
      most,
      work: () => Promise.all([readAttributedTvl(db, of, buckets), readUsdDays(asked)]),
    })
    await measure([tvl, withDays('no day counted ahead', buckets)], Math.min(runs, 3))
    await countDays()
    const shifted = { step, first: buckets.first + 40, last: buckets.last - 48 }
    await measure([
      tvl,
      withDays('whole days counted ahead', buckets, 1.5),
      withDays('ends of a range within days', shifted, 1.5),
    ])
    works.push(
      {
        name: 'stored rows and lots summed by SQL, side by side',
        work: () => Promise.all([plainly(buckets), plainLots()]),
      },
      {
        name: `TVL with top wallets, ${name}`,
        bound: 800,
        peer: 'stored rows and lots summed by SQL, side by side',
        most: 2,
        work: () => Promise.all([readAttributedTvl(db, of, buckets), listTopWallets(db, of, 50)]),
      },
    )
  }
  await measure(works, count === 2_880 ? runs : Math.max(5, Math.round(runs / 2)))
}
const days = { step: 3_600, first: (lastStep - 35_040) / 4, last: lastStep / 4 - 1 }
await measure([
  {
    name: 'LPs of a vault, a year of hours, both scopes',
    bound: 150,
    work: () => Promise.all([anyDistributor, everyHolder].map((scope) => readLps(db, { scope, vaults: [many] }, days))),
  },
  {
    name: 'LPs of a vault, 10,000 steps of 900 s, both scopes',
    bound: 150,
    work: () =>
      Promise.all(
        [anyDistributor, everyHolder].map((scope) =>
          readLps(db, { scope, vaults: [many] }, { step, first: lastStep - 10_000, last: lastStep - 1 }),
        ),
      ),
  },
])
say(`load at the end: ${loadavg()[0].toFixed(1)}`)
await bench.close()
