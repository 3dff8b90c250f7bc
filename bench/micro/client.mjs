// A call of the sdk's client against bare `fetch` and `JSON.parse`, in one run, taking turns: node bench/micro/client.mjs [rounds].
import { createServer } from 'node:http'
import { createEarnClient, listOpportunities } from '../../sdk/dist/index.js'

const rounds = Number(process.argv[2] ?? 15)
/** Parts of a page: about 114 kB, and 17 bytes. */
const bodies = {
  'page of 114 kB': JSON.stringify({ data: Array.from({ length: 50 }, (_, at) => ({ at, text: 'x'.repeat(2_250) })) }),
  'answer of 17 bytes': JSON.stringify({ isMember: true }),
}

const server = createServer((request, response) => {
  const body = bodies[request.headers['x-body']]
  const limits = { 'x-request-cost': '1', 'x-ratelimit-remaining': '9999', 'x-request-id': 'id' }
  response.writeHead(200, { 'content-type': 'application/json', ...limits }).end(body)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseUrl = `http://127.0.0.1:${server.address().port}`
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

for (const name of Object.keys(bodies)) {
  const calls = name.startsWith('page') ? 300 : 1_000
  const headers = { 'x-body': name, 'x-api-key': 'pk_live_x' }
  const earn = createEarnClient({ baseUrl, apiKey: 'pk_live_x', headers: { 'x-body': name } })
  const bare = async () => JSON.parse(await (await fetch(`${baseUrl}/v2/opportunities/?limit=50`, { headers })).text())
  const own = () => listOpportunities(earn, { limit: 50 })
  const measure = async (call) => {
    const start = process.hrtime.bigint()
    for (let n = 0; n < calls; n++) await call()
    return Number(process.hrtime.bigint() - start) / calls / 1_000
  }
  await measure(bare)
  await measure(own)
  const pairs = []
  for (let round = 0; round < rounds; round++) {
    // Each goes first as often as the other.
    const order = round % 2 ? [own, bare] : [bare, own]
    const first = await measure(order[0])
    const second = await measure(order[1])
    pairs.push(round % 2 ? { own: first, bare: second } : { own: second, bare: first })
  }
  const ratio = median(pairs.map(({ own, bare }) => own / bare))
  const [ours, theirs] = ['own', 'bare'].map((who) => median(pairs.map((pair) => pair[who])).toFixed(0))
  console.log(`${name}: client ${ours} µs, bare ${theirs} µs a call; ratio ${ratio.toFixed(2)} (bound 1.2)`)
}
server.close()
server.closeAllConnections()
