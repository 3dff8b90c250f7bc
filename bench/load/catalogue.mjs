// The catalogue under load: a page of 50 with key and budget beside bare node:http writing the same bytes and beside
// the same page serialised for every request; then filtered pages of a catalogue of 5,000. Exit code 1 where a page takes more
// than 1.4 times the processor time of bare node:http, or the 99th percentile of 5,000 different queries is above 5 ms:
// while nothing changes, and while every 2 s the catalogue is announced anew, 50 opportunities change, or all of them do.
// Beside each stands how late the service's own event loop was, and the same load on bare node:http.
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
import { askLoopDelay, startService } from './service.mjs'
import { drive, requireWrk } from './wrk.mjs'

await requireWrk()

const seconds = Number(process.argv[2] ?? 10)
const rounds = Number(process.argv[3] ?? 5)
const bare = fileURLToPath(new URL('./bare.mjs', import.meta.url))
const loopDelay = new URL('./loopDelay.mjs', import.meta.url).href
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const say = (line) => process.stdout.write(`${line}\n`)

async function startBare(file, mode = 'same') {
  const child = spawn(process.execPath, ['--import', loopDelay, bare, file, mode], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const baseUrl = await new Promise((resolve) =>
    child.stdout.on('data', (chunk) => resolve(/ready (\S+)/.exec(String(chunk))[1])),
  )
  return { baseUrl, pid: child.pid, loopDelay: () => askLoopDelay(child), stop: () => child.kill('SIGTERM') }
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
  await server.loopDelay()
  const run = await drive({ baseUrl: server.baseUrl, seconds, ...load })
  const used = before === undefined ? Number.NaN : cpuMs(server.pid) - before
  return { ...run, loop: await server.loopDelay(), cpu: (used * 1000) / (run.perSecond * seconds) }
}

const row = (name, runs) => {
  const perSecond = median(runs.map((run) => run.perSecond))
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  const [p50, p99] = [median(runs.map((run) => run.p50)), median(runs.map((run) => run.p99))]
  const cpu = median(runs.map((run) => run.cpu))
  const loop = `${median(runs.map((run) => run.loop.p99)).toFixed(1)} (${Math.max(...runs.map((run) => run.loop.max)).toFixed(0)})`
  const best = runs.toSorted((a, b) => b.perSecond - a.perSecond)[0]
  const bestText = `${Math.round(best.perSecond)} (${best.p50.toFixed(2)}, ${best.p99.toFixed(2)})`
  say(
    `| ${name} | ${Math.round(perSecond)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${Math.round(cpu)} | ${loop} | ${bestText} | ${failed} |`,
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
  '| what | requests/s | p50 ms | p99 ms | CPU µs a request | loop late ms, p99 (most) | best run (p50, p99) | failed |\n|---|---|---|---|---|---|---|---|'
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
  // What is compiled on the way is not measured.
  for (const server of [same, anew, small]) await drive({ baseUrl: server.baseUrl, paths: [path], headers, seconds: 3 })
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

/** What is done every 2 s beside the queries, by name. `time` is how often it was done before. */
const changes = {
  'the catalogue announced anew every 2 s': async () => undefined,
  '50 opportunities changed every 2 s': (db, time) =>
    db`update opportunities set description = ${`Spreads it over markets that are watched, ${time}.`}
      where id in (select id from opportunities order by id offset ${(time * 50) % 4_000} limit 50)`,
  'all opportunities changed every 2 s': (db, time) =>
    db`update opportunities set description = ${`Spreads it over markets that are watched, ${time}.`}`,
}

const large = await startService(5_000)
const db = openDatabase(await findEmbeddedPostgres(join(large.dataDir, 'postgres')), { max: 1 })
let pageServer
let queriesFolder
try {
  const headers = { 'X-API-Key': large.key }
  const pathsOf = (different) => makeQueries(different).map((query) => `/v2/opportunities/?${query}`)
  const paths = pathsOf(5_000)
  queriesFolder = await mkdtemp(join(tmpdir(), 'openearn-page-'))
  const file = join(queriesFolder, 'page.json')
  await writeFile(file, Buffer.from(await (await fetch(`${large.baseUrl}${paths[0]}`, { headers })).arrayBuffer()))
  pageServer = await startBare(file)
  let time = 0
  const during = async (change) => {
    let changing
    const timer = setInterval(() => {
      changing = change(db, time++).then(() => bumpVersion(db))
      changing.catch((error) => say(String(error)))
    }, 2_000)
    const run = await measure(large, { paths, headers })
    clearInterval(timer)
    await changing
    return run
  }
  const kinds = {
    'bare node:http, one of the pages': () => measure(pageServer, { paths }),
    '200 different queries': () => measure(large, { paths: pathsOf(200), headers }),
    '5000 different queries': () => measure(large, { paths, headers }),
    ...Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, () => during(change)])),
  }
  for (const server of [pageServer, large]) await drive({ baseUrl: server.baseUrl, paths, headers, seconds: 4 })
  const runs = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const name in kinds) runs[name].push(await kinds[name]())
  say(`filtered and sorted pages of 20 out of 5,000 opportunities\n${head}`)
  const rows = Object.fromEntries(Object.keys(kinds).map((name) => [name, row(name, runs[name])]))
  judge('p99 of 5,000 different queries, ms', rows['5000 different queries'].p99, 5)
  for (const name in changes) judge(`p99 of the same, ${name}, ms`, rows[name].p99, 5)
} finally {
  pageServer?.stop()
  await db.end()
  await large.stop()
  if (queriesFolder) await rm(queriesFolder, { recursive: true, force: true })
}
