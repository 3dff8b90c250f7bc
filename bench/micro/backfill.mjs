// Backfill rate on anvil: node bench/micro/backfill.mjs [deposits] [--per-block N] [--attributed PERCENT] [--ponder] [--runs N]. Each deposit is
// two events of the vault. First the same logs, headers and transactions are fetched and dropped, then fetched, derived and written;
// with --ponder, Ponder then backfills the same chain into the same database server.

import { parseArgs } from 'node:util'
import { buildSuffix, signerAddress } from '../../packages/attribution/dist/index.js'
import { recordSigner } from '../../service/dist/features/catalogue/storeSigners.js'
import { moveAll, tell } from '../../service/dist/features/events/index.js'
import { tellEntries } from '../../service/dist/features/ledger/index.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'
import { createNode } from '../../service/dist/rpc/node.js'
import { listProjections } from '../../service/dist/server/projections.js'
import { openStore } from '../../service/dist/sync/chainStore.js'
import { openEngine } from '../../service/dist/sync/engine.js'
import { fetchRange } from '../../service/dist/sync/fetch.js'
import { takeTurn } from '../../service/dist/sync/run.js'
import { createMemory } from '../../service/dist/sync/state.js'
import { installPonder, runPonder } from '../peers/ponder/run.mjs'
import { chainId, startChain } from './chain.mjs'
import { fillCatalogue, openBenchDatabase } from './database.mjs'

const { values, positionals } = parseArgs({
  options: {
    ponder: { type: 'boolean', default: false },
    runs: { type: 'string', default: '2' },
    'per-block': { type: 'string', default: '250' },
    attributed: { type: 'string', default: '10' },
  },
  allowPositionals: true,
})
const [deposits, runs, withPonder] = [Number(positionals[0] ?? 50_000), Number(values.runs), values.ponder]
if (withPonder) await installPonder()
const perBlock = Number(values['per-block'])
const attributed = Number(values.attributed)
const distributorId = 'Y2Zi7KWy'
const key = `0x${'07'.repeat(32)}`
const node = await startChain()
const post = async (method, params) => {
  const body = JSON.stringify(Array.isArray(method) ? method : { jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return answer.json()
}
await post('evm_setAutomine', [false])
let nonce = await node.client.getTransactionCount({ address: node.user.address })
for (let made = 0; made < deposits; made += perBlock) {
  const calls = Array.from({ length: Math.min(perBlock, deposits - made) }, (_, id) => {
    const data = node.depositData(BigInt(1_000 + made + id))
    const actionId = `0x${(made + id).toString(16).padStart(32, '0')}`
    const signed = { code: distributorId, actionId, chainId, wallet: node.user.address, target: node.vault, data }
    // Spread evenly.
    const suffix =
      ((made + id) * attributed) % 100 < attributed ? buildSuffix({ ...signed, privateKey: key }).slice(2) : ''
    const transaction = {
      from: node.user.address,
      to: node.vault,
      data: data + suffix,
      gas: '0x30d40',
      nonce: `0x${(nonce++).toString(16)}`,
    }
    return { jsonrpc: '2.0', id, method: 'eth_sendTransaction', params: [transaction] }
  })
  await post(calls)
  await post('evm_mine', [])
}
await node.client.mine({ blocks: 100 })
const head = Number(await node.client.getBlockNumber())
const deep = head - 64
console.log(`${deposits} deposits (${deposits * 2} events) in ${head} blocks`)

const bench = await openBenchDatabase()
const { db } = bench
await fillCatalogue(db, { chainId, vault: node.vault, token: node.token, distributorId })
await recordSigner(db, signerAddress(Buffer.from(key.slice(2), 'hex')), new Date(0))
const chain = node.chain()
const reader = createNode(chain.rpc)

for (let run = 1; run <= runs; run++) {
  await db`delete from chain_cursors`
  for (const table of [
    'blocks',
    'logs',
    'transactions',
    'sources',
    'projections',
    'balances',
    'balance_changes',
    'lots',
    'lot_changes',
    'transaction_attributions',
    ...['interaction_counts', 'attributed_steps', 'lp_edges', 'lp_steps', 'flows'],
    ...['outbox', 'feed', 'ledger_told', 'ledger_changes'],
  ])
    await db.unsafe(`truncate ${table}`)
  const ctx = { db, clock: systemClock, log: silentLog }
  // As the service does: each entry is told as well.
  const store = openStore(ctx, { chainId, projections: listProjections(), reactions: [tellEntries(tell, systemClock)] })
  const { list } = (await store.begin(await reader.findHeader('latest'))).held.taken
  const started = performance.now()
  let fetched = 0
  // Windows of about as many events as ours aim at, the next one always on its way, as ours.
  const window = Math.ceil(5_000 / perBlock)
  const read = (from) => fetchRange(reader, { from, to: Math.min(deep, from + window - 1) }, list)
  for (let from = 0, ahead = read(0); from <= deep; from += window) {
    const { blocks } = await ahead
    if (from + window <= deep) ahead = read(from + window)
    fetched += blocks.reduce((sum, block) => sum + block.logs.length, 0)
  }
  const bare = (performance.now() - started) / 1000

  const engine = openEngine({ ...ctx, chain, node: reader, store, random: () => 1 })
  const memory = createMemory(systemClock)
  const begun = performance.now()
  const server = await bench.serverCpuSeconds()
  const cpu = process.cpuUsage()
  while ((await takeTurn(engine, memory)) === 'progress');
  const whole = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const [{ events, entries, told }] = await db`
    select count(*)::int as events, (select count(*) from interactions)::int as entries,
      (select count(*) from outbox)::int as told from logs`
  const [bareRate, rate] = [fetched / bare, events / whole]
  console.log(
    `run ${run}: fetched and dropped ${fetched} at ${Math.round(bareRate)} a second; backfilled ${events} at ${Math.round(rate)} a second: ${(rate / bareRate).toFixed(2)} of it`,
  )
  console.log(
    `  processor of the backfill: node ${((user + system) / 1e6).toFixed(1)} s, database ${((await bench.serverCpuSeconds()) - server).toFixed(1)} s`,
  )
  await moveAll(db)
  const [{ bytes }] = await db`select pg_total_relation_size('feed')::int as bytes`
  const each = told === 0 ? '' : `, ${Math.round(bytes / told)} bytes each with indexes`
  console.log(`  ${entries} ledger entries, ${told} told${each}`)
  if (!withPonder) continue
  await db.unsafe('drop database if exists ponder with (force)')
  await db.unsafe('create database ponder')
  const { host, username } = bench.target
  const databaseUrl = `postgres://${username}@localhost/ponder?host=${encodeURIComponent(host)}`
  const peer = await runPonder({ rpcUrl: node.url, vault: node.vault, endBlock: deep, databaseUrl })
  const peerDb = openDatabase({ ...bench.target, database: 'ponder' }, { max: 1 })
  const [{ rows }] = await peerDb`
    select (select count(*) from bench.transfer)::int + (select count(*) from bench.deposit)::int as rows`
  await peerDb.end()
  const peerRate = rows / peer.seconds
  console.log(
    `  Ponder 0.16.10, cold: ${rows} events at ${Math.round(peerRate)} a second (${peer.seconds.toFixed(1)} s, fetched after ${peer.fetchSeconds.toFixed(1)} s); ours is ${(rate / peerRate).toFixed(1)} times that`,
  )
}
await bench.close()
node.stop()
