// What others feel while a service is attacked: slow clients, oversized heads, aborted bodies and 1,000 wrong keys a second.
// node bench/load/underFire.mjs [seconds of fire, default 600]. Prints p95 of a quiet part and of the part under fire, of the
// same run, how long the watcher took from a mined block to its row in each, and resident memory after the first minute and
// at the end. Exit code 1 where others' p95 or the watcher's is more than twice that of the quiet part, or memory more than
// 1.2 times what it was.

import { execFile } from 'node:child_process'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { startDevnet } from './devnet.mjs'

const seconds = Number(process.argv[2] ?? 600)
const quietSeconds = Math.min(60, seconds)
const run = promisify(execFile)

const devnet = await startDevnet()
const { baseUrl, key, pid } = devnet
const { hostname: host, port } = new URL(baseUrl)
const until = { at: 0 }
const isOver = () => performance.now() > until.at

const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })
const ask = (headers, options) =>
  new Promise((resolve) => {
    const sent = http.request(
      { agent, host, port, path: '/v2/opportunities/?limit=10', headers, ...options },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode))
        answer.on('error', () => resolve(0))
      },
    )
    sent.on('error', () => resolve(0))
    sent.end()
  })

/** Others: 50 requests a second, each a little different, timed from when they were due. */
async function others(times, statuses) {
  const asked = []
  for (let n = 0, due = performance.now(); !isOver(); n++, due += 20) {
    await sleep(Math.max(0, due - performance.now()))
    const from = due
    const path = `/v2/opportunities/?limit=${(n % 50) + 1}`
    asked.push(
      ask({ 'X-API-Key': key }, { path }).then((status) => {
        times.push(performance.now() - from)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
    )
  }
  await Promise.all(asked)
}

/** How long the watcher takes from a mined block to its row, by the status anybody with a key may read. */
async function lag(times) {
  while (!isOver()) {
    await devnet.mine()
    const mined = performance.now()
    const { head } = await devnet.place()
    while ((await devnet.place()).indexed < head && performance.now() - mined < 60_000) await sleep(10)
    times.push(performance.now() - mined)
    await sleep(500)
  }
}

/** Attacks until told to end; resolves to what it did. */
function openFire() {
  const worker = new Worker(new URL('./fire.mjs', import.meta.url), { workerData: { baseUrl, key } })
  const ended = new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return () => {
    worker.postMessage('end')
    return ended
  }
}

const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(values.length * q)] ?? 0
const resident = async () => Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) / 1024

async function part(name, length) {
  const [times, behind, statuses] = [[], [], new Map()]
  until.at = performance.now() + length * 1_000
  await Promise.all([others(times, statuses), lag(behind)])
  const p95 = quantile(times, 0.95)
  const lagP95 = quantile(behind, 0.95)
  console.log(
    `${name}: others p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, statuses ${JSON.stringify(Object.fromEntries(statuses))}; ` +
      `watcher p50 ${quantile(behind, 0.5).toFixed(0)} ms, p95 ${lagP95.toFixed(0)} ms of ${behind.length} blocks; resident ${(await resident()).toFixed(0)} MiB`,
  )
  return { p95, lagP95 }
}

try {
  await part('warming up', 10)
  const quiet = await part('quiet', quietSeconds)
  const ceaseFire = openFire()
  const minute = Math.min(60, seconds / 2)
  const early = await part('first minute of fire', minute)
  const first = await resident()
  const late = await part('the rest of it', seconds - minute)
  const last = await resident()
  console.log(`fire: ${JSON.stringify(await ceaseFire())}`)
  const worst = (name) => Math.max(early[name], late[name]) / quiet[name]
  const found = { p95: worst('p95'), watcher: worst('lagP95'), resident: last / first }
  const bounds = { p95: 2, watcher: 2, resident: 1.2 }
  console.log(
    `p95 ${found.p95.toFixed(2)} times quiet (≤ 2), watcher ${found.watcher.toFixed(2)} times (≤ 2), ` +
      `resident ${found.resident.toFixed(2)} times that after the first ${minute} s (≤ 1.2)`,
  )
  process.exitCode = Object.keys(bounds).some((name) => !(found[name] <= bounds[name])) ? 1 : 0
} finally {
  await devnet.stop()
}
