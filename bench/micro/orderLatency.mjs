// From a mined block to the answer of GetSwapOrderStatus that shows it: node bench/micro/orderLatency.mjs [fills]
// [polling|websocket]. After npm run build. An order is filled in parts, a block each; the service is asked, as a client
// would over HTTP, until the answer has the part. Exits with 1 where a bound is not held.
import { createKey } from '../../service/dist/features/auth/index.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { parseConfig } from '../../service/dist/kernel/config.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { openService } from '../../service/dist/server/service.js'
import { createShutdown } from '../../service/dist/server/shutdown.js'
import { startWatching } from '../../service/dist/server/watch.js'
import { account, chainId } from './chain.mjs'
import { openBenchDatabase, organizationId } from './database.mjs'
import { openOrderChain, unit } from './orderChain.mjs'

const fills = Number(process.argv[2] ?? 200)
const modes = [
  { name: 'polling at 1 s', bound: 1_500, pauseMs: 900 },
  { name: 'WebSocket', bound: 50, pauseMs: 20 },
].filter(({ name }) => name.toLowerCase().startsWith(process.argv[3] ?? ''))
const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]

const bench = await openBenchDatabase()
const { db } = bench
// The service goes by the wall clock, and the chain is as late as a chain is.
const world = await openOrderChain(db, { count: 2, timestamp: Math.floor(Date.now() / 1_000) - 600 })
const user = account(1)
await world.fund(user, 1_000_000n * unit)
const [tokenIn, tokenOut] = world.tokens.map((token) => token.toLowerCase())
world.mint(tokenOut, world.settlement.address, 1_000_000n * unit)
await world.settled()
const expiresAt = new Date((Math.floor(Date.now() / 1_000) + 80_000) * 1_000)

const shutdown = createShutdown(silentLog)
const { rpc: _rpc, traceRpcs: _traceRpcs, headUrls: _headUrls, ...settings } = world.node.chain()
const base = { db, clock: systemClock, log: silentLog, config: parseConfig({}) }
const service = await openService(base, { chains: [settings], shutdown })
const key = (await createKey(base, { organizationId, kind: 'publishable', hourlyUnits: 100_000_000 })).text
const address = await service.publicApp.listen({ port: 0, host: '127.0.0.1' })
const show = async (id) => {
  const answer = await fetch(`${address}/v2/swap/orders/${id}`, { headers: { 'X-API-Key': key } })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  return answer.json()
}

try {
  for (const { name, bound, pauseMs } of modes) {
    const amountIn = BigInt(fills + bound) * unit
    const terms = { tokenIn, tokenOut, amountIn, minAmountOut: amountIn / 2n, partiallyFillable: true }
    const order = await world.keepOrder(db, { ...terms, owner: user, expiresAt })
    const headUrls = name === 'WebSocket' ? [world.node.url.replace('http', 'ws')] : []
    const chains = new Map([[chainId, { ...world.node.chain(), headUrls }]])
    const watching = startWatching({ ...base, chains })
    await systemClock.sleep(3_000)
    const took = []
    for (let fill = 1; fill <= fills; fill++) {
      await world.settlePart(order, unit)
      // Mined at once, so this is the moment of the block.
      const mined = performance.now()
      while ((await show(order.id)).filledIn !== String(BigInt(fill) * unit)) await systemClock.sleep(5)
      took.push(performance.now() - mined)
      await systemClock.sleep(Math.random() * pauseMs)
    }
    await watching.stop()
    const [p50, p95] = [percentile(took, 0.5), percentile(took, 0.95)]
    if (p95 > bound) process.exitCode = 1
    console.log(
      `${name}: ${fills} fills, p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${bound}${p95 > bound ? ' EXCEEDED' : ''}, worst ${Math.max(...took).toFixed(0)} ms`,
    )
  }
} finally {
  await service.publicApp.close()
  await service.opsApp.close()
  await shutdown.stop()
  await bench.close()
  world.node.stop()
}
