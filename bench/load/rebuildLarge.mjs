// A rebuild of a large chain in a process of its own: node bench/load/rebuildLarge.mjs [events] [holders] [small]
// It is killed half-way and goes on; meanwhile ledger lists, balances and holders are read, as when it is quiet. Prints
// the memory of the rebuilding process, the rates of this and of a small chain, and what readers waited.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { computeStateHash } from '../../service/dist/server/stateHash.js'
import { openBenchDatabase } from '../micro/database.mjs'
import { fillRawStore } from '../micro/rawStore.mjs'

const [events = 2_000_000, holders = 100_000, small = 200_000] = process.argv.slice(2).map(Number)
const chainId = 31_337
const child = fileURLToPath(new URL('rebuildProcess.mjs', import.meta.url))

/** Rebuilds in a process of its own; `killAt` is the share after which it is killed. */
function rebuild(target, killAt = 2) {
  return new Promise((resolve, reject) => {
    const process_ = spawn(process.execPath, [child, JSON.stringify({ target, chainId })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const result = { peak: 0, seconds: 0, events: 0, resumedAt: null }
    const watch = setInterval(() => {
      try {
        const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${process_.pid}/status`, 'utf8'))
        result.peak = Math.max(result.peak, Number(kilobytes) / 1024)
      } catch {
        // It has ended between the tick and the look.
      }
    }, 50)
    let text = ''
    process_.stdout.on('data', (chunk) => {
      text += chunk
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const told = JSON.parse(text.slice(0, end))
        text = text.slice(end + 1)
        if (told.share > killAt) process_.kill('SIGKILL')
        if (told.done) Object.assign(result, told.done)
      }
    })
    process_.on('exit', (code, signal) => {
      clearInterval(watch)
      if (code !== 0 && signal !== 'SIGKILL') reject(new Error(`the rebuild ended with ${code}`))
      else resolve(result)
    })
  })
}

/** Reads as users do until told to stop; answers how long each read took. */
async function readOn(db, isOver) {
  const times = []
  for (let turn = 0; !isOver(); turn++) {
    const from = performance.now()
    if (turn % 3 === 0)
      await db`select * from interactions where chain_id = ${chainId} order by amount desc, id limit 50`
    else if (turn % 3 === 1)
      await db`select * from balances where vault_id = 1 order by wallet offset ${turn % 1000} limit 50`
    else
      await db`select * from balance_changes where vault_id = 1 and wallet = (select wallet from balances limit 1)
      order by block_number desc limit 20`
    times.push(performance.now() - from)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return times.sort((a, b) => a - b)
}
const p95 = (times) => times[Math.floor(times.length * 0.95)].toFixed(1)

async function open(count, of) {
  const bench = await openBenchDatabase()
  const { made, block } = await fillRawStore(bench.db, { chainId, events: count, holders: of, finalShare: 0.999 })
  console.log(`${made} events of ${of} wallets in ${block} blocks are in the raw store`)
  // What is derived once it is confirmed has come as far as the chain, as a watcher leaves it.
  for (const name of ['flows', 'metrics'])
    await bench.db`insert into projections values (${chainId}, ${name}, '[]', ${block}) on conflict do nothing`
  await bench.db`vacuum analyze`
  return bench
}

const lesser = await open(small, Math.min(holders, Math.ceil(small / 20)))
const rates = []
for (let run = 1; run <= 3; run++) {
  const { seconds, events: count } = await rebuild(lesser.target)
  rates.push(count / seconds)
  console.log(`${count} events, run ${run}: ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second`)
}
await lesser.close()

const bench = await open(events, holders)
const { db } = bench
const first = await rebuild(bench.target)
console.log(
  `the first, into empty tables: ${first.seconds.toFixed(1)} s, ${Math.round(first.events / first.seconds)} a second, at most ${first.peak.toFixed(0)} MB`,
)
await db`vacuum analyze`
const hash = await computeStateHash(db, chainId)
let isOver = false
let reading = readOn(db, () => isOver)
await new Promise((resolve) => setTimeout(resolve, 10_000))
isOver = true
const quiet = await reading
isOver = false
reading = readOn(db, () => isOver)
const killed = await rebuild(bench.target, 0.5)
const rest = await rebuild(bench.target)
const whole = await rebuild(bench.target)
isOver = true
const busy = await reading
const rate = whole.events / whole.seconds
console.log(
  `killed half-way at ${killed.peak.toFixed(0)} MB, went on behind block ${rest.resumedAt}: ${rest.seconds.toFixed(1)} s more`,
)
console.log(
  `at once: ${whole.events} events in ${whole.seconds.toFixed(1)} s, ${Math.round(rate)} a second, at most ${whole.peak.toFixed(0)} MB`,
)
const median = rates.sort((a, b) => a - b)[1]
console.log(`rate / that of ${small} events: ${(rate / median).toFixed(2)}`)
console.log(
  `reads, p95: quiet ${p95(quiet)} ms of ${quiet.length}, meanwhile ${p95(busy)} ms of ${busy.length}; worst ${busy.at(-1).toFixed(1)} ms`,
)
console.log(`state: ${(await computeStateHash(db, chainId)) === hash ? 'the same' : 'ANOTHER'}`)
await bench.close()
