// The catalogue under load: a page of 50 with key and budget beside bare node:http writing the same bytes and beside
// the same page serialised for every request; then filtered pages of a catalogue of 5,000. Exit code 1 where a page takes more
// than 1.4 times the processor time of bare node:http, or the 99th percentile of 5,000 different queries is above 5 ms.
// Usage: node bench/load/catalogue.mjs [seconds per run] [rounds, default 5]     (needs `npm run build` and wrk)
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findEmbeddedPostgres } from '../../packages/embedded-postgres/dist/embedded.js'
import { bumpVersion } from '../../service/dist/features/catalogue/store.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'
import { makeQueries } from './catalogueFile.mjs'
import { startService } from './service.mjs'
import { drive, requireWrk } from './wrk.mjs'

await requireWrk()

const seconds = Number(process.argv[2] ?? 10)
const rounds = Number(process.argv[3] ?? 5)
const bare = fileURLToPath(new URL('./bare.mjs', import.meta.url))
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const say = (line) => process.stdout.write(`${line}\n`)

async function startBare(file, mode = 'same') {
  const child = spawn(process.execPath, [bare, file, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  const baseUrl = await new Promise((resolve) =>
    child.stdout.on('data', (chunk) => resolve(/ready (\S+)/.exec(String(chunk))[1])),
  )
  return { baseUrl, pid: child.pid, stop: () => child.kill('SIGTERM') }
}

/** CPU time a process has used, in milliseconds; undefined where there is no /proc. */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}

/** A run, with the CPU time each request took in the server: what noise from other programs disturbs least. */
async function measure(server, load) {
  const before = cpuMs(server.pid)
  const run = await drive({ baseUrl: server.baseUrl, seconds, ...load })
  const used = before === undefined ? Number.NaN : cpuMs(server.pid) - before
  return { ...run, cpu: (used * 1000) / (run.perSecond * seconds) }
}

const row = (name, runs) => {
  const perSecond = median(runs.map((run) => run.perSecond))
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  const [p50, p99] = [median(runs.map((run) => run.p50)), median(runs.map((run) => run.p99))]
  const cpu = median(runs.map((run) => run.cpu))
  const best = runs.toSorted((a, b) => b.perSecond - a.perSecond)[0]
  const bestText = `${Math.round(best.perSecond)} (${best.p50.toFixed(2)}, ${best.p99.toFixed(2)})`
  say(
    `| ${name} | ${Math.round(perSecond)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${Math.round(cpu)} | ${bestText} | ${failed} |`,
  )
  return { perSecond, cpu, p99, best: best.perSecond }
}

/** Says whether a bound holds; the exit code tells if all did. */
function judge(what, value, most) {
  const holds = value <= most
  say(`\n${what}: ${value.toFixed(2)} (≤ ${most}${holds ? '' : ', not met'})`)
  if (!holds) process.exitCode = 1
}

const head =
  '| what | requests/s | p50 ms | p99 ms | CPU µs a request | best run (p50, p99) | failed |\n|---|---|---|---|---|---|---|'
const [cpu] = cpus()
say(`machine: ${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`)
say(
  `load average at the start: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
)
say(`wrk, 1 thread, 32 connections, ${seconds} s a run, median of ${rounds} interleaved runs\n`)

const folder = await mkdtemp(join(tmpdir(), 'openearn-page-'))
const small = await startService(200)
try {
  const path = '/v2/opportunities/?limit=50'
  const headers = { 'X-API-Key': small.key }
  const page = Buffer.from(await (await fetch(`${small.baseUrl}${path}`, { headers })).arrayBuffer())
  const file = join(folder, 'page.json')
  await writeFile(file, page)
  const same = await startBare(file)
  const anew = await startBare(file, 'serialise')
  const runs = { service: [], brotli: [], same: [], anew: [] }
  for (let round = 0; round < rounds; round++) {
    runs.same.push(await measure(same, { paths: [path] }))
    runs.service.push(await measure(small, { paths: [path], headers }))
    runs.anew.push(await measure(anew, { paths: [path] }))
    const compressed = { ...headers, 'Accept-Encoding': 'br' }
    runs.brotli.push(await measure(small, { paths: [path], headers: compressed }))
  }
  same.stop()
  anew.stop()
  say(`page of 50 opportunities, ${page.length} bytes\n${head}`)
  const bareRate = row('bare node:http, same bytes', runs.same)
  const ours = row('service, key and budget', runs.service)
  row('service, key and budget, brotli', runs.brotli)
  row('bare node:http, serialised per request', runs.anew)
  judge('processor time of the page, of bare', ours.cpu / bareRate.cpu, 1.4)
  const ratio = (ours.perSecond / bareRate.perSecond).toFixed(2)
  say(
    `\nservice / bare: ${ratio} by requests, ${(ours.best / bareRate.best).toFixed(2)} by the best runs, ${(bareRate.cpu / ours.cpu).toFixed(2)} by CPU time\n`,
  )
} finally {
  await small.stop()
  await rm(folder, { recursive: true, force: true })
}

const large = await startService(5_000)
try {
  const headers = { 'X-API-Key': large.key }
  say(`filtered and sorted pages of 20 out of 5,000 opportunities\n${head}`)
  for (const different of [200, 5_000]) {
    const paths = makeQueries(different).map((query) => `/v2/opportunities/?${query}`)
    const runs = []
    for (let round = 0; round < rounds; round++) runs.push(await measure(large, { paths, headers }))
    const { p99 } = row(`${different} different queries`, runs)
    if (different === 5_000) judge('p99 of 5,000 different queries, ms', p99, 5)
  }
  const paths = makeQueries(5_000).map((query) => `/v2/opportunities/?${query}`)
  const db = openDatabase(await findEmbeddedPostgres(join(large.dataDir, 'postgres')), { max: 1 })
  const runs = []
  for (let round = 0; round < rounds; round++) {
    const timer = setInterval(() => bumpVersion(db).catch((error) => say(String(error))), 2_000)
    runs.push(await measure(large, { paths, headers }))
    clearInterval(timer)
  }
  await db.end()
  const { p99 } = row('5000 different queries, the whole catalogue read anew every 2 s', runs)
  judge('p99 of the same while the catalogue is read anew, ms', p99, 5)
} finally {
  await large.stop()
}
