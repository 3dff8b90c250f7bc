// What following requests costs: node bench/load/requestTraces.mjs [program without it] [rounds].
// Processor time of a catalogue page, turn about: with TRACES_PERCENT=1 and a collector, with no TRACES_URL, and in a build of
// another checkout (its service/dist/cli/main.js) that knows no traces. From the cache of responses, and on the way of every other
// request (`Origin`). Exit code 1 where 1 % costs more than 5 % over off, or off more than 1 % over a program without the code.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { startService } from './service.mjs'
import { drive, requireWrk } from './wrk.mjs'

await requireWrk()
const [main, rounds = '20'] = process.argv.slice(2)
const seconds = 1
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** Processor time of all its threads, to the nanosecond. */
const cpuMs = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )

async function measure({ pid, baseUrl, key }, more) {
  const before = cpuMs(pid)
  const headers = { 'X-API-Key': key, ...more }
  const run = await drive({ baseUrl, paths: ['/v2/opportunities/?limit=50'], headers, seconds })
  return ((cpuMs(pid) - before) * 1000) / (run.perSecond * seconds)
}

let spans = 0
const collector = createServer(async (request, response) => {
  let text = ''
  for await (const part of request) text += part
  spans += JSON.parse(text).resourceSpans[0].scopeSpans[0].spans.length
  response.end('{}')
})
await new Promise((resolve) => collector.listen(0, '127.0.0.1', resolve))
const settings = { TRACES_URL: `http://127.0.0.1:${collector.address().port}/v1/traces`, TRACES_PERCENT: '1' }

const services = {
  ...(main === undefined ? {} : { without: await startService(200, { main }) }),
  off: await startService(200),
  on: await startService(200, { settings }),
}
const ways = { 'from the cache': {}, 'on the way of others': { Origin: 'https://app.example' } }
try {
  for (const [way, headers] of Object.entries(ways)) {
    const times = Object.fromEntries(Object.keys(services).map((name) => [name, []]))
    // What is compiled and allocated on the way is not measured.
    for (let round = -2; round < Number(rounds); round++)
      for (const [name, service] of round % 2 === 0
        ? Object.entries(services)
        : Object.entries(services).toReversed()) {
        const time = await measure(service, headers)
        if (round >= 0) times[name].push(time)
      }
    // Of each round by itself: the machine is as busy for one as for the others.
    const ratio = (of, over) => median(times[of].map((time, round) => time / times[over][round]))
    const [on, off] = [ratio('on', 'off'), main === undefined ? 1 : ratio('off', 'without')]
    const shown = Object.entries(times).map(([name, all]) => `${name} ${median(all).toFixed(1)} µs`)
    console.log(
      `catalogue page ${way}: ${shown.join(', ')}; 1 % over off ${on.toFixed(3)} (≤ 1.05)` +
        (main === undefined ? '' : `, off over without ${off.toFixed(3)} (≤ 1.01)`),
    )
    if (on > 1.05 || off > 1.01) process.exitCode = 1
  }
  console.log(`the collector was told ${spans} spans`)
} finally {
  for (const service of Object.values(services)) await service.stop()
  collector.close()
}
