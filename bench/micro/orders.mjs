// What a look at open orders takes in one block: node bench/micro/orders.mjs [orders] [looks], or --small. After npm run build.
// The orders wait for a better price on 12 pairs of a chain with 24 routes each (Uniswap V2 and V3, two hubs). A node in
// front of the chain's, in a thread of its own, counts the calls of a look and how long one is under way; what is left of a
// look is the service's own time, that of its database in it. The quotes of the same orders alone are timed in turn with the
// looks. In the end some orders can be filled: each has to be queued in the next look. Exits with 1 where a bound is not held.
import { createServer } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { account, chainId } from './chain.mjs'

/** Passes calls on to the chain's node, and tells the spans in which at least one was under way. */
function runMeter(target) {
  const since = (at) => performance.timeOrigin + at
  let seen = { calls: 0, spans: [], bytes: 0 }
  let open = 0
  let from = 0
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    seen.calls += 1
    seen.bytes += body.length
    if (open++ === 0) from = since(performance.now())
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = Buffer.from(await answer.arrayBuffer())
    seen.bytes += text.length
    if (--open === 0) seen.spans.push([from, since(performance.now())])
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  parentPort.on('message', () => {
    parentPort.postMessage(seen)
    seen = { calls: 0, spans: [], bytes: 0 }
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
}

if (!isMainThread) runMeter(workerData)
else await main()

async function main() {
  const { signDigest } = await import('../../packages/attribution/dist/index.js')
  const { createOrderLook } = await import('../../service/dist/features/solver/index.js')
  const { listHubs, readExchanges, readLargest } = await import('../../service/dist/features/swap/index.js')
  const { findToken, openCatalogue } = await import('../../service/dist/features/catalogue/index.js')
  const { systemClock } = await import('../../service/dist/kernel/clock.js')
  const { parseConfig } = await import('../../service/dist/kernel/config.js')
  const { silentLog } = await import('../../service/dist/kernel/log.js')
  const { createOutbound } = await import('../../service/dist/kernel/outbound.js')
  const { openChain } = await import('../../service/dist/rpc/chains.js')
  const { multicallMany } = await import('../../service/dist/rpc/manyReads.js')
  const { multicall } = await import('../../service/dist/rpc/multicall.js')
  const { createKeySigner } = await import('../../service/dist/rpc/signer.js')
  const { openBenchDatabase } = await import('./database.mjs')
  const { openOrderChain, unit } = await import('./orderChain.mjs')

  const isSmall = process.argv.includes('--small')
  const [orders = isSmall ? 200 : 1_000, looks = isSmall ? 3 : 9] = process.argv.slice(2).filter(Number).map(Number)
  const warm = isSmall ? 1 : 3
  const bounds = { ordersPerCall: 25, ownMs: 250, ratio: 2 }
  /** Quotes of an order are one call's for so many orders: with 24 routes each this many have enough gas. */
  const quotedPerCall = 10

  const bench = await openBenchDatabase()
  const { db } = bench
  const world = await openOrderChain(db, { count: 4 })
  const meter = new Worker(new URL(import.meta.url), { workerData: world.node.url })
  const port = await new Promise((resolve) => meter.once('message', resolve))
  const readMeter = () =>
    new Promise((resolve) => {
      meter.once('message', resolve)
      meter.postMessage('')
    })
  const { rpc: _rpc, ...settings } = world.node.chain()
  const chain = openChain(createOutbound(systemClock), { ...settings, rpcUrls: [`http://127.0.0.1:${port}`] })
  const base = { db, clock: systemClock, log: silentLog, config: parseConfig({}) }
  const catalogue = await openCatalogue(base)
  const signer = createKeySigner('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', signDigest)
  const ctx = { ...base, catalogue, chains: new Map([[chainId, chain]]), attributionSigner: signer }

  const pairs = world.tokens.flatMap((sold) =>
    world.tokens.filter((bought) => bought !== sold).map((bought) => [sold.toLowerCase(), bought.toLowerCase()]),
  )
  const { timestamp } = await world.client.getBlock()
  const expiresAt = new Date((Number(timestamp) + 86_400) * 1_000)
  const user = account(1)
  await world.fund(user, 1_000_000n * unit)
  // Each order has an owner of its own.
  const owners = Array.from(
    { length: orders },
    (_, index) => `0x${'e'.repeat(32)}${(index + 1).toString(16).padStart(8, '0')}`,
  )
  await world.fundEach(
    owners.map((owner, index) => ({ owner, token: pairs[index % pairs.length][0] })),
    100n * unit,
  )
  let made = 0
  /** Keeps the next order; `percent` of what it sells is the least it buys. */
  const keepOrder = async ({ percent, partiallyFillable = false, owner = owners[made % owners.length] }) => {
    const [tokenIn, tokenOut] = pairs[made % pairs.length]
    made += 1
    const amountIn = unit + BigInt(made) * 10n ** 15n
    const terms = { tokenIn, tokenOut, amountIn, minAmountOut: (amountIn * BigInt(percent)) / 100n, partiallyFillable }
    return world.keepOrder(db, { ...terms, expiresAt, owner })
  }

  const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0
  const figure = (value) => Number(value.toFixed(1))
  const hold = (what, value, bound) => {
    if (value > bound) process.exitCode = 1
    console.log(`${what}: ${figure(value)}, bound ${bound}${value > bound ? ' EXCEEDED' : ''}`)
  }
  /** Does one thing at a new block: its calls, its time on the clock, of that the time without a call, and its processor time. */
  const time = async (work) => {
    await world.client.mine({ blocks: 1 })
    await readMeter()
    const [from, used] = [performance.now(), process.cpuUsage()]
    await work()
    const wall = performance.now() - from
    const { user, system } = process.cpuUsage(used)
    const { calls, spans, bytes } = await readMeter()
    const away = spans.reduce((sum, [start, end]) => sum + (end - start), 0)
    return { calls, wall, own: wall - away, used: (user + system) / 1_000, bytes }
  }
  const kept = []
  const look = createOrderLook({ solver: signer, costMax: 10n ** 19n })
  const quoteAlone = async () => {
    const snapshot = catalogue.current()
    const record = snapshot.chains.get(chainId)
    const hubs = listHubs(snapshot, record)
    const asks = kept.map(({ tokenIn, tokenOut, amountIn }) =>
      readLargest({
        ...{ settings: record, tokenIn: findToken(snapshot, chainId, tokenIn), amountIn, hubs },
        tokenOut: findToken(snapshot, chainId, tokenOut),
      }),
    )
    const { hash } = await world.client.getBlock()
    const { answer: deployed } = await multicall(chain, readExchanges(record))
    const { answers } = await multicallMany(chain, asks, { blockHash: hash }, quotedPerCall, true)
    const missing = answers.filter((each) => !each?.answer(deployed)).length
    if (missing > 0) throw new Error(`${missing} quotes are missing`)
  }

  const measure = async (name) => {
    const ways = { look: () => look(ctx), quotes: quoteAlone }
    const took = { look: [], quotes: [] }
    for (let turn = -warm; turn < looks; turn++)
      for (const [way, work] of Object.entries(ways)) {
        const one = await time(work)
        if (turn >= 0) took[way].push(one)
      }
    for (const [way, all] of Object.entries(took)) {
      const of = (member, share = 0.5) =>
        figure(
          percentile(
            all.map((one) => one[member]),
            share,
          ),
        )
      console.log(
        `${name}, ${way}: own time p50 ${of('own')} ms, worst ${of('own', 0.999)}; of the processor ${of('used')} ms; with the node ${of('wall')} ms; ${of('calls', 0.999)} calls, ${figure(of('bytes') / 1e6)} MB`,
      )
    }
    const middle = (way, member) =>
      percentile(
        took[way].map((one) => one[member]),
        0.5,
      )
    const calls = Math.max(...took.look.map((one) => one.calls))
    hold(`${name}: calls a look, of ${orders} orders`, calls, Math.max(orders / bounds.ordersPerCall, 12))
    hold(`${name}: own time, ms`, middle('look', 'own'), bounds.ownMs)
    hold(
      `${name}: own time against that of the quotes alone`,
      middle('look', 'own') / middle('quotes', 'own'),
      bounds.ratio,
    )
    hold(
      `${name}: time with the node against that of the quotes alone`,
      middle('look', 'wall') / middle('quotes', 'wall'),
      bounds.ratio,
    )
  }

  try {
    for (let index = 0; index < orders; index++) kept.push(await keepOrder({ percent: 100 + (index % 5) }))
    await measure('filled as a whole')
    await db`update swap_orders set partially_fillable = true`
    await measure('filled in parts')
    const before = await db`select count(*)::int as count from order_settlements`
    if (before[0].count > 0) throw new Error('orders above the price were settled')
    // Of pairs that share no pool.
    const fillable = []
    for (const at of [0, 11]) {
      made = at
      fillable.push(await keepOrder({ percent: 90, partiallyFillable: at === 11, owner: user }))
    }
    // Of fewer orders less is quoted at a block: the screens of all pairs take two.
    let found = 0
    let tries = 0
    while (found < fillable.length && tries++ < 2) {
      const last = await time(() => look(ctx))
      const queued = await db`select order_id as "orderId" from order_settlements`
      found = fillable.filter(({ id }) => queued.some(({ orderId }) => orderId === id)).length
      console.log(
        `look ${tries}: of ${fillable.length} orders that can be filled ${found} are queued, ${last.calls} calls, own time ${figure(last.own)} ms`,
      )
    }
    if (found < fillable.length) process.exitCode = 1
  } finally {
    await catalogue.close()
    await meter.terminate()
    await bench.close()
    world.node.stop()
  }
}
