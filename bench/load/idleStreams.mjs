// Streams of events that are open and idle: ulimit -n 20000; node bench/load/idleStreams.mjs [streams] [rounds].
// Two services; one has the streams. Memory of a stream, and the processor time of a catalogue page in both, turn about.
// Exit code 1 where a stream takes more than 20 KiB, or a page more than 1.1 times as long.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { startService } from './service.mjs'
import { drive, requireWrk } from './wrk.mjs'

await requireWrk()
const streams = Number(process.argv[2] ?? 10_000)
const rounds = Number(process.argv[3] ?? 7)
const ofKey = 1_000
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

const rssKib = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Opens a stream, and resolves once its answer has begun. */
const open = ({ baseUrl, key, index }) =>
  new Promise((resolve, reject) => {
    const { port } = new URL(baseUrl)
    const wallet = `0x${index.toString(16).padStart(40, '0')}`
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(
        `GET /v2/events/live?subject=wallet:${wallet} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${key}\r\n\r\n`,
      ),
    )
    socket.once('data', (chunk) => {
      const head = String(chunk)
      if (head.startsWith('HTTP/1.1 200')) resolve(socket)
      else reject(new Error(head.slice(0, 300)))
    })
    socket.once('error', reject)
  })

async function measure({ pid, baseUrl, key }) {
  const seconds = 2
  const before = cpuMs(pid)
  const run = await drive({ baseUrl, paths: ['/v2/opportunities/?limit=50'], headers: { 'X-API-Key': key }, seconds })
  return ((cpuMs(pid) - before) * 1000) / (run.perSecond * seconds)
}

const quiet = await startService(200)
const busy = await startService(200)
const sockets = []
try {
  // What is compiled and allocated on the way is not measured.
  for (const service of [quiet, busy, quiet, busy]) await measure(service)
  const before = rssKib(busy.pid)
  for (let index = 0; index < streams; index += ofKey) {
    const key = await busy.makeKey()
    for (let at = index; at < Math.min(index + ofKey, streams); at += 50)
      sockets.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(50, streams - at) }, (_, each) =>
            open({ baseUrl: busy.baseUrl, key, index: at + each }),
          ),
        )),
      )
  }
  await new Promise((resolve) => setTimeout(resolve, 20_000))
  const each = (rssKib(busy.pid) - before) / streams
  const times = { quiet: [], busy: [] }
  for (let round = 0; round < rounds; round++) {
    times.quiet.push(await measure(quiet))
    times.busy.push(await measure(busy))
  }
  const ratio = median(times.busy) / median(times.quiet)
  const open_ = sockets.filter((socket) => !socket.destroyed).length
  console.log(`${open_} streams open: ${each.toFixed(1)} KiB each (≤ 20)`)
  console.log(
    `catalogue page: ${median(times.quiet).toFixed(0)} µs, beside the streams ${median(times.busy).toFixed(0)} µs: ${ratio.toFixed(2)} times (≤ 1.1)`,
  )
  if (each > 20 || ratio > 1.1) process.exitCode = 1
} finally {
  for (const socket of sockets) socket.destroy()
  await busy.stop()
  await quiet.stop()
}
