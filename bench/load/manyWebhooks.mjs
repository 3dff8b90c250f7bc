// Many webhooks of which some hang: node bench/load/manyWebhooks.mjs [webhooks] [hanging] [events].
// First all answer, then `hanging` of them take the request and never answer. Delay from the commit to the arrival at those that
// answer in both. Exit code 1 where their p95 is above twice that of the quiet run.
import { createServer } from 'node:http'
import { openFeed, startDeliveries, tell } from '../../service/dist/features/events/index.js'
import { sealSecret } from '../../service/dist/features/events/webhooks/secrets.js'
import { newSecret } from '../../service/dist/features/events/webhooks/signature.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { newId } from '../../service/dist/kernel/ids.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { inTransaction } from '../../service/dist/postgres/pool.js'
import { openSealing } from '../../service/dist/server/sealing.js'
import { openBenchDatabase } from '../micro/database.mjs'

const webhooks = Number(process.argv[2] ?? 1_000)
const hanging = Number(process.argv[3] ?? 100)
const events = Number(process.argv[4] ?? 10)
const ofOrganization = 20
const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]

const bench = await openBenchDatabase()
const { db } = bench
let isHanging = false
let hung = 0
let onArrival = () => undefined
const receiver = createServer(async (request, response) => {
  let text = ''
  for await (const part of request) text += part
  const index = Number(request.url.slice(1))
  if (isHanging && index < hanging) {
    hung += 1
    return
  }
  response.writeHead(204).end()
  onArrival(index, JSON.parse(text).data.name)
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const place = `127.0.0.1:${receiver.address().port}`
const sealing = openSealing('a key of the bench for webhooks only')
let organizationId
for (let index = 0; index < webhooks; index++) {
  if (index % ofOrganization === 0) {
    organizationId = newId()
    await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  }
  const id = newId()
  const secret = sealSecret(sealing, id, newSecret())
  await db`insert into webhooks (id, organization_id, url, types, late, created_at, position, secret)
    values (${id}, ${organizationId}, ${`http://${place}/${index}`}, '{}', false, now(), 0, ${secret})`
}
const ctx = { db, clock: systemClock, log: silentLog, config: {} }
const feed = await openFeed(ctx)
const deliveries = startDeliveries({ ...ctx, feed }, { tell, sealing, allowed: [place] })

let told = 0
async function measure(what) {
  const took = []
  for (let round = 0; round < events; round++) {
    const name = `e${told++}`
    let committed = 0
    let left = webhooks - (isHanging ? hanging : 0)
    const all = new Promise((resolve) => {
      onArrival = (index, which) => {
        // One that hung before gets its events once it answers again.
        if (which !== name || (isHanging && index < hanging)) return
        took.push(performance.now() - committed)
        left -= 1
        if (left === 0) resolve()
      }
    })
    const subject = { kind: 'wallet', id: `0x${String(told).padStart(40, '0')}` }
    await inTransaction(db, (tx) =>
      tell(tx, [{ type: 'interaction.confirmed', at: new Date(), chainId: 1, subject, data: { name } }]),
    )
    committed = performance.now()
    await all
    await systemClock.sleep(500)
  }
  const [p50, p95] = [percentile(took, 0.5), percentile(took, 0.95)]
  console.log(`${what}: ${took.length} deliveries, p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`)
  return p95
}

const quiet = await measure(`${webhooks} webhooks that answer`)
isHanging = true
const disturbed = await measure(`${webhooks - hanging} of them, while ${hanging} hang`)
console.log(`${hung} requests hung; p95 is ${(disturbed / quiet).toFixed(2)} times that of the quiet run (≤ 2)`)
if (disturbed > 2 * quiet) process.exitCode = 1
receiver.closeAllConnections()
receiver.close()
await deliveries.stop()
await feed.close()
await bench.close()
