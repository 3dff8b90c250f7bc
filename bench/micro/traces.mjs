// Backfill rate where some transactions need a trace: node bench/micro/traces.mjs [events] [--share 20] [--per-block N] [--runs N]
// [--small] [--no-latency]. `--small` is 2,000 events and one run.
// Each deposit is two events of the vault; a share of them goes through a contract, and only a call tree tells how. First the
// same logs, headers, transactions and traces are fetched and dropped, then fetched, checked, derived and written. Says how
// many bytes are kept of a traced event, and, by `latency.mjs` over WebSocket, how long a mined deposit takes to the ledger.
// Ends with each figure beside its bound, and with an error where one is not met.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { createNode } from '../../service/dist/rpc/node.js'
import { listProjections } from '../../service/dist/server/projections.js'
import { openTracing } from '../../service/dist/server/tracing.js'
import { openStore } from '../../service/dist/sync/chainStore.js'
import { openEngine } from '../../service/dist/sync/engine.js'
import { fetchRange } from '../../service/dist/sync/fetch.js'
import { takeTurn } from '../../service/dist/sync/run.js'
import { createMemory } from '../../service/dist/sync/state.js'
import { chainId, startChain } from './chain.mjs'
import { fillCatalogue, openBenchDatabase } from './database.mjs'

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string' },
    small: { type: 'boolean', default: false },
    'no-latency': { type: 'boolean', default: false },
    share: { type: 'string', default: '20' },
    // To trace a transaction anvil runs all before it in its block again: large blocks would measure that alone.
    'per-block': { type: 'string', default: '25' },
  },
  allowPositionals: true,
})
const deposits = Math.ceil(Number(positionals[0] ?? (values.small ? 2_000 : 50_000)) / 2)
const runs = Number(values.runs ?? (values.small ? 1 : 2))
const bounds = { share: 0.6, latencyP95: 50 }
const figures = { share: 0, bytes: 0 }
const [perBlock, every] = [Number(values['per-block']), Math.round(100 / Number(values.share))]
const node = await startChain()
const post = async (method, params) => {
  const body = JSON.stringify(Array.isArray(method) ? method : { jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return answer.json()
}

/** A contract that calls the address its input begins with, with the rest of its input. */
const copyRest = '60143603' + '60145f37'
const callFirst = '5f5f' + '60143603' + '5f5f' + '5f3560601c' + '5af1'
const runtime = `${copyRest}${callFirst}15${'60'}${((copyRest + callFirst).length / 2 + 5).toString(16).padStart(2, '0')}57005b5f5ffd`
const size = (runtime.length / 2).toString(16).padStart(2, '0')
const bytecode = `0x60${size}80600a5f395ff300${runtime}`
const deployed = await node.client.deployContract({ account: node.client.account, abi: [], bytecode })
const router = (await node.client.waitForTransactionReceipt({ hash: deployed })).contractAddress
const through = (target, data) => `${target}${data.slice(2)}`
const word = (value) => BigInt(value).toString(16).padStart(64, '0')
const approve = `0x095ea7b3${word(node.vault)}${word(2n ** 255n)}`
const mint = `0x40c10f19${word(router)}${word(10n ** 30n)}`
for (const [to, data] of [
  [node.token, mint],
  [router, through(node.token, approve)],
]) {
  const hash = await node.client.sendTransaction({ account: node.client.account, to, data, gas: 500_000n })
  const { status } = await node.client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error('the router could not be made ready')
}

await post('evm_setAutomine', [false])
let nonce = await node.client.getTransactionCount({ address: node.user.address })
for (let made = 0; made < deposits; made += perBlock) {
  const calls = Array.from({ length: Math.min(perBlock, deposits - made) }, (_, id) => {
    const data = node.depositData(BigInt(1_000 + made + id))
    const isRouted = (made + id) % every === 0
    const call = isRouted ? { to: router, data: through(node.vault, data) } : { to: node.vault, data }
    const transaction = { from: node.user.address, ...call, gas: '0x493e0', nonce: `0x${(nonce++).toString(16)}` }
    return { jsonrpc: '2.0', id, method: 'eth_sendTransaction', params: [transaction] }
  })
  await post(calls)
  await post('evm_mine', [])
}
await node.client.mine({ blocks: 100 })
const head = Number(await node.client.getBlockNumber())
const deep = head - 64
console.log(`${deposits} deposits (${deposits * 2} events) in ${head} blocks, 1 of ${every} through a contract`)

const bench = await openBenchDatabase()
const { db } = bench
await fillCatalogue(db, { chainId, vault: node.vault, token: node.token, distributorId: 'Y2Zi7KWy' })
const chain = node.chain()
const reader = createNode(chain.rpc)
const callTracer = { tracer: 'callTracer', tracerConfig: { withLog: true } }

/** Asks for the traces our backfill asks for, in the same calls, and drops them. */
async function dropTraces(blocks, list) {
  const requests = blocks.flatMap(({ hash, transactions, logs }) => {
    const wanted = transactions.filter((each) =>
      list.needsTrace(
        each,
        logs.filter(({ transactionHash }) => transactionHash === each.hash),
      ),
    )
    if (wanted.length >= 8) return [{ method: 'debug_traceBlockByHash', params: [hash, callTracer] }]
    return wanted.map((each) => ({ method: 'debug_traceTransaction', params: [each.hash, callTracer] }))
  })
  let next = 0
  const work = async () => {
    for (let request = requests[next++]; request; request = requests[next++]) await chain.traceRpcs[0].request(request)
  }
  await Promise.all(Array.from({ length: 4 }, work))
}

const tables = ['blocks', 'logs', 'transactions', 'call_paths', 'awaited_traces', 'sources', 'projections', 'balances']
const derived = [
  ...['balance_changes', 'lots', 'lot_changes', 'transaction_attributions', 'interactions', 'interaction_counts'],
  ...['attributed_steps', 'lp_edges', 'lp_steps', 'flows'],
]

for (let run = 1; run <= runs; run++) {
  await db`delete from chain_cursors`
  for (const table of [...tables, ...derived]) await db.unsafe(`truncate ${table} cascade`)
  const tracing = openTracing({ clock: systemClock, log: silentLog }, chain)
  await tracing.tracer.open()
  const ctx = { db, clock: systemClock, log: silentLog }
  const store = openStore(ctx, { chainId, projections: listProjections(), tracing })
  const { list } = (await store.begin(await reader.findHeader('latest'))).held.taken
  const started = performance.now()
  let fetched = 0
  // Windows of about as many events as ours aim at, the next one always on its way, as ours.
  const window = Math.ceil(5_000 / perBlock)
  const read = async (from) => {
    const range = await fetchRange(reader, { from, to: Math.min(deep, from + window - 1) }, list)
    await dropTraces(range.blocks, list)
    return range
  }
  for (let from = 0, ahead = read(0); from <= deep; from += window) {
    const { blocks } = await ahead
    if (from + window <= deep) ahead = read(from + window)
    fetched += blocks.reduce((sum, block) => sum + block.logs.length, 0)
  }
  const bare = (performance.now() - started) / 1000

  const traced = createNode(chain.rpc, tracing.tracer)
  const engine = openEngine({ ...ctx, chain, node: traced, store, tracing, random: () => 1 })
  const memory = createMemory(systemClock)
  const begun = performance.now()
  const server = await bench.serverCpuSeconds()
  const cpu = process.cpuUsage()
  while ((await takeTurn(engine, memory)) === 'progress');
  const whole = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const [kept] = await db`
    select (select count(*)::int from logs) as events, count(*)::int as paths, sum(pg_column_size(p.*))::int as bytes,
      sum(length(calls))::int as packed, (select count(*)::int from awaited_traces) as awaited
    from call_paths p`
  const [bareRate, rate] = [fetched / bare, kept.events / whole]
  // The first run warms up: the best of them counts.
  figures.share = Math.max(figures.share, rate / bareRate)
  figures.bytes = kept.bytes / kept.paths / 2
  console.log(
    `run ${run}: fetched and dropped ${fetched} at ${Math.round(bareRate)} a second; backfilled ${kept.events} at ${Math.round(rate)} a second: ${(rate / bareRate).toFixed(2)} of it`,
  )
  console.log(
    `  ${kept.paths} transactions traced, ${kept.awaited} awaited; kept of each traced event (2 a transaction): ${(kept.bytes / kept.paths / 2).toFixed(0)} bytes, of these packed calls ${(kept.packed / kept.paths / 2).toFixed(0)}`,
  )
  console.log(
    `  processor of the backfill: node ${((user + system) / 1e6).toFixed(1)} s, database ${((await bench.serverCpuSeconds()) - server).toFixed(1)} s`,
  )
}
await bench.close()
node.stop()

const lines = [
  ['backfill, of fetching and dropping', figures.share.toFixed(2), `≥ ${bounds.share}`, figures.share >= bounds.share],
  ['bytes kept of a traced event', figures.bytes.toFixed(0), 'stated', figures.bytes > 0],
]
if (!values['no-latency']) {
  const latency = fileURLToPath(new URL('./latency.mjs', import.meta.url))
  const said = execFileSync(process.execPath, [latency, values.small ? '30' : '200', 'websocket'], { encoding: 'utf8' })
  process.stdout.write(said)
  const p95 = Number(/p95 (\d+)/.exec(said)?.[1] ?? Number.NaN)
  lines.push(['WebSocket, mined to ledger, p95', `${p95} ms`, `≤ ${bounds.latencyP95} ms`, p95 <= bounds.latencyP95])
}
for (const [name, figure, bound, isMet] of lines)
  console.log(`${isMet ? 'met    ' : 'NOT MET'} ${name}: ${figure} (${bound})`)
// A small run warms nothing up: its figures are shown, and only a large one fails by them.
if (!values.small && lines.some(([, , , isMet]) => !isMet)) process.exitCode = 1
