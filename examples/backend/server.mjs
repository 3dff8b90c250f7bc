// A backend between an app and an earn service. It holds the secret key, gives each user a budget of his own, and asks for the
// catalogue once for all of them. In the app: createEarnClient({ baseUrl: 'https://app.example/earn' }), without a key.
//
//   EARN_URL=http://127.0.0.1:4020 EARN_KEY=sk_live_… PORT=8080 node server.mjs
import { createServer } from 'node:http'

const { EARN_URL, EARN_KEY, PORT = '8080', UNITS_PER_MINUTE = '60' } = process.env
if (!EARN_URL || !EARN_KEY) {
  console.error('set EARN_URL and EARN_KEY')
  process.exit(2)
}

/** What the app may ask for; everything else is 404. */
const open = [
  { method: 'GET', path: /^\/v2\/(opportunities|chains|tokens|protocols)\//, shared: true },
  { method: 'GET', path: /^\/v2\/(verification|indexing-status\/?)$/, shared: true },
  { method: 'GET', path: /^\/v2\/(actions|wallet|wallets|membership|attribution|swap)\// },
  { method: 'POST', path: /^\/v2\/(membership|actions)\// },
]
const passedOn = ['content-type', 'idempotency-key']
const passedBack = ['content-type', 'retry-after', 'x-request-cost', 'x-request-id', 'idempotency-replayed']

/** Units that a user has left this minute. Take him from your session: a header, as here, says whatever its sender wants. */
const budgets = new Map()
function charge(user, units) {
  const minute = Math.floor(Date.now() / 60_000)
  const known = budgets.get(user)
  const budget = known?.minute === minute ? known : { minute, left: Number(UNITS_PER_MINUTE) }
  budgets.set(user, budget)
  budget.left -= units
  if (budgets.size > 100_000) for (const [each, { minute: at }] of budgets) if (at < minute) budgets.delete(each)
  return budget.left >= 0
}

/** Answers of the catalogue, kept for ten seconds and asked for again by their `ETag`: once, however many want them. */
const kept = new Map()
const keepMs = 10_000
async function readShared(path) {
  const known = kept.get(path)
  if (known && Date.now() - known.at < keepMs) return known.answer
  const etag = known && (await known.answer).etag
  const answer = ask('GET', path, etag ? { 'if-none-match': etag } : {}).then(async (found) =>
    found.status === 304 ? known.answer : found,
  )
  kept.set(path, { at: Date.now(), answer })
  answer.catch(() => kept.delete(path))
  if (kept.size > 1_000) kept.delete(kept.keys().next().value)
  return answer
}

async function ask(method, path, headers, body) {
  const response = await fetch(EARN_URL + path, {
    ...{ method, redirect: 'manual', signal: AbortSignal.timeout(30_000) },
    headers: { ...headers, 'x-api-key': EARN_KEY },
    ...(body === undefined ? {} : { body }),
  })
  const told = passedBack.flatMap((name) => (response.headers.has(name) ? [[name, response.headers.get(name)]] : []))
  return {
    ...{ status: response.status, headers: Object.fromEntries(told), etag: response.headers.get('etag') },
    body: Buffer.from(await response.arrayBuffer()),
  }
}

async function readBody(request) {
  const parts = []
  let length = 0
  for await (const part of request) {
    length += part.length
    if (length > 65_536) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const refuse = (response, code, status, error, headers = {}) => {
  response.writeHead(code, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ code, status, error, context: {} }))
}

const server = createServer(async (request, response) => {
  try {
    const path = (request.url ?? '').replace(/^\/earn/, '')
    const pathname = path.split('?')[0] ?? ''
    const rule = open.find((each) => each.method === request.method && each.path.test(pathname))
    if (!rule || pathname.includes('..') || pathname.includes('%'))
      return refuse(response, 404, 'NOT_FOUND', 'the app may not ask for this')
    const user = String(request.headers['x-user'] ?? request.socket.remoteAddress)
    // A plan and a portfolio cost the service ten units, the rest one or two.
    const units = request.method === 'POST' || pathname.endsWith('/portfolio') ? 10 : 1
    if (!charge(user, units))
      return refuse(response, 429, 'RESOURCE_EXHAUSTED', 'you asked too often: wait a minute', { 'retry-after': '60' })
    const body = request.method === 'POST' ? await readBody(request) : undefined
    if (request.method === 'POST' && body === undefined)
      return refuse(response, 413, 'PAYLOAD_TOO_LARGE', 'the body is longer than 64 KiB')
    const headers = Object.fromEntries(
      passedOn.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
    )
    const answer = rule.shared ? await readShared(path) : await ask(request.method, path, headers, body)
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    if (!response.headersSent)
      refuse(response, 503, 'UNAVAILABLE', 'the earn service cannot be reached', { 'retry-after': '5' })
  }
})

server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening at http://127.0.0.1:${server.address().port}`))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => process.exit()))
