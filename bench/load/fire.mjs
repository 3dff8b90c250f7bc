// What a service is attacked with in bench/load/underFire.mjs, in a thread of its own, so that who measures is not who is busy:
// 400 slow clients, oversized heads, aborted bodies and 1,000 wrong keys a second, until told to end.

import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const { baseUrl, key } = workerData
const { hostname: host, port } = new URL(baseUrl)
let over = false
const isOver = () => over
/** What was sent and how it was answered, by kind. */
const told = {}
const count = (kind, status) => {
  const own = told[kind] ?? {}
  told[kind] = { ...own, [status]: (own[status] ?? 0) + 1 }
}

const ask = (kind, headers, agent) =>
  new Promise((resolve) => {
    const done = (status) => resolve(count(kind, status))
    const sent = http.request({ agent, host, port, path: '/v2/opportunities/?limit=10', headers }, (answer) => {
      answer.resume()
      answer.on('end', () => done(answer.statusCode))
      answer.on('error', () => done('cut'))
    })
    sent.on('error', () => done('cut'))
    sent.end()
  })

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
          count('slow clients', 'closed')
          clearInterval(drip)
          open.delete(socket)
        })
        open.add(socket)
        count('slow clients', 'opened')
      }
      await sleep(250)
    }
    for (const socket of open) socket.destroy()
  },
  heads: async () => {
    const own = new http.Agent({ keepAlive: true, maxSockets: 4 })
    for (; !isOver(); await sleep(20))
      await ask('oversized heads', { 'X-API-Key': key, 'X-Large': 'x'.repeat(100_000) }, own)
  },
  aborted: async () => {
    for (; !isOver(); await sleep(20)) {
      const socket = net.connect(port, host, () => {
        count('aborted bodies', 'sent')
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
      for (let n = 0; n < 10; n++) ask('wrong keys', { 'X-API-Key': `pk_live_${'0'.repeat(30)}${wrong++}` }, own)
    }
  },
}

parentPort.on('message', () => {
  over = true
})
await Promise.all(Object.values(fire).map((work) => work()))
parentPort.postMessage(told)
parentPort.close()
