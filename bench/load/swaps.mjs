// What building swaps and zaps takes, on a devnet of its own: node bench/load/swaps.mjs [builds].
// A node in front of the devnet's, as far away as a node is, counts the round trips a build waits for and how long it waits;
// what is left of a build is the service's own time. Then the 21 V3 routes of a pair are quoted in one round trip, and one
// by one. Exits with 1 where a figure is over its bound.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findEmbeddedPostgres } from '@openearn/embedded-postgres'
import { privateKeyToAccount } from 'viem/accounts'
import { listRoutes } from '../../service/dist/features/swap/routes.js'
import { quoteRoute } from '../../service/dist/features/swap/uniswapCalls.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { createOutbound } from '../../service/dist/kernel/outbound.js'
import { openChain } from '../../service/dist/rpc/chains.js'
import { combineAll, multicallWriting } from '../../service/dist/rpc/multicall.js'

const builds = Number(process.argv[2] ?? 200)
const warm = 30
/** How long an answer takes at least: what is asked together is under way together. */
const awayMs = 15
const bounds = { ownMs: 20, trips: 3, ratio: 0.5 }
const main = fileURLToPath(new URL('../../service/dist/cli/main.js', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'openearn-swaps-'))
await chmod(folder, 0o755)

/** Starts a command of the service; answers once it says it is ready. */
async function start(words, env, ready) {
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', ANVIL_PORT: '0', OPENEARN_DATA_DIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const said = await new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk) => {
      said += chunk
      if (ready.test(said)) resolve(said)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    ended.then(() => reject(new Error(`it ended: ${said}`)))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  /** The processor time it has used: unlike time on the clock, it does not grow with what else the machine does. */
  const usedMs = async () => {
    const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  }
  return { said, stop, usedMs }
}

