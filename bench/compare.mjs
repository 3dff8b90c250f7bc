// The measurements of this checkout beside those of another one, turn about, so that both meet the same machine:
//   node bench/compare.mjs ../older [rounds] [name …]        (both built; the catalogue needs wrk)
// Prints each round, then the medians and the ratio this / other, turned so that more is better.
import { execFile } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = fileURLToPath(new URL('..', import.meta.url))
const [other, rounds = '5', ...names] = process.argv.slice(2)
if (!other) throw new Error('name the other checkout: node bench/compare.mjs ../older')

/** What is run, which numbers are read off its output, and whether more or less of them is better. */
const measurements = {
  catalogue: {
    command: ['bench/load/catalogue.mjs', '2', '3'],
    figures: [
      ['page of 50, requests/s', /\| service, key and budget \| (\d+)/, 'more'],
      ['page of 50, of bare', /service \/ bare: ([\d.]+)/, 'more'],
      ['200 queries, requests/s', /\| 200 different queries \| (\d+)/, 'more'],
      ['5,000 queries, requests/s', /\| 5000 different queries \| (\d+)/, 'more'],
    ],
  },
  budgets: {
    command: ['bench/load/budgets.mjs', '2', '1'],
    figures: [['coalesced, of none', /\| coalesced \| \d+ \| ([\d.]+)/, 'more']],
  },
  deposits: {
    command: ['bench/load/deposits.mjs', '300'],
    figures: [
      ['deposits built a second', /([\d.]+) a second/, 'more'],
      ['deposit p50 ms', /p50 ([\d.]+)/, 'less'],
    ],
  },
  backfill: {
    command: ['bench/micro/backfill.mjs', '20000', '--runs', '1'],
    figures: [
      ['backfill, events/s', /backfilled \d+ at (\d+) a second/, 'more'],
      ['backfill, of raw', /a second: ([\d.]+) of it/, 'more'],
    ],
  },
  rebuild: {
    command: ['--max-semi-space-size=64', 'bench/micro/rebuild.mjs', '100000'],
    figures: [['rebuild, events/s', /run 3: .*?(\d+) a second/, 'more']],
  },
  latency: {
    command: ['bench/micro/latency.mjs', '100', 'websocket'],
    figures: [
      ['WebSocket p50 ms', /p50 (\d+)/, 'less'],
      ['WebSocket p95 ms', /p95 (\d+)/, 'less'],
    ],
  },
  portfolio: {
    command: ['bench/load/portfolio.mjs', '40'],
    figures: [
      ['portfolio, own time p50 ms', /own time p50 ([\d.]+)/, 'less'],
      ['portfolio, whole p50 ms', /whole answer p50 ([\d.]+)/, 'less'],
    ],
  },
  holders: {
    command: ['bench/micro/holders.mjs'],
    figures: [['a deposit, 1,000,000 holders, ms', /1000000 holders: .*?([\d.]+) ms/, 'less']],
  },
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const chosen = names.length > 0 ? names : Object.keys(measurements)
console.log(`machine: ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, load ${loadavg()[0].toFixed(1)}`)
for (const name of chosen) {
  const { command, figures } = measurements[name]
  const seen = figures.map(() => ({ here: [], other: [] }))
  for (let round = 0; round < Number(rounds); round++)
    // Turn about, and the first of a pair changes: whatever warms up or wears out meets both alike.
    for (const side of round % 2 === 0 ? ['here', 'other'] : ['other', 'here']) {
      const cwd = side === 'here' ? here : resolve(other)
      // Code 1: it ran, and a bound of its own does not hold.
      const { stdout } = await run(process.execPath, command, { cwd, maxBuffer: 1 << 26 }).catch((error) => {
        if (error.code === 1 && error.stdout) return error
        throw error
      })
      for (const [at, [label, pattern]] of figures.entries()) {
        const found = pattern.exec(stdout)?.[1]
        if (found === undefined) throw new Error(`${name} printed no "${label}" in ${side}: ${stdout}`)
        seen[at][side].push(Number(found))
      }
    }
  for (const [at, [label, , better]] of figures.entries()) {
    const [ours, theirs] = [median(seen[at].here), median(seen[at].other)]
    const ratio = better === 'more' ? ours / theirs : theirs / ours
    console.log(`| ${label} | ${ours} | ${theirs} | ${ratio.toFixed(2)} | ${seen[at].here} | ${seen[at].other} |`)
  }
}
