// History of vaults over many snapshots: a year by the default step, and 10,000 buckets, beside reading the same rows by
// plain SQL through the same driver.
// Usage: node bench/load/history.mjs [snapshots = 20000000] [vaults = 5000] [requests = 200]     (needs `npm run build`)
// Everything is generated: what the vaults hold, their share prices and what their asset is worth. Ends by itself.
// A fiftieth of the vaults has a whole year of quarters of an hour, as far as the snapshots go round; the others share
// the rest evenly.
import { cpus, loadavg, totalmem } from 'node:os'
import { createKey } from '../../service/dist/features/auth/index.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { parseConfig } from '../../service/dist/kernel/config.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { openService } from '../../service/dist/server/service.js'
import { createShutdown } from '../../service/dist/server/shutdown.js'
import { openBenchDatabase, organizationId } from '../micro/database.mjs'

const snapshots = Number(process.argv[2] ?? 20_000_000)
const vaults = Number(process.argv[3] ?? 5_000)
const requests = Number(process.argv[4] ?? 200)
const yearRows = 35_040
const full = Math.max(1, Math.min(Math.floor(vaults / 50), Math.floor(snapshots / yearRows / 2)))
const others = Math.max(1, Math.floor((snapshots - full * yearRows) / Math.max(1, vaults - full)))
const chainId = 1
const day = 86_400
const say = (line) => process.stdout.write(`${line}\n`)

const bench = await openBenchDatabase({ durable: false })
const { db } = bench
const shutdown = createShutdown(silentLog)
const nowSeconds = Math.floor(Date.now() / 1000 / 900) * 900
const addressOf = (n) => `0x${n.toString(16).padStart(40, '0')}`