/** A node before another that tells apart, by what is under way, the waits of a request: `trips` and `waitedMs`. */
async function startMeter(target) {
  const seen = { trips: 0, open: 0, waitedMs: 0, since: 0, counts: false }
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    if (seen.counts && seen.open++ === 0) {
      seen.trips += 1
      seen.since = performance.now()
    }
    const body = Buffer.concat(chunks)
    const asked = fetch(target.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const [answer] = await Promise.all([asked, sleep(awayMs)])
    const text = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text, () => {
      if (seen.counts && --seen.open === 0) seen.waitedMs += performance.now() - seen.since
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { seen, url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() }
}

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

/** Builds one thing over and over: the time of a build, the part of it a call to the node was under way, and the trips. */
async function measure(name, build, { seen, usedMs }) {
  const own = []
  const trips = []
  const all = []
  let usedBefore = 0
  for (let run = -warm; run < builds; run++) {
    if (run === 0) usedBefore = await usedMs()
    Object.assign(seen, { trips: 0, open: 0, waitedMs: 0 })
    const from = performance.now()
    await build()
    const took = performance.now() - from
    if (run < 0) continue
    all.push(took)
    own.push(took - seen.waitedMs)
    trips.push(seen.trips)
  }
  const used = ((await usedMs()) - usedBefore) / builds
  const at = (values, share) => percentile(values, share).toFixed(1)
  console.log(
    `${name}: own time p50 ${at(own, 0.5)} ms, of the processor ${used.toFixed(1)} ms; with the node p50 ${at(all, 0.5)} ms, p95 ${at(all, 0.95)} ms`,
  )
  hold(`${name}: own time p95, ms`, percentile(own, 0.95), bounds.ownMs)
  hold(`${name}: round trips at most`, Math.max(...trips), bounds.trips)
}

/** Prints a figure with its bound. */
function hold(what, figure, bound) {
  const isOver = figure > bound
  if (isOver) process.exitCode = 1
  console.log(`${what}: ${Number(figure.toFixed(2))}, bound ${bound}${isOver ? ' EXCEEDED' : ''}`)
}

/** The 21 routes of a pair with three fee tiers and two hubs, as the service asks for them: in one call, and one by one. */
async function compareRoutes(rpcUrl, v3, { from, to, hubs }) {
  const chain = openChain(createOutbound(systemClock), {
    ...{ chainId: 31337, name: 'Devnet', nativeSymbol: 'ETH', rpcUrls: [rpcUrl], confirmations: 1, finalityDepth: 64 },
    ...{ pollIntervalMs: 250, reorgRecheckSeconds: 2, entryPoints: [] },
  })
  const routes = listRoutes({ from, to, hubs, v2: false, fees: [500, 3_000, 10_000] })
  const reads = routes.map((route) => quoteRoute({ uniswapV3: v3 }, route, 10n ** 6n))
  const ways = {
    together: () => multicallWriting(chain, combineAll(reads)),
    oneByOne: async () => {
      for (const read of reads) await multicallWriting(chain, read)
    },
  }
  const took = { together: [], oneByOne: [] }
  for (let run = -5; run < 50; run++)
    for (const [name, ask] of Object.entries(ways)) {
      const from = performance.now()
      await ask()
      if (run >= 0) took[name].push(performance.now() - from)
    }
  const [a, b] = [percentile(took.together, 0.5), percentile(took.oneByOne, 0.5)]
  console.log(`${routes.length} routes: in one round trip p50 ${a.toFixed(1)} ms, one by one p50 ${b.toFixed(1)} ms`)
  hold(`${routes.length} routes: in one round trip against one by one`, a / b, bounds.ratio)
}

const target = { url: '' }
const meter = await startMeter(target)
const devnet = await start(['dev'], {}, /^ready/m)
try {
  const dev = JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8'))
  target.url = dev.rpcUrl
  // The devnet's service asks its node itself: a second one, on the same database, asks through the meter.
  const { host, port, database, username, password } = await findEmbeddedPostgres(join(folder, 'postgres'))
  const url = `postgres://${username}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  const asked = { DATABASE_URL: url, RPC_URL_31337: meter.url, ATTRIBUTION_KEY: dev.accounts[11].privateKey }
  const served = await start(['serve'], asked, /ready http\S+/)
  try {
    const baseUrl = /ready (http\S+)/.exec(served.said)[1]
    const call = async (method, path, body) => {
      const headers = { 'X-API-Key': dev.keys.secret, 'Content-Type': 'application/json' }
      const answer = await fetch(baseUrl + path, { method, headers, body: body && JSON.stringify(body) })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      return JSON.parse(text)
    }
    const account = privateKeyToAccount(dev.accounts[1].privateKey)
    const { address } = account
    const named = { address, walletEcosystem: 'evm', url: 'https://app.example.com', chainId: String(dev.chainId) }
    const { message, nonce } = await call('POST', '/v2/membership/agreement', named)
    const signature = await account.signMessage({ message })
    await call('POST', '/v2/membership/', { address, walletEcosystem: 'evm', signature, nonce })
    const { USDC, DAI, WBTC, WETH } = dev.contracts
    const distributorId = dev.distributorIds[0]
    const query = new URLSearchParams({
      ...{ user: address, chainId: String(dev.chainId), distributorId, tokenIn: USDC, tokenOut: DAI },
      ...{ amountIn: '1000000', slippageBps: '50' },
    })
    const vault = dev.opportunities.find(({ kind, asset }) => kind === 'erc4626' && asset.symbol === 'USDC')
    const zap = { userAddress: address, tokenIn: DAI, amount: String(10n ** 18n), mode: 'swap', distributorId }
    const counted = { seen: meter.seen, usedMs: served.usedMs }
    meter.seen.counts = true
    await measure('swap', () => call('GET', `/v2/swap/?${query}`), counted)
    await measure('zap', () => call('POST', `/v2/actions/deposit/${vault.id}`, zap), counted)
    meter.seen.counts = false
    const v3 = { quoter: dev.contracts['uniswap-v3-quoter'], router: dev.contracts['uniswap-v3-router'], factory: USDC }
    await compareRoutes(dev.rpcUrl, v3, { from: USDC, to: DAI, hubs: [WETH, WBTC] })
  } finally {
    await served.stop()
  }
} finally {
  await devnet.stop()
  meter.stop()
  await rm(folder, { recursive: true, force: true })
}
