// How late events are: node bench/load/eventsDelay.mjs [deposits] [live events].
// A webhook after the confirmed block, at 1 s polling, and a live stream after the commit; each quiet and beside a transaction
// that stays open and has told an event itself. Exit code 1 where p95 is above 2 s or 250 ms.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buildSuffix, signerAddress } from '../../packages/attribution/dist/index.js'
import { findEmbeddedPostgres } from '../../packages/embedded-postgres/dist/embedded.js'
import { recordSigner } from '../../service/dist/features/catalogue/storeSigners.js'
import { createWebhook, openFeed, startDeliveries, tell } from '../../service/dist/features/events/index.js'
import { tellEntries } from '../../service/dist/features/ledger/index.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { parseConfig } from '../../service/dist/kernel/config.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { inTransaction, openDatabase } from '../../service/dist/postgres/pool.js'
import { openSealing } from '../../service/dist/server/sealing.js'
import { startWatching } from '../../service/dist/server/watch.js'
import { chainId, startChain } from '../micro/chain.mjs'
import { fillCatalogue, openBenchDatabase, organizationId } from '../micro/database.mjs'
import { startService } from './service.mjs'

const deposits = Number(process.argv[2] ?? 60)
const lives = Number(process.argv[3] ?? 500)
const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]

/** Says the delays; the exit code tells whether the bound holds. */
function judge(what, values, most) {
  const [p50, p95, worst] = [percentile(values, 0.5), percentile(values, 0.95), Math.max(...values)]
  const text = [p50, p95, worst].map((ms) => ms.toFixed(0))
  console.log(`${what}: ${values.length} events, p50 ${text[0]} ms, p95 ${text[1]} ms (≤ ${most}), worst ${text[2]} ms`)
  if (p95 > most) process.exitCode = 1
}

const fact = (id, name) => ({
  ...{ type: 'interaction.confirmed', at: new Date(), chainId, data: { name } },
  subject: { kind: 'wallet', id },
})

/** Runs some work beside a transaction that has told an event and does not commit. */
async function besideOpen(db, work) {
  let release
  const held = new Promise((resolve) => {
    release = resolve
  })
  const open = inTransaction(db, async (tx) => {
    await tell(tx, [fact(`0x${'0'.repeat(38)}FF`, 'open')])
    await held
  })
  const result = await work()
  release()
  await open
  return result
}

// Webhooks.
const node = await startChain()
const bench = await openBenchDatabase()
{
  const { db } = bench
  const key = `0x${'07'.repeat(32)}`
  const distributorId = 'Y2Zi7KWy'
  await fillCatalogue(db, { chainId, vault: node.vault, token: node.token, distributorId })
  await recordSigner(db, signerAddress(Buffer.from(key.slice(2), 'hex')), new Date(0))
  const arrived = new Map()
  const receiver = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    arrived.set(JSON.parse(text).data.txHash, performance.now())
    response.writeHead(204).end()
  })
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const place = `127.0.0.1:${receiver.address().port}`
  const sealing = openSealing('a key of the bench for webhooks only')
  const config = { ...parseConfig({}), webhooksAllowed: [place] }
  const ctx = { db, clock: systemClock, log: silentLog, config, sealing, chains: new Map([[chainId, node.chain()]]) }
  const feed = await openFeed(ctx)
  const deliveries = startDeliveries({ ...ctx, feed }, { tell, sealing, allowed: config.webhooksAllowed })
  const watching = startWatching(ctx, { reactions: [tellEntries(tell, systemClock)] })
  const made = await createWebhook(ctx, { url: `http://${place}/hook` }, { organizationId })
  await inTransaction(db, made.write)
  await systemClock.sleep(3_000)
  let sent = 0
  const measure = async () => {
    const took = []
    for (let index = 0; index < deposits; index++) {
      const data = node.depositData(BigInt(1_000 + sent))
      const actionId = `0x${(sent++).toString(16).padStart(32, '0')}`
      const signed = { chainId, wallet: node.user.address, target: node.vault, data, privateKey: key }
      const suffix = buildSuffix({ code: distributorId, actionId, ...signed })
      const transaction = { account: node.user, to: node.vault, data: data + suffix.slice(2), gas: 1_000_000n }
      const hash = await node.client.sendTransaction(transaction)
      // Mined at once, at depth 1: the block is confirmed.
      const mined = performance.now()
      while (!arrived.has(hash)) await systemClock.sleep(1)
      took.push(arrived.get(hash) - mined)
      await systemClock.sleep(Math.random() * 900)
    }
    return took
  }
  judge('webhook after the confirmed block, polling at 1 s', await measure(), 2_000)
  judge('the same beside a transaction that stays open', await besideOpen(db, measure), 2_000)
  await watching.stop()
  await deliveries.stop()
  await feed.close()
  receiver.closeAllConnections()
  receiver.close()
  await bench.close()
  node.stop()
}

// Live streams.
const service = await startService(50)
{
  const db = openDatabase(await findEmbeddedPostgres(join(service.dataDir, 'postgres')), { max: 4 })
  const wallet = '0x00000000000000000000000000000000000000A1'
  const ending = new AbortController()
  const answer = await fetch(`${service.baseUrl}/v2/events/live?subject=wallet:${wallet}`, {
    headers: { 'X-API-Key': service.key },
    signal: ending.signal,
  })
  const arrived = new Map()
  const reading = (async () => {
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream()))
      for (const [, name] of chunk.matchAll(/"name":"([^"]+)"/g)) arrived.set(name, performance.now())
  })().catch(() => undefined)
  let told = 0
  const measure = async () => {
    const took = []
    for (let index = 0; index < lives; index++) {
      const name = `e${told++}`
      await inTransaction(db, (tx) => tell(tx, [fact(wallet, name)]))
      const committed = performance.now()
      while (!arrived.has(name)) await systemClock.sleep(1)
      took.push(arrived.get(name) - committed)
      await systemClock.sleep(Math.random() * 100)
    }
    return took
  }
  judge('live stream after the commit', await measure(), 250)
  judge('the same beside a transaction that stays open', await besideOpen(db, measure), 250)
  ending.abort()
  await reading
  await db.end({ timeout: 5 })
}
await service.stop()