const [cpu] = cpus()
say(`machine: ${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`)
say(
  `load average at the start: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
)

await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
await db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
await db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${addressOf(0)}, 6, 'USD', 'Dollar')`
await db`
  insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from)
  select ${chainId}, '0x' || lpad(to_hex(n), 40, '0'), 'erc4626', ${addressOf(0)}, 6, '0x' || lpad(to_hex(n), 40, '0'), 18,
    'epoch' from generate_series(1, ${vaults}::int) n`
const begun = performance.now()
// All vaults of one instant, then the next, as the grid is read.
const rounds = Math.max(yearRows, others)
for (let first = 0; first < rounds; first += 500) {
  await db`
    insert into vault_snapshots (vault_id, block_number, block_hash, block_timestamp, total_assets, total_supply,
      price_numerator, price_exponent, price_usd, price_observation_id)
    select v.n, 20000000 + g.n * 75, decode(md5(g.n::text) || md5('b' || g.n), 'hex'),
      to_timestamp(${nowSeconds}::bigint - ${rounds}::bigint * 900 + (g.n + 1) * 900), 10000000000000 + g.n::bigint * 77777777,
      (10000000000000 + g.n::bigint * 55555555)::numeric * 1000000000003,
      1000000000000000000 + g.n::bigint * 1234567890123 + (v.n * 7919 + g.n::bigint * 104729) % 1000003, 30, 0.9997 + (g.n % 7) * 0.0001, 1000000 + g.n
    from generate_series(${first}::int, ${Math.min(first + 500, rounds) - 1}::int) g (n)
    cross join generate_series(1, ${vaults}::int) v (n)
    where g.n >= ${rounds}::int - case when v.n <= ${full} then ${yearRows}::int else ${others}::int end`
}
await db`vacuum (analyze) vault_snapshots`
const [{ count, bytes }] = await db`
  select count(*) as count, pg_total_relation_size('vault_snapshots') as bytes from vault_snapshots`
say(
  `${count} snapshots of ${vaults} vaults, ${full} of them with ${yearRows}, the others with ${others}; filled in ${Math.round((performance.now() - begun) / 1000)} s`,
)
/** A bound that is not met ends the program with 1. */
const verdict = (isMet) => {
  if (!isMet) process.exitCode = 1
  return isMet ? 'met' : 'NOT MET'
}
const each = Number(bytes) / Number(count)
say(`${each.toFixed(0)} bytes a snapshot with its indexes, bound 200: ${verdict(each <= 200)}`)

// Filling takes longer than a series may be without a snapshot: the service is asked at the instant of the last one.
const clock = { ...systemClock, now: () => new Date((nowSeconds + 60) * 1000) }
const base = { db, clock, log: silentLog, config: parseConfig({}, '/nonexistent') }
const service = await openService(base, { chains: [], shutdown })
const { text: key } = await createKey(base, { organizationId, kind: 'publishable', hourlyUnits: 1_000_000_000 })
const startMs = (nowSeconds - 365 * day + 60) * 1000

/** Milliseconds of one request, and its points. */
async function ask(vault, name, query) {
  const search = new URLSearchParams({ startDate: new Date(startMs).toISOString(), ...query })
  const url = `/v2/opportunities/${chainId}/${addressOf(vault)}/historical${name}?${search}`
  const from = performance.now()
  const answer = await service.publicApp.inject({ method: 'GET', url, headers: { 'x-api-key': key } })
  const ms = performance.now() - from
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return { ms, points: answer.json().data.length, bytes: answer.body.length }
}

/** Reading the rows that 10,000 buckets of a year are made of, as they stand. */
async function readPlain(vault) {
  const from = performance.now()
  const rows = await db`
    select block_timestamp, block_number, block_hash, total_assets, total_supply, price_numerator, price_exponent, price_usd
    from vault_snapshots where vault_id = ${vault} and block_timestamp between to_timestamp(${startMs / 1000}::bigint)
      and to_timestamp(${nowSeconds}::bigint) order by block_timestamp`
  return { ms: performance.now() - from, points: rows.length, bytes: 0 }
}

const quantile = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]
const results = {}
async function measure(name, times, make, bound) {
  const seen = []
  // The first ones compile and fill caches.
  for (let turn = -5; turn < times; turn++) {
    const one = await make(turn)
    if (turn >= 0) seen.push(one)
  }
  const ms = seen.map((one) => one.ms)
  results[name] = { p50: quantile(ms, 0.5), p95: quantile(ms, 0.95) }
  const high = quantile(ms, 0.95)
  const said = bound === undefined ? '' : `${bound} ms: ${verdict(high <= bound)}`
  say(
    `| ${name} | ${seen[0].points} | ${seen[0].bytes} | ${quantile(ms, 0.5).toFixed(1)} | ${high.toFixed(1)} | ${said} |`,
  )
}
const fullVault = (turn) => 1 + (((turn + 7) * 7) % full)
const anyVault = (turn) => 1 + (((turn + 7) * 37) % vaults)
const fine = { step: String(Math.ceil((365 * day) / 9_999)) }
say('\n| what | points or rows | bytes | p50 ms | p95 ms | bound of p95 |\n|---|---|---|---|---|---|')
await measure('a year by the default step, base', requests, (turn) => ask(fullVault(turn), '', {}), 30)
await measure('a year by the default step, apy', requests, (turn) => ask(fullVault(turn), '/apy', {}), 30)
await measure('the same of any vault, base', requests, (turn) => ask(anyVault(turn), '', {}), 30)
await measure('10,000 buckets, base', Math.ceil(requests / 2), (turn) => ask(fullVault(turn), '', fine), 200)
await measure('10,000 buckets, apr', Math.ceil(requests / 2), (turn) => ask(fullVault(turn), '/apr', fine), 200)
await measure('its rows by plain SQL', Math.ceil(requests / 2), (turn) => readPlain(fullVault(turn)))
for (const name of ['10,000 buckets, base', '10,000 buckets, apr']) {
  const ratio = results[name].p95 / results['its rows by plain SQL'].p95
  say(`${name} / its rows by plain SQL, by p95: ${ratio.toFixed(2)}, bound 1.5: ${verdict(ratio <= 1.5)}`)
}
say(
  `load average at the end: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
)
await service.publicApp.close()
await service.opsApp.close()
await shutdown.stop()
await bench.close()
