// What others feel while a service is attacked: slow clients, oversized heads, aborted bodies and 1,000 wrong keys a second.
// node bench/load/underFire.mjs [seconds of fire, default 600]. Prints p95 of a quiet part and of the part under fire, of the
// same run, how far the watcher was behind in each, and resident memory after the first minute and at the end.

import { execFile } from 'node:child_process'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
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
const ask = (headers, options = {}) =>
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

/** How long the watcher takes from a mined block to its row, by the status anybody may read. */
async function lag(times) {
  while (!isOver()) {
    const { head, indexed } = await devnet.place()
    times.push(Math.max(0, head - indexed))
    await devnet.mine()
    await sleep(500)
  }
}

const fire = {
  slow: async () => {
    const open = new Set()
    for (let n = 0; !isOver(); n++) {
      while (open.size < 400) {
        const socket = net.connect(port, host)
        const drip = setInterval(() => socket.writable && socket.write('x'), 1_000)
        socket.write(
          n++ % 2 === 0
            ? 'GET /v2/chains/ HTTP/1.1\r\nHost: a\r\nX-'
            : `POST /v2/membership/agreement HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
        )
        socket.on('error', () => undefined)
        socket.resume()
        socket.on('close', () => {
          clearInterval(drip)
          open.delete(socket)
        })
        open.add(socket)
      }
      await sleep(250)
    }
    for (const socket of open) socket.destroy()
  },
  heads: async () => {
    const own = new http.Agent({ keepAlive: true, maxSockets: 4 })
    for (; !isOver(); await sleep(20)) await ask({ 'X-API-Key': key, 'X-Large': 'x'.repeat(100_000) }, { agent: own })
  },
  aborted: async () => {
    for (; !isOver(); await sleep(20)) {
      const socket = net.connect(port, host, () => {
        socket.write(
          `POST /v2/membership/agreement HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{"a":`,
        )
        setTimeout(() => socket.destroy(), 5)
      })
      socket.on('error', () => undefined)
    }
  },
  wrongKeys: async () => {
    const own = new http.Agent({ keepAlive: true, maxSockets: 16 })
    let wrong = 0
    for (let due = performance.now(); !isOver(); due += 10) {
      await sleep(Math.max(0, due - performance.now()))
      // Ten every ten milliseconds: a thousand a second.
      for (let n = 0; n < 10; n++) ask({ 'X-API-Key': `pk_live_${'0'.repeat(30)}${wrong++}` }, { agent: own })
    }
  },
}

const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(values.length * q)] ?? 0
const resident = async () => Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) / 1024

async function part(name, length, works) {
  const [times, behind, statuses] = [[], [], new Map()]
  until.at = performance.now() + length * 1_000
  await Promise.all([others(times, statuses), lag(behind), ...works.map((work) => work())])
  const p95 = quantile(times, 0.95)
  const lagP95 = quantile(behind, 0.95)
  console.log(
    `${name}: others p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, statuses ${JSON.stringify(Object.fromEntries(statuses))}; ` +
      `watcher behind p95 ${lagP95} blocks; resident ${(await resident()).toFixed(0)} MiB`,
  )
  return { p95, lagP95 }
}

try {
  await part('warming up', 10, [])
  const quiet = await part('quiet', quietSeconds, [])
  const works = Object.values(fire)
  await part('first minute of fire', quietSeconds, works)
  const first = await resident()
  const fired = await part('under fire', seconds, works)
  const last = await resident()
  console.log(
    `p95 ${(fired.p95 / quiet.p95).toFixed(2)} times quiet, watcher ${fired.lagP95} blocks against ${quiet.lagP95}, ` +
      `resident ${(last / first).toFixed(2)} times that after the first ${quietSeconds} s`,
  )
} finally {
  await devnet.stop()
}
