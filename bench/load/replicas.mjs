// What replicas take off the primary: processor time a request of the primary, of the replica and of the service, without
// DATABASE_READ_URLS and with it. Usage: node bench/load/replicas.mjs [requests = 400] [rounds = 3]   (needs `npm run build`)
// Both servers run on this machine, so it is the time of each that counts, not how many requests there are in a second.
import { cpus, loadavg, totalmem } from 'node:os'
import { createKey } from '../../service/dist/features/auth/index.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { parseConfig } from '../../service/dist/kernel/config.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'
import { openService } from '../../service/dist/server/service.js'
import { createShutdown } from '../../service/dist/server/shutdown.js'
import { organizationId, serverCpuSeconds } from '../micro/database.mjs'
import { openPair } from './standby.mjs'

const requests = Number(process.argv[2] ?? 400)
const rounds = Number(process.argv[3] ?? 3)
const vaults = 20
const snapshots = 35_040
const chainId = 1
const say = (line) => process.stdout.write(`${line}\n`)
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const addressOf = (n) => `0x${n.toString(16).padStart(40, '0')}`
const nowSeconds = Math.floor(Date.now() / 1000 / 900) * 900

const pair = await openPair()
const { primary, standby } = pair
await primary.db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
await primary.db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
await primary.db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${addressOf(0)}, 6, 'USD', 'D')`
await primary.db`
  insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from)
  select ${chainId}, '0x' || lpad(to_hex(n), 40, '0'), 'erc4626', ${addressOf(0)}, 6, '0x' || lpad(to_hex(n), 40, '0'), 18,
    'epoch' from generate_series(1, ${vaults}::int) n`
await primary.db`
  insert into vault_snapshots (vault_id, block_number, block_hash, block_timestamp, total_assets, total_supply,
    price_numerator, price_exponent, price_usd)
  select v.n, 20000000 + g.n * 75, decode(md5(g.n::text) || md5('b' || g.n), 'hex'),
    to_timestamp(${nowSeconds}::bigint - ${snapshots}::bigint * 900 + (g.n + 1) * 900), 10000000000000 + g.n,
    (10000000000000 + g.n)::numeric * 1000000000003, 1000000000000000000 + g.n::bigint * 1234567890123, 30, 0.9997
  from generate_series(0, ${snapshots - 1}::int) g (n) cross join generate_series(1, ${vaults}::int) v (n)`
await primary.db`vacuum (analyze) vault_snapshots`

/** The service with these replicas, as one process has it. */
async function open(databaseReadUrls) {
  const shutdown = createShutdown(silentLog)
  const db = openDatabase(primary.target, { max: 10 })
  const clock = { ...systemClock, now: () => new Date((nowSeconds + 60) * 1000) }
  const config = { ...parseConfig({}, '/nonexistent'), databaseReadUrls, eventLoopDelayMaxMs: 0 }
  const base = { db, clock, log: silentLog, config }
  const service = await openService(base, { chains: [], shutdown })
  const { text } = await createKey(base, { organizationId, kind: 'publishable', hourlyUnits: 1_000_000_000 })
  const ask = async (turn) => {
    const path = `/v2/opportunities/${chainId}/${addressOf(1 + (turn % vaults))}/historical/apy`
    const url = `${path}?startDate=${new Date((nowSeconds - 365 * 86_400) * 1000).toISOString()}`
    const answer = await service.publicApp.inject({ method: 'GET', url, headers: { 'x-api-key': text } })
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  }
  const close = async () => {
    await service.publicApp.close()
    await service.opsApp.close()
    await shutdown.stop()
    await db.end()
  }
  const shareOfReplica = async () => {
    const text = await service.metrics.registry.metrics()
    const counts = [...text.matchAll(/^openearn_reads_total\{server="([^"]+)"\} (\d+)$/gm)]
    const sum = counts.reduce((all, [, , count]) => all + Number(count), 0)
    return sum === 0 ? 0 : 1 - Number(counts.find(([, server]) => server === 'primary')[2]) / sum
  }
  return { ask, close, shareOfReplica }
}

const caughtUp = async () => {
  const [{ at }] = await primary.db`select pg_current_wal_flush_lsn()::text as at`
  for (;;) {
    const [{ is }] = await standby.db`select pg_last_wal_replay_lsn() >= ${at}::pg_lsn as is`
    if (is) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
await caughtUp()
const ways = [
  { name: 'without', service: await open([]), runs: [] },
  { name: 'with a replica', service: await open([standby.url]), runs: [] },
]
for (const { service } of ways) for (let turn = 0; turn < 50; turn++) await service.ask(turn)
for (let round = 0; round < rounds; round++)
  for (const { service, runs } of ways) {
    const before = [await serverCpuSeconds(primary.db), await serverCpuSeconds(standby.db), process.cpuUsage()]
    for (let turn = 0; turn < requests; turn += 8)
      await Promise.all(Array.from({ length: 8 }, (_, index) => service.ask(turn + index)))
    const own = process.cpuUsage(before[2])
    runs.push({
      primary: (((await serverCpuSeconds(primary.db)) - before[0]) * 1000) / requests,
      standby: (((await serverCpuSeconds(standby.db)) - before[1]) * 1000) / requests,
      own: (own.user + own.system) / 1000 / requests,
    })
  }
const [cpu] = cpus()
say(`machine: ${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`)
say(
  `load average at the end: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
)
say(
  `a year of APY of one of ${vaults} vaults with ${snapshots} snapshots each; ${requests} requests, 8 at once, median of ${rounds} interleaved runs\n`,
)
say('| replicas | primary ms | replica ms | service ms | served by the replica |\n|---|---|---|---|---|')
for (const { name, service, runs } of ways) {
  const of = (member) => median(runs.map((each) => each[member])).toFixed(2)
  const share = Math.round((await service.shareOfReplica()) * 100)
  say(`| ${name} | ${of('primary')} | ${of('standby')} | ${of('own')} | ${share} % |`)
}
for (const { service } of ways) await service.close()
await pair.close()
